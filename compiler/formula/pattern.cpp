// SPDX-License-Identifier: Apache-2.0
#include "compiler/formula/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

#include "lang/base/budget.h"

namespace gexp::compiler {
namespace {

constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kWord = 4;  // bytes

constexpr std::int64_t kMaxOffset = std::int64_t{1} << 53;

/// Counts this many offsets more as work; the diagnostic when that is too much.
std::optional<Diagnostic> take(std::int64_t steps, Span span) {
  if (Budget::spend_bytes(static_cast<std::uint64_t>(steps) * sizeof(std::int64_t))) return std::nullopt;
  return Budget::exceeded(span);
}

const Value* find(const std::vector<Evaluated>& arguments, const std::string& label, std::size_t position) {
  for (const auto& argument : arguments) {
    if (argument.label == label) return &argument.value;
  }
  return position < arguments.size() && arguments[position].label.empty() ? &arguments[position].value : nullptr;
}

/// A whole number of an argument; negative when it is missing or no whole number at all.
Result<std::int64_t> whole(const std::vector<Evaluated>& arguments, const std::string& label, std::size_t position, Span span) {
  const Value* value = find(arguments, label, position);
  const Number* number = value ? value->get<Number>() : nullptr;
  if (!number) return failure("E0411", span, fmt::format("`{}:` is missing", label), fmt::format("write `{}: VALUE`", label));
  if (number->number < 0 || number->number != std::floor(number->number) || number->number > 9e15) {
    return failure("E0412", span, fmt::format("`{}` is {}: a whole number, zero or above, is wanted", label, show(*value)),
                 label == "stride" || label == "span" ? "a list of offsets may go in any direction: [96B, 64B, 32B, 0B]" : "write another number, such as 7");
  }
  return static_cast<std::int64_t>(number->number);
}

Result<Value> uniform(const std::vector<Evaluated>& arguments, Span span) {
  auto stride = whole(arguments, "stride", 0, span);
  if (!stride) return stride.error();
  auto length = whole(arguments, "span", 1, span);
  if (!length) return length.error();
  if (*stride == 0) return failure("E0412", span, "a stride of zero never leaves its first address", "write at least one element, such as `stride: 4B`");
  const std::int64_t steps = (*length + *stride - 1) / *stride;
  if (steps > kMaxPatternSteps) return failure("E0406", span, fmt::format("this pattern has more than {} steps", kMaxPatternSteps), "take a larger stride or a smaller span");
  if (auto problem = take(steps, span)) return std::move(*problem);
  Pattern pattern;
  pattern.steps = steps;
  pattern.offsets.resize(static_cast<std::size_t>(steps));
  for (std::int64_t offset = 0; auto& at : pattern.offsets) at = std::exchange(offset, offset + *stride);
  if (!Budget::tick(steps / 16)) return Budget::exceeded(span);
  return Value(std::make_shared<const Pattern>(std::move(pattern)));
}

Result<Value> nonuniform(const std::vector<Evaluated>& arguments, Span span) {
  Pattern whole_pattern;
  for (const auto& argument : arguments) {
    auto part = as_pattern(argument.value, span);
    if (!part) return part.error();
    if ((*part)->threads != 1) return failure("E0413", span, "a part of nonuniform must be the same for every thread", "chase the lanes' pattern by itself");
    if ((*part)->steps == 0) continue;  // an empty part leaves no label
    if (auto problem = take((*part)->steps, span)) return std::move(*problem);
    whole_pattern.segments.push_back({argument.label, whole_pattern.steps});
    whole_pattern.steps += (*part)->steps;
    whole_pattern.offsets.insert(whole_pattern.offsets.end(), (*part)->offsets.begin(), (*part)->offsets.end());
    if (whole_pattern.steps > kMaxPatternSteps) {
      return failure("E0406", span, fmt::format("this pattern has more than {} steps", kMaxPatternSteps), "take a larger stride or a smaller span");
    }
  }
  return Value(std::make_shared<const Pattern>(std::move(whole_pattern)));
}

/// Words between blanks.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

Result<Value> visits(const std::vector<Evaluated>& arguments, Span span) {
  const auto* named = find(arguments, "names", arguments.size());
  const auto* names = named ? named->get<std::string>() : nullptr;
  if (!names) return failure("E0411", span, "`names:` is missing", "write `names: \"A B A\"`");
  const auto* listed = find(arguments, "lines", arguments.size());
  auto lines = as_pattern(listed ? *listed : Value(), span);
  if (!lines) return lines.error();
  const auto length = [&](const char* label, std::int64_t otherwise) { return find(arguments, label, arguments.size()) ? whole(arguments, label, arguments.size(), span) : Result<std::int64_t>(otherwise); };
  const auto word = length("word", kWord), begin = length("begin", 0);
  if (!word) return word.error();
  if (!begin) return begin.error();
  if (*word == 0) return failure("E0412", span, "a word of no bytes would be visited twice", "write `word: 4B`");
  const auto order = words_of(*names);
  if (order.empty()) return failure("E0412", span, "`names` names no line", "write `names: \"A B A\"`");
  if (auto problem = take(static_cast<std::int64_t>(order.size()), span)) return std::move(*problem);
  struct Line {
    std::int64_t number, visits;
  };
  std::map<std::string, Line> known;
  Pattern pattern;
  for (const auto& name : order) {
    auto& line = known.try_emplace(name, Line{static_cast<std::int64_t>(known.size()), 0}).first->second;
    if (line.number >= (*lines)->steps) {
      return failure("E0412", span, fmt::format("`names` has more names than the {} lines that `lines` has: `{}` is one too many", (*lines)->steps, name), "list more lines, or take fewer names");
    }
    pattern.segments.push_back({name, pattern.steps});
    pattern.offsets.push_back((*lines)->at(0, line.number) + *begin + line.visits++ * *word);
    ++pattern.steps;
  }
  return Value(std::make_shared<const Pattern>(std::move(pattern)));
}

Result<Value> bank(const std::vector<Evaluated>& arguments, Span span) {
  auto stride = whole(arguments, "stride", 0, span);
  if (!stride) return stride.error();
  auto word = whole(arguments, "word", 1, span);
  if (!word) return word.error();
  if (*stride > 0 && *word > kMaxOffset / kLanes / *stride) return failure("E0412", span, fmt::format("a stride of {} words of {} B is too long", *stride, *word));
  Pattern pattern;
  pattern.threads = kLanes;
  pattern.steps = 1;
  for (std::int64_t lane = 0; lane < kLanes; ++lane) pattern.offsets.push_back(lane * *stride * *word);
  return Value(std::make_shared<const Pattern>(std::move(pattern)));
}

/// splitmix64 (Steele, Lea, Flood 2014): a seed gives the same order on every machine, as std::shuffle does not.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

Result<Value> shuffle(const std::vector<Evaluated>& arguments, Span span) {
  if (arguments.empty()) return failure("E0411", span, "shuffle needs a pattern and a seed", "write `shuffle(PATTERN, 7)`");
  auto source = as_pattern(arguments[0].value, span);
  if (!source) return source.error();
  auto seed = whole(arguments, "seed", 1, span);
  if (!seed) return seed.error();
  if (auto problem = take(2 * (*source)->threads * (*source)->steps, span)) return std::move(*problem);
  Pattern pattern;
  pattern.threads = (*source)->threads;
  pattern.steps = (*source)->steps;
  std::vector<std::int64_t> order(static_cast<std::size_t>(pattern.steps));
  for (std::int64_t i = 0; i < pattern.steps; ++i) order[static_cast<std::size_t>(i)] = i;
  auto state = static_cast<std::uint64_t>(*seed);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[next_random(state) % i]);
    if (!Budget::tick()) return Budget::exceeded(span);
  }
  for (std::int64_t thread = 0; thread < pattern.threads; ++thread) {
    for (const auto step : order) {
      pattern.offsets.push_back((*source)->at(thread, step));
      if (!Budget::tick()) return Budget::exceeded(span);
    }
  }
  return Value(std::make_shared<const Pattern>(std::move(pattern)));
}

