// SPDX-License-Identifier: Apache-2.0
#include "compiler/formula/thread_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "compiler/formula/pattern.h"
#include "lang/base/budget.h"

// Every address must be known to be inside its memory before a kernel starts, and a launch may have more accesses than can be
// listed. Interval arithmetic with a congruence (Granger 1989) is exact for what offsets are made of: sums of products of
// thread numbers and constants.
namespace gexp::compiler {
namespace {

constexpr double kLargest = 9007199254740992.0;  // 2^53
constexpr double kMostShift = 53;
constexpr double kFloor = 9223372036854775808.0;  // 2^63: a thread's whole number below a fraction is within it

std::uint64_t magnitude(double value) { return static_cast<std::uint64_t>(std::min(std::fabs(value), kLargest)); }

Range constant(double value) { return {value, value, 0}; }

Range sum(const Range& a, const Range& b) { return {a.low + b.low, a.high + b.high, std::gcd(a.grid, b.grid)}; }
Range negated(const Range& a) { return {-a.high, -a.low, a.grid}; }

/// A product of steps; 1, which claims nothing, where it would overflow.
std::uint64_t steps(std::uint64_t a, std::uint64_t b) { return a != 0 && b > (std::uint64_t{1} << 62) / a ? 1 : a * b; }

Range product(const Range& a, const Range& b) {
  const auto corners = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  // (l + g i)(m + h j) = l m + l h j + m g i + g h i j
  const auto grid = std::gcd(std::gcd(steps(magnitude(a.low), b.grid), steps(magnitude(b.low), a.grid)), steps(a.grid, b.grid));
  Range made{std::min(corners), std::max(corners), grid};
  if (made.high > kLargest || made.low < -kLargest) made.grid = 1;
  return made;
}

Range quotient(const Range& a, double by) {
  const double low = std::floor((by > 0 ? a.low : a.high) / by), high = std::floor((by > 0 ? a.high : a.low) / by);
  if (low == high) return constant(low);
  const auto divisor = magnitude(by);
  const bool exact = a.grid % divisor == 0 && std::fmod(a.low, by) == 0;
  return {low, high, exact ? a.grid / divisor : 1};
}

Range remainder(const Range& a, double by) {
  const double turns = std::floor(a.low / by);
  if (turns == std::floor(a.high / by)) return {a.low - by * turns, a.high - by * turns, a.grid};
  const auto grid = std::gcd(a.grid, magnitude(by));
  const double least = std::fmod(std::fmod(a.low, static_cast<double>(grid)) + static_cast<double>(grid), static_cast<double>(grid));
  return {least, by - static_cast<double>(grid) + least, grid};
}

Range either(const Range& a, const Range& b) {
  const auto apart = magnitude(a.low - b.low);
  return {std::min(a.low, b.low), std::max(a.high, b.high), std::gcd(std::gcd(a.grid, b.grid), apart)};
}

/// The largest power of two that divides a whole number; of 0 one that is larger than all others.
double lowest_bit(double value) {
  const auto bits = magnitude(value);
  return bits == 0 ? kLargest : static_cast<double>(bits & (~bits + 1));
}
/// What divides every value of a range and is a power of two.
double alignment(const Range& a) { return std::min(lowest_bit(a.low), a.grid == 0 ? kLargest : lowest_bit(static_cast<double>(a.grid))); }
/// The least power of two above a whole number that is not negative.
double power_above(double value) { return std::exp2(value < 1 ? 0 : std::floor(std::log2(value)) + 1); }

Range aligned(double low, double high, double grid) {
  if (low == high) return constant(low);
  return {std::floor(low / grid) * grid, high, static_cast<std::uint64_t>(std::min(grid, kLargest))};
}

Range bits(Formula::Kind kind, const Range& a, const Range& b) {
  if (kind == Formula::Kind::And) {
    for (const auto& [all, mask] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      if (mask->low == mask->high && mask->low >= 0 && power_above(mask->low) == mask->low + 1) return remainder(*all, mask->low + 1);
    }
    const double grid = std::max(alignment(a), alignment(b));
    if (a.low >= 0 || b.low >= 0) return aligned(0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high), grid);
    return aligned(-power_above(std::max(-a.low, -b.low)), std::max({a.high, b.high, 0.0}), grid);
  }
  const double grid = std::min(alignment(a), alignment(b));
  if (a.low < 0 || b.low < 0) {
    const double all = power_above(std::max({-a.low, -b.low, a.high, b.high}));
    return aligned(-all, all - 1, grid);
  }
  const double high = std::min(a.high + b.high, power_above(std::max(a.high, b.high)) - 1);
  return aligned(kind == Formula::Kind::Or ? std::max(a.low, b.low) : 0, high, grid);
}

Range shifted_left(const Range& a, const Range& by) {
  if (by.low == by.high) return product(a, constant(std::exp2(by.low)));
  const double least = std::exp2(by.low), most = std::exp2(by.high);
  const auto corners = {a.low * least, a.low * most, a.high * least, a.high * most};
  return aligned(std::min(corners), std::max(corners), std::min(kLargest, alignment(a) * least));
}

Range shifted_right(const Range& a, const Range& by) {
  if (by.low == by.high) return quotient(a, std::exp2(by.low));
  const double least = std::exp2(by.low), most = std::exp2(by.high);
  const auto corners = {std::floor(a.low / least), std::floor(a.low / most), std::floor(a.high / least), std::floor(a.high / most)};
  return aligned(std::min(corners), std::max(corners), 1);
}

class Ranging {
 public:
  Ranging(const Scope& scope, const ThreadLets& lets, const Ranges& ranges) : scope_(scope), lets_(lets), ranges_(ranges) {}

