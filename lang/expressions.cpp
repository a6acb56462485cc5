// SPDX-License-Identifier: Apache-2.0
#include "lang/expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gexp::lang {
namespace {


Time later(Time a, Time b) { return std::max(a, b); }

/// An expression written as a plain number: `64`, `-1`.
const Quantity* literal(const Expr& expression) {
  if (const auto* unary = std::get_if<Unary>(&expression.node)) return literal(*unary->operand);
  return std::get_if<Quantity>(&expression.node);
}

/// Where what is written got its value: `STAGE.FINDING` by a find, a name by the last `let` before it; empty for any other expression.
Note given_value(const File& file, const Expr& expression, const std::string& written) {
  const auto* member = std::get_if<Member>(&expression.node);
  const auto* name = std::get_if<Name>(member ? &member->of->node : &expression.node);
  Note note;
  if (!name) return note;
  const auto look = [&](const auto& item, const Stage* stage) {
    const auto* find = std::get_if<Find>(&item.node);
    const auto* let = std::get_if<Let>(&item.node);
    if (member && find && stage && stage->name.text == name->text && find->name.text == member->field.text) note = {item.span, fmt::format("`{}` is found here", written)};
    if (!member && let && let->name.text == name->text && item.span.begin < expression.span.begin) note = {item.span, fmt::format("`{}` got its value here", written)};
  };
  const auto& statements = file.statements;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    look(statements[i], nullptr);
    const auto* stage = std::get_if<Stage>(&statements[i].node);
    const bool before = i + 1 < statements.size() && statements[i + 1].span.begin <= expression.span.begin;
    if (!stage || (!member && before)) continue;
    for (const auto& item : stage->items) look(item, stage);
  }
  return note;
}

const char* verb(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add: return "added";
    case BinaryOp::Subtract: return "subtracted";
    case BinaryOp::Mod: return "divided with a rest";
    case BinaryOp::And:
    case BinaryOp::Xor:
    case BinaryOp::Or: return "combined bit by bit";
    case BinaryOp::Else: return "alternatives";
    default: return "compared";
  }
}

const char* unit_of(Dimension dimension) {
  if (dimension == kBytes) return "B";
  if (dimension == kCycles) return "cycles";
  if (dimension == kSeconds) return "s";
  if (dimension == kOps) return "ops";
  return "";
}

/// A unit as it is said: `2s` means 2 seconds.
std::string_view spoken(std::string_view unit) {
  if (unit == "s") return "seconds";
  if (unit == "ms") return "milliseconds";
  if (unit == "us") return "microseconds";
  if (unit == "ns") return "nanoseconds";
  if (unit == "B") return "bytes";
  if (unit == "elem") return "elements";
  return unit;
}

}  // namespace

std::string ExpressionChecker::text(Span span) const {
  constexpr std::size_t kLongest = 48;
  std::string line;
  for (const char c : source_.slice(span)) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) line += c;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
    if (line.size() > kLongest) {
      while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xc0) == 0x80) line.pop_back();
      return line + "…";
    }
  }
  return line;
}

void ExpressionChecker::show_origin(Diagnostic& problem, const Expr& expression) const {
  if (auto note = given_value(file_, expression, text(expression.span)); !note.span.empty()) problem.notes.push_back(std::move(note));
}

/// What to write where the value is of another kind than is wanted.
std::string ExpressionChecker::hint_for(const Expr& expression, const Type& type, const Type& wanted, std::string_view role) const {
  if (wanted.kind == Type::Kind::Pattern && type.kind == Type::Kind::List) return "a pattern is a list of offsets in bytes, such as [0B, 32B]";
  if (wanted.kind == Type::Kind::Pattern) return "write uniform(stride: 32B, span: 4KiB), a list of offsets or another pattern";
  if (wanted.kind == Type::Kind::Bool && type.number()) return fmt::format("compare it: `{} > 0`", text(expression.span));
  if (!wanted.number() || !type.number()) return "";
  if (role == "a tolerance") return "a tolerance is relative, such as 2%";
  const auto* number = literal(expression);
  if (wanted.plain() && number) return fmt::format("write {:g}, without a unit", number->number);
  if (wanted.plain() && *unit_of(type.dimension) != 0) return fmt::format("divide it by 1{}", unit_of(type.dimension));
  return "";
}