Result<Value> repeat(const std::vector<Evaluated>& arguments, Span span) {
  if (arguments.empty()) return failure("E0411", span, "repeat needs a pattern and a count", "write `repeat(PATTERN, 4)`");
  auto source = as_pattern(arguments[0].value, span);
  if (!source) return source.error();
  auto times = whole(arguments, "times", 1, span);
  if (!times) return times.error();
  if ((*source)->threads * (*source)->steps > 0 && *times > kMaxPatternSteps / ((*source)->threads * (*source)->steps)) {
    return failure("E0406", span, fmt::format("this pattern has more than {} steps", kMaxPatternSteps), "take a larger stride or a smaller span");
  }
  if (auto problem = take((*source)->threads * (*source)->steps * *times, span)) return std::move(*problem);
  Pattern pattern;
  pattern.threads = (*source)->threads;
  pattern.steps = (*source)->steps * *times;
  for (std::int64_t thread = 0; thread < pattern.threads; ++thread) {
    for (std::int64_t lap = 0; lap < *times; ++lap) {
      for (std::int64_t step = 0; step < (*source)->steps; ++step) pattern.offsets.push_back((*source)->at(thread, step));
      if (!Budget::tick((*source)->steps)) return Budget::exceeded(span);
    }
  }
  return Value(std::make_shared<const Pattern>(std::move(pattern)));
}

}  // namespace