  Result<Range> of(const Formula& formula) {
    if (!Budget::spend(1)) return Budget::exceeded(formula.span);
    if (!varies(formula, lets_, ranges_)) return fixed(formula);
    switch (formula.kind) {
      case Formula::Kind::Name: {
        if (const auto* found = ranges_.find(formula.text)) {
          if (found->fraction == 0) return *found;
          return thread_error(formula, fmt::format("`{}` is of type f{}, and a whole number is wanted here", formula.text, 8 * found->fraction), kWholeOfFraction);
        }
        return of(*lets_.find(formula.text));
      }
      case Formula::Kind::Negate: {
        auto inner = of(*formula.operands[0]);
        return inner ? Result<Range>(negated(*inner)) : inner;
      }
      case Formula::Kind::Add:
      case Formula::Kind::Subtract:
      case Formula::Kind::Multiply:
      case Formula::Kind::Div:
      case Formula::Kind::Mod:
      case Formula::Kind::Shl:
      case Formula::Kind::Shr:
      case Formula::Kind::And:
      case Formula::Kind::Xor:
      case Formula::Kind::Or: {
        auto made = arithmetic(formula);
        // Beyond it doubles skip numbers here and a thread's integers wrap around: nothing that is said of them would hold.
        if (made && !(made->low >= -kLargest && made->high <= kLargest)) {
          return thread_error(formula, fmt::format("`{}` can be {:.3g}: a thread computes with numbers up to 2^53", show(formula), std::max(-made->low, made->high)));
        }
        return made;
      }
      case Formula::Kind::Call: return call(formula);
      default: break;
    }
    return thread_error(formula, fmt::format("a thread cannot compute `{}`", show(formula)), kThreadArithmetic);
  }

 private:
  Result<Range> fixed(const Formula& formula) {
    auto value = evaluate(formula, scope_);
    if (!value) return value.error();
    const auto* n = value->get<Number>();
    if (!n) return thread_error(formula, fmt::format("a whole number is wanted here, not {}", gexp::show(*value)));
    if (n->number != std::floor(n->number) || std::fabs(n->number) > kLargest) {
      return thread_error(formula, fmt::format("`{}` is {}: a thread computes with whole numbers", show(formula), gexp::show(*value)),
                   "use `div` for whole quotients, or floor(…)");
    }
    return constant(n->number);
  }

  Result<Range> arithmetic(const Formula& formula) {
    auto a = of(*formula.operands[0]);
    if (!a) return a;
    auto b = of(*formula.operands[1]);
    if (!b) return b;
    switch (formula.kind) {
      case Formula::Kind::Add: return sum(*a, *b);
      case Formula::Kind::Subtract: return sum(*a, negated(*b));
      case Formula::Kind::Multiply: return product(*a, *b);
      case Formula::Kind::And:
      case Formula::Kind::Xor:
      case Formula::Kind::Or: return bits(formula.kind, *a, *b);
      case Formula::Kind::Shl:
      case Formula::Kind::Shr:
        if (auto few = shift_of(*formula.operands[1], scope_, lets_, ranges_); !few) return few;
        return formula.kind == Formula::Kind::Shl ? shifted_left(*a, *b) : shifted_right(*a, *b);
      default: break;
    }
    if (b->low != b->high || b->low < 1) {
      return thread_error(*formula.operands[1], "a thread divides by one whole number above zero only",
                   "divide by a value that is the same for all threads");
    }
    return formula.kind == Formula::Kind::Div ? quotient(*a, b->low) : remainder(*a, b->low);
  }