bool ExpressionChecker::expect_type(const Expr& expression, const Type& type, const Type& wanted, std::string_view role) {
  if (fits(type, wanted)) return true;
  if (type.kind == Type::Kind::Record) {
    error("E0216", expression.span, fmt::format("{} is {}, and `{}` is a whole record", role, describe(wanted), text(expression.span)),
          fmt::format("write `median({})`", text(expression.span)));
    return false;
  }
  if (type.plain() && wanted.number()) {
    const auto* number = literal(expression);
    const auto written = text(expression.span);
    std::string hint;
    if (written.ends_with('%')) {
      hint = fmt::format("write a number of {}", wanted.dimension == kBytes ? "bytes, such as 16KiB" : describe(wanted.dimension));
    } else if (number && wanted.dimension == kBytes) {
      hint = fmt::format("write {0}B or {0}KiB", written);
    } else if (const std::string unit = unit_of(wanted.dimension); !unit.empty()) {
      hint = number ? fmt::format("write {}{}", written, unit) : fmt::format("multiply it by 1{}", unit);
    }
    error("E0211", expression.span, fmt::format("{} is in {}, and `{}` is a plain number", role,
                                                wanted.dimension == kBytes ? "bytes" : describe(wanted.dimension), written), hint);
    return false;
  }
  const bool numbers = type.number() && wanted.number();
  auto& problem = error(numbers ? "E0210" : "E0215", expression.span,
                        fmt::format("{} is {}, and `{}` is {}", role, describe(wanted), text(expression.span), describe(type)),
                        hint_for(expression, type, wanted, role));
  show_origin(problem, expression);
  return false;
}

Typed ExpressionChecker::check(const ExprPtr& expression, const Place& place) {
  return expression ? check(*expression, place) : Typed{};
}

Typed ExpressionChecker::want(const ExprPtr& expression, const Type& wanted, const Place& place, std::string_view role) {
  if (!expression) return {};
  auto typed = check(*expression, place);
  if (!expect_type(*expression, typed.type, wanted, role)) typed.type = any_type();
  return typed;
}

Typed ExpressionChecker::check(const Expr& expression, const Place& place) {
  if (diagnostics_.full()) return {};
  const auto before = diagnostics_.errors();
  auto typed = std::visit([&](const auto& node) { return of(node, expression, place); }, expression.node);
  if (diagnostics_.errors() != before) typed.type = any_type();
  return typed;
}

Typed ExpressionChecker::of(const Text&, const Expr&, const Place&) { return {text_type()}; }

Typed ExpressionChecker::of(const Quantity& quantity, const Expr& expression, const Place& place) {
  if (quantity.unit.empty()) {
    auto type = number_of({});
    type.zero = quantity.number == 0;
    return {type};
  }
  const auto unit = find_unit(quantity.unit);
  const auto* symbol = place.names->find(quantity.unit);
  // Only what could be multiplied makes `2s` ambiguous.
  constexpr std::array kNoNumbers{Symbol::Kind::Stage, Symbol::Kind::Memory, Symbol::Kind::Pattern, Symbol::Kind::Module, Symbol::Kind::Analysis};
  if (symbol && std::find(kNoNumbers.begin(), kNoNumbers.end(), symbol->kind) == kNoNumbers.end()) {
    const auto written = text(expression.span);
    const auto number = written.substr(0, written.size() - std::min(written.size(), quantity.unit.size()));
    auto& problem = error("E0205", expression.span,
                          unit ? fmt::format("`{}` means {} {}, and `{}` is a name here", written, number,
                                             spoken(unit->text), quantity.unit)
                               : fmt::format("`{}` has a name where a unit stands", written),
                          fmt::format("write `{} * {}`", number, quantity.unit));
    if (!symbol->span.empty()) problem.notes.push_back({symbol->span, fmt::format("the name `{}`", quantity.unit)});
    return {};
  }
  if (!unit) {
    error("E0109", expression.span, fmt::format("`{}` is no unit", quantity.unit), did_you_mean(quantity.unit, unit_words()));
    return {};
  }
  if (quantity.unit == "elem" && element_ == 0) {
    error("E0212", expression.span,
          has_memory_ ? "`elem` has no size here: the memories have elements of different sizes" : "`elem` has no size here: the file has no memory",
          "write the size in bytes, such as 4B");
    return {};
  }
  return {number_of(unit->dimension)};
}