std::optional<Result<Value>> construct_pattern(const std::string& name, const std::vector<Evaluated>& arguments, Span span) {
  if (name == "uniform") return uniform(arguments, span);
  if (name == "nonuniform") return nonuniform(arguments, span);
  if (name == "visits") return visits(arguments, span);
  if (name == "bank") return bank(arguments, span);
  if (name == "shuffle") return shuffle(arguments, span);
  if (name == "repeat") return repeat(arguments, span);
  return std::nullopt;
}

Result<std::shared_ptr<const Pattern>> as_pattern(const Value& value, Span span) {
  if (const auto* pattern = value.get<std::shared_ptr<const Pattern>>()) return *pattern;
  const auto* list = value.get<List>();
  if (!list) {
    return failure("E0410", span, fmt::format("a pattern is wanted here, not {}", show(value)),
                 "write uniform(stride: …, span: …), a list of offsets, or another pattern");
  }
  if (auto problem = take(static_cast<std::int64_t>(list->size()), span)) return std::move(*problem);
  Pattern pattern;
  pattern.steps = static_cast<std::int64_t>(list->size());
  for (const auto& item : *list) {
    const auto* offset = item.get<Number>();
    if (!offset || offset->number < 0 || offset->number != std::floor(offset->number) || offset->number > static_cast<double>(kMaxOffset)) {
      return failure("E0410", span, fmt::format("{} is no offset: whole bytes, zero or above, are wanted", show(item)),
                   offset && offset->number < 0 ? fmt::format("add {} to every offset", show(-offset->number, kBytes)) : "round(x) makes a whole number");
    }
    pattern.offsets.push_back(static_cast<std::int64_t>(offset->number));
  }
  return std::make_shared<const Pattern>(std::move(pattern));
}

Result<std::shared_ptr<const Pattern>> evaluate_pattern(const Formula& formula, const Scope& scope, const ThreadLets& lets,
                                                        std::uint32_t grid, std::uint32_t block) {
  if (!varies(formula, lets)) {
    auto value = evaluate(formula, scope);
    if (!value) return value.error();
    return as_pattern(*value, formula.span);
  }
  ThreadNames threads(scope, lets, {&formula});
  const std::uint32_t blocks = threads.tells_blocks() ? grid : 1;
  Pattern all;
  all.threads = static_cast<std::int64_t>(blocks) * block;
  for (std::int64_t thread = 0; thread < all.threads; ++thread) {
    const auto tid = static_cast<std::uint32_t>(thread % block);
    if (auto bound = threads.bind(static_cast<std::uint32_t>(thread / block), tid, block); !bound) return bound.error();
    auto value = evaluate(formula, threads.names());
    if (!value) return value.error();
    auto one = as_pattern(*value, formula.span);
    if (!one) return one.error();
    if (thread == 0) {
      all.steps = (*one)->steps;
      if (all.steps > kMaxPatternSteps / all.threads) {
        return failure("E0406", formula.span, fmt::format("this pattern has more than {} steps", kMaxPatternSteps), "take a larger stride or a smaller span");
      }
    }
    if ((*one)->steps != all.steps) return failure("E0413", formula.span, "every thread must have the same number of steps", "take one interval for all threads, and let its items differ");
    if (auto problem = take(all.steps, formula.span)) return std::move(*problem);
    all.offsets.insert(all.offsets.end(), (*one)->offsets.begin(), (*one)->offsets.end());
  }
  return std::make_shared<const Pattern>(std::move(all));
}

}  // namespace gexp::compiler