  Result<Range> call(const Formula& formula) {
    if (formula.text == "merger") {
      const auto merged = merger_formula(formula, scope_);
      if (!merged) return merged.error();
      return of(**merged);
    }
    if (formula.text == "item") return item(formula);
    if (formula.text == "floor" && !formula.arguments.empty() && fraction_of(*formula.arguments[0].value, lets_, ranges_) > 0) return Range{-kFloor, kFloor, 1};
    if (formula.text != "min" && formula.text != "max") {
      return thread_error(formula, fmt::format("a thread cannot compute {}(…)", formula.text), kThreadArithmetic);
    }
    Range all;
    for (std::size_t i = 0; i < formula.arguments.size(); ++i) {
      auto one = of(*formula.arguments[i].value);
      if (!one) return one;
      if (i == 0) {
        all = *one;
        continue;
      }
      const auto grid = either(all, *one).grid;
      all = formula.text == "min" ? Range{std::min(all.low, one->low), std::min(all.high, one->high), grid}
                                  : Range{std::max(all.low, one->low), std::max(all.high, one->high), grid};
      if (all.grid == 0 && all.low != all.high) all.grid = 1;
    }
    return all;
  }

  /// Of all items of the pattern, whichever are read.
  Result<Range> item(const Formula& formula) {
    const auto& index = *formula.arguments[1].value;
    auto value = evaluate(*formula.arguments[0].value, scope_);
    auto pattern = value ? as_pattern(*value, formula.span) : Result<std::shared_ptr<const Pattern>>(value.error());
    if (!pattern) return pattern.error();
    const auto& offsets = (*pattern)->offsets;
    if (!Budget::spend(static_cast<std::int64_t>(offsets.size() / 16 + 1))) return Budget::exceeded(formula.span);
    auto at = of(index);
    if (!at) return at;
    const auto count = static_cast<double>(offsets.size());
    if (at->low < 0 || at->high >= count || (*pattern)->threads != 1) {
      Diagnostic diagnostic = failure("E0420", fmt::format("`{}` has {} items, and item {} is read", show(*formula.arguments[0].value), count, at->low < 0 ? at->low : at->high),
                                      fmt::format("items are counted from 0; begin again behind the last one with `mod {}`", std::max(count, 1.0)));
      diagnostic.span = index.span;
      return diagnostic;
    }
    Range all = constant(static_cast<double>(offsets[0]));
    for (const auto offset : offsets) {
      const auto each = static_cast<double>(offset);
      all.grid = std::gcd(all.grid, magnitude(each - static_cast<double>(offsets[0])));
      all.low = std::min(all.low, each), all.high = std::max(all.high, each);
    }
    return all;
  }

  const Scope& scope_;
  const ThreadLets& lets_;
  const Ranges& ranges_;
};

}  // namespace

Diagnostic thread_error(const Formula& formula, std::string message, std::string hint) {
  Diagnostic diagnostic = failure("E0428", std::move(message), std::move(hint));
  diagnostic.span = formula.span;
  return diagnostic;
}

bool is_thread_name(const std::string& name) {
  return name == "lane" || name == "tid" || name == "warp" || name == "gtid" || name == "cta";
}

Ranges thread_ranges(std::uint32_t grid, std::uint32_t block) {
  const auto upto = [](double last) { return Range{0, last, last > 0 ? 1u : 0u}; };
  const double threads = block, blocks = grid;
  return {{"tid", upto(threads - 1)},
          {"lane", upto(std::min(threads, 32.0) - 1)},
          {"warp", upto(std::ceil(threads / 32) - 1)},
          {"cta", upto(blocks - 1)},
          {"gtid", upto(threads * blocks - 1)}};
}

const Formula* ThreadLets::find(const std::string& name) const {
  for (const auto& [known, formula] : lets_) {
    if (known == name) return formula.get();
  }
  return nullptr;
}

ThreadNames::ThreadNames(const Scope& scope, const ThreadLets& lets, const std::vector<const Formula*>& formulas) : names_(&scope) {
  std::set<std::string> names;
  const auto read = [&](const Formula& formula) {
    for (auto& name : free_names(formula)) names.insert(std::move(name));
  };
  for (const auto* formula : formulas) read(*formula);
  for (auto let = lets.all().rbegin(); let != lets.all().rend(); ++let) {  // one reads only those before it
    if (names.contains(let->first)) read(*let->second);
  }
  tid_ = names.contains("tid"), lane_ = names.contains("lane"), warp_ = names.contains("warp"), cta_ = names.contains("cta"), gtid_ = names.contains("gtid");
  for (const auto& [name, formula] : lets.all()) {
    if (!names.contains(name)) continue;
    const bool merger = formula->kind == Formula::Kind::Call && formula->text == "merger";
    const auto merged = merger ? merger_formula(*formula, scope) : Result<FormulaPtr>(formula);  // once for all threads
    lets_.add(name, merged ? *merged : formula);
  }
}