Typed ExpressionChecker::of(const ListOf& list, const Expr& expression, const Place& place) {
  if (list.tuple) {
    error("E0218", expression.span, "a tuple stands in the list of a `sweep` of several names only", "a list is written `[a, b]`");
    return {};
  }
  Typed all{list_of(any_type())};
  const Expr* first = nullptr;
  Type item;
  for (const auto& each : list.items) {
    const auto typed = check(*each, place);
    all.time = later(all.time, typed.time);
    if (first) {
      item = alike(*first, item, *each, typed.type, each->span, "items of one list");
    } else {
      item = typed.type;
      first = each.get();
    }
    if (item.any()) break;
  }
  if (first) all.type = list_of(item);
  return all;
}

void ExpressionChecker::note(const SymbolScope& names, Span scope) {
  if (!declared_) return;
  for (const auto& symbol : names.symbols()) declared_->push_back({symbol, scope});
}

Typed ExpressionChecker::of(const Comprehension& comprehension, const Expr& expression, const Place& place) {
  SymbolScope scope(place.names);
  Place inner = place;
  inner.calls = Calls::Functions;  // an analysis has one answer, not one for each item
  std::vector<std::unique_ptr<SymbolScope>> scopes;
  Time time = Time::File;
  for (const auto& loop : comprehension.loops) {
    const auto from = check(loop.from, inner);
    time = later(time, from.time);
    Symbol symbol;
    symbol.kind = Symbol::Kind::Loop;
    symbol.name = loop.name.text;
    symbol.span = loop.name.span;
    if (loop.to) {
      const auto to = check(loop.to, inner);
      time = later(time, to.time);
      symbol.type = alike(*loop.from, number(*loop.from, from.type, "the start of an interval"), *loop.to,
                          number(*loop.to, to.type, "the end of an interval"), cover(loop.from->span, loop.to->span), "ends of one interval");
      symbol.type.zero = false;
      if (loop.step) time = later(time, want(loop.step, symbol.type, inner, "the step").time);
    } else if (from.type.kind == Type::Kind::List) {
      symbol.type = *from.type.item;
    } else if (from.type.kind == Type::Kind::Pattern) {
      symbol.type = number_of(kBytes);
    } else if (!from.type.any()) {
      error("E0215", loop.from->span, fmt::format("`for` goes over an interval or a list, and `{}` is {}", text(loop.from->span), describe(from.type)),
            "write `for x in 0..8`");
    }
    scopes.push_back(std::make_unique<SymbolScope>(inner.names));
    scopes.back()->declare(std::move(symbol), diagnostics_);
    const auto& last = loop.step ? loop.step : loop.to ? loop.to : loop.from;
    if (comprehension.item) note(*scopes.back(), comprehension.item->span);
    if (last) note(*scopes.back(), {last->span.end, expression.span.end});  // the loops inside it
    inner.names = scopes.back().get();
  }
  const auto item = check(comprehension.item, inner);
  auto type = item.type;
  type.zero = false;
  return {list_of(type), later(time, item.time)};
}

Typed ExpressionChecker::of(const Unary& unary, const Expr&, const Place& place) {
  const auto operand = check(*unary.operand, place);
  if (unary.op == UnaryOp::Not) {
    expect_type(*unary.operand, operand.type, bool_type(), "what follows `not`");
    return {bool_type(), operand.time};
  }
  return {number(*unary.operand, operand.type, "what follows `-`"), operand.time};
}

Type ExpressionChecker::number(const Expr& expression, const Type& type, std::string_view role) {
  if (type.any() || type.number()) return type;
  if (type.kind == Type::Kind::Record) {
    error("E0216", expression.span, fmt::format("{} is a number, and `{}` is a whole record", role, text(expression.span)),
          fmt::format("write `median({})`", text(expression.span)));
  } else {
    auto& problem = error("E0215", expression.span, fmt::format("{} is a number, and `{}` is {}", role, text(expression.span), describe(type)));
    show_origin(problem, expression);
  }
  return any_type();
}

Type ExpressionChecker::alike(const Expr& left, const Type& a, const Expr& right, const Type& b, Span span, const char* how) {
  if (a.any() || b.any()) return any_type();
  if (fits(a, b) && fits(b, a)) return a.zero ? b : a;
  const auto role_of = [&](const Expr& e) { return fmt::format("`{}`", text(e.span)); };
  if (a.number() && b.number()) {
    if (a.plain() != b.plain()) {
      const bool left_plain = a.plain();
      const auto& plain = left_plain ? left : right;
      const auto& unit = left_plain ? b : a;
      if (unit.dimension == kBytes || literal(plain)) {
        expect_type(plain, left_plain ? a : b, unit, role_of(left_plain ? right : left));
        return any_type();
      }
    }
    error("E0210", span, fmt::format("{} is {} and {} is {}: they cannot be {}", role_of(left), describe(a), role_of(right), describe(b), how));
    return any_type();
  }
  if (a.kind == Type::Kind::Record || b.kind == Type::Kind::Record) {
    number(a.kind == Type::Kind::Record ? left : right, a.kind == Type::Kind::Record ? a : b, "an operand");
    return any_type();
  }
  auto& problem = error("E0215", span, fmt::format("{} is {} and {} is {}: they cannot be {}", role_of(left), describe(a), role_of(right), describe(b), how));
  show_origin(problem, left);
  show_origin(problem, right);
  return any_type();
}