Result<> ThreadNames::bind(std::uint32_t cta, std::uint32_t tid, std::uint32_t block) {
  constexpr std::int64_t kNames = 5;
  if (!Budget::spend(kNames)) return Budget::exceeded({});
  if (tid_) names_.set("tid", Value(static_cast<double>(tid)));
  if (lane_) names_.set("lane", Value(static_cast<double>(tid % 32)));
  if (warp_) names_.set("warp", Value(static_cast<double>(tid / 32)));
  if (cta_) names_.set("cta", Value(static_cast<double>(cta)));
  if (gtid_) names_.set("gtid", Value(static_cast<double>(cta) * block + tid));
  for (const auto& [name, formula] : lets_.all()) {
    auto value = evaluate(*formula, names_);
    if (!value) return value.error();
    names_.set(name, std::move(*value));
  }
  return Ok{};
}

bool varies(const Formula& formula, const ThreadLets& lets, const Ranges& ranges) {
  return varies(formula, [&](const std::string& name) { return ranges.contains(name) || lets.find(name); });
}

bool varies(const Formula& formula, const ThreadLets& lets) {
  static const Ranges kThreads = thread_ranges(1, 1);
  return varies(formula, lets, kThreads);
}

int fraction_of(const Formula& formula, const ThreadLets& lets, const Ranges& ranges) {
  if (formula.kind == Formula::Kind::Call && formula.text == "floor") return 0;
  if (formula.kind == Formula::Kind::Name) {
    if (const auto* found = ranges.find(formula.text)) return found->fraction;
    const auto* let = lets.find(formula.text);
    return let ? fraction_of(*let, lets, ranges) : 0;
  }
  int widest = 0;
  for (const auto& operand : formula.operands) widest = std::max(widest, operand ? fraction_of(*operand, lets, ranges) : 0);
  for (const auto& argument : formula.arguments) widest = std::max(widest, argument.value ? fraction_of(*argument.value, lets, ranges) : 0);
  return widest;
}

Result<FormulaPtr> merger_formula(const Formula& call, const Scope& scope) {
  FormulaPtr neighbours;
  std::string of;
  for (const auto& argument : call.arguments) {
    if (argument.label != "of") {
      neighbours = argument.value;
      continue;
    }
    const auto& word = *argument.value;
    if (word.kind == Formula::Kind::Name && !scope.lookup(word.text)) {
      of = word.text;
    } else {
      auto value = evaluate(word, scope);
      if (!value) return value.error();
      if (const auto* text = value->get<std::string>()) of = *text;
    }
  }
  if (!neighbours || (of != "threads" && of != "warps")) {
    return thread_error(call, "merger needs a number of neighbours and which", "write `merger(4, of: threads)` or `merger(4, of: warps)`");
  }
  const auto make = [&](Formula::Kind kind, std::vector<FormulaPtr> operands) -> FormulaPtr {
    auto made = std::make_shared<Formula>();
    made->kind = kind;
    made->span = call.span;
    made->operands = std::move(operands);
    return made;
  };
  const auto leaf = [&](const char* name, double number) -> FormulaPtr {
    auto made = std::make_shared<Formula>();
    made->kind = name ? Formula::Kind::Name : Formula::Kind::Constant;
    made->span = call.span;
    if (name) made->text = name;
    else made->constant = Value(number);
    return made;
  };
  if (of == "threads") return make(Formula::Kind::Div, {leaf("tid", 0), neighbours});
  return make(Formula::Kind::Add, {leaf("lane", 0), make(Formula::Kind::Multiply, {leaf(nullptr, 32), make(Formula::Kind::Div, {leaf("warp", 0), neighbours})})});
}

Result<Range> shift_of(const Formula& by, const Scope& scope, const ThreadLets& lets, const Ranges& ranges) {
  auto bits = range_of(by, scope, lets, ranges);
  if (!bits || (bits->low >= 0 && bits->high <= kMostShift)) return bits;
  return thread_error(by, fmt::format("a thread shifts by 0 to {} bits, not by {}", kMostShift, bits->low < 0 ? bits->low : bits->high), "bound it: `x shl min(k, 9)`");
}

Result<Range> range_of(const Formula& formula, const Scope& scope, const ThreadLets& lets, const Ranges& ranges) {
  return Ranging(scope, lets, ranges).of(formula);
}

}  // namespace gexp::compiler