Typed ExpressionChecker::of(const Binary& binary, const Expr& expression, const Place& place) {
  const auto left = check(*binary.left, place);
  const auto right = check(*binary.right, place);
  const auto time = later(left.time, right.time);
  const auto operand = [&](const ExprPtr& e, const Typed& typed) { return number(*e, typed.type, "an operand"); };
  switch (binary.op) {
    case BinaryOp::And:
    case BinaryOp::Xor:
    case BinaryOp::Or: {
      if (left.type.number() && right.type.number()) {  // of the bits of two whole numbers
        auto type = alike(*binary.left, left.type, *binary.right, right.type, expression.span, verb(binary.op));
        type.zero = false;
        return {type, time};
      }
      const auto role = fmt::format("an operand of `{}`", binary.op == BinaryOp::And ? "and" : binary.op == BinaryOp::Or ? "or" : "xor");
      expect_type(*binary.left, left.type, bool_type(), role);
      expect_type(*binary.right, right.type, bool_type(), role);
      return {bool_type(), time};
    }
    case BinaryOp::Multiply:
    case BinaryOp::Divide:
    case BinaryOp::Div: {
      const auto a = operand(binary.left, left), b = operand(binary.right, right);
      if (a.any() || b.any()) return {any_type(), time};
      return {number_of(binary.op == BinaryOp::Multiply ? a.dimension * b.dimension : a.dimension / b.dimension), time};
    }
    case BinaryOp::Shl:
    case BinaryOp::Shr: {
      auto type = operand(binary.left, left);
      type.zero = false;
      expect_type(*binary.right, right.type, number_of({}), fmt::format("what follows `{}`", binary.op == BinaryOp::Shl ? "shl" : "shr"));
      return {type, time};
    }
    case BinaryOp::Add:
    case BinaryOp::Subtract:
    case BinaryOp::Mod: {
      const auto a = operand(binary.left, left), b = operand(binary.right, right);
      auto type = alike(*binary.left, a, *binary.right, b, expression.span, verb(binary.op));
      type.zero = false;
      return {type, time};
    }
    case BinaryOp::Else: {
      if (left.type.any()) return {right.type, time};
      return {alike(*binary.left, left.type, *binary.right, right.type, expression.span, verb(binary.op)), time};
    }
    case BinaryOp::Equal:
    case BinaryOp::NotEqual:
      alike(*binary.left, left.type, *binary.right, right.type, expression.span, verb(binary.op));
      return {bool_type(), time};
    default:
      alike(*binary.left, operand(binary.left, left), *binary.right, operand(binary.right, right), expression.span, verb(binary.op));
      return {bool_type(), time};
  }
}

Typed ExpressionChecker::of(const Within& within, const Expr& expression, const Place& place) {
  const auto value = check(*within.value, place);
  const auto tolerance = want(within.tolerance, number_of({}), place, "a tolerance");
  const auto target = check(*within.target, place);
  alike(*within.value, number(*within.value, value.type, "what is compared"), *within.target,
        number(*within.target, target.type, "what it is compared with"), expression.span, "compared");
  return {bool_type(), later(value.time, later(tolerance.time, target.time))};
}

Typed ExpressionChecker::of(const InRange& range, const Expr& expression, const Place& place) {
  const auto value = check(*range.value, place);
  const auto low = check(*range.low, place);
  const auto high = check(*range.high, place);
  const auto ends = alike(*range.low, number(*range.low, low.type, "the start of an interval"), *range.high,
                          number(*range.high, high.type, "the end of an interval"), cover(range.low->span, range.high->span), "ends of one interval");
  if (!ends.any()) alike(*range.value, number(*range.value, value.type, "what is compared"), *range.high, ends, expression.span, "compared");
  return {bool_type(), later(value.time, later(low.time, high.time))};
}

}  // namespace gexp::lang
