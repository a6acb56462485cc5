// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/formula/pattern.h"
#include "compiler/formula/thread_range.h"
#include "lang/base/budget.h"

namespace gexp::compiler {
namespace {

constexpr std::size_t kMaxSweepValues = 1 << 20;

Result<double> number(const FormulaPtr& formula, const Scope& scope) {
  auto value = evaluate(*formula, scope);
  if (!value) return value.error();
  const auto* n = value->get<Number>();
  if (!n || !std::isfinite(n->number)) {
    return failure("E0401", formula->span, fmt::format("a number is wanted here, not {}", show(*value)));
  }
  return n->number;
}

}  // namespace

Result<Names> file_scope(const Program& program) {
  Names names;
  names.set("device", program.device);
  for (const auto& parameter : program.parameters) names.set(parameter.name, parameter.value);
  ThreadLets threads;
  for (const auto& let : program.lets) {
    if (varies(*let.formula, threads)) {
      threads.add(let.name, let.formula);
      continue;
    }
    auto value = evaluate(*let.formula, names);
    if (!value) return value.error();
    names.set(let.name, std::move(*value));
  }
  for (const auto& require : program.requires_) {
    auto holds = evaluate(*require.condition, names);
    if (!holds) return holds.error();
    const auto* flag = holds->get<bool>();
    if (flag && !*flag) {
      return failure("E0419", require.condition->span,
                   require.otherwise.empty() ? fmt::format("{} does not hold", show(*require.condition)) : require.otherwise);
    }
  }
  return names;
}

Result<int> access_width(const Op& op, const Memory& memory, const Scope& scope) {
  if (!op.width) return memory.element_bytes;
  auto width = number(op.width, scope);
  if (!width) return width.error();
  if (op.via == Via::Bulk) {
    if (*width != std::floor(*width / kBulkStep) * kBulkStep || *width < kBulkStep || *width > kMostBulk)
      return failure("E0418", op.width->span, fmt::format("a bulk copy has {}: a multiple of 16 bytes, at least 16 and at most {}, is wanted", show(*width, kBytes), kMostBulk), "write `as 1KiB`");
    return static_cast<int>(*width);
  }
  if (*width != std::floor(*width) || *width < 1 || *width > 16) {
    return failure("E0418", op.width->span, fmt::format("the width of a load is {}: a whole number from 1 to 16 is wanted", *width), "write `as 4B`, `as 8B` or `as 16B`");
  }
  return static_cast<int>(*width);
}

Result<std::uint64_t> memory_bytes(const Memory& memory, const Scope& scope) {
  auto value = evaluate(*memory.length, scope);
  if (!value) return value.error();
  const auto* n = value->get<Number>();
  if (!n) return failure("E0401", memory.span, "the length of a memory must be known before anything runs");
  const double bytes = n->dimension == kBytes ? n->number : n->number * memory.element_bytes;
  if (bytes < 1 || bytes != std::floor(bytes) || bytes > 1e13) {
    return failure("E0424", memory.length->span, fmt::format("`{}` has {}: whole bytes, at least one and at most 10^13, are wanted", memory.name, show(bytes, kBytes)),
                 bytes != std::floor(bytes) ? "write a length in bytes, or a whole number of elements" : bytes < 1 ? "write a length above zero" : "no device has that much");
  }
  return static_cast<std::uint64_t>(bytes);
}

namespace {

Result<std::vector<Value>> listed_values(const Sweep& sweep, const Scope& scope) {
  if (sweep.kind == Sweep::Kind::List) {
    auto list = evaluate(*sweep.list, scope);
    if (!list) return list.error();
    if (const auto* items = list->get<List>()) return *items;
    if (const auto* pattern = list->get<std::shared_ptr<const Pattern>>(); pattern && (*pattern)->threads == 1) {
      std::vector<Value> offsets;
      for (const auto offset : (*pattern)->offsets) offsets.emplace_back(static_cast<double>(offset), kBytes);
      return offsets;
    }
    return failure("E0401", sweep.list->span, fmt::format("a list is wanted here, not {}", show(*list)),
                 list->get<std::shared_ptr<const Pattern>>() ? "this pattern differs from thread to thread" : "write `A..B` or `[a, b]`");
  }
  auto from = evaluate(*sweep.from, scope);
  if (!from) return from.error();
  auto low = number(sweep.from, scope);
  if (!low) return low.error();
  auto high = number(sweep.to, scope);
  if (!high) return high.error();
  Result<double> by = sweep.by ? number(sweep.by, scope) : Result<double>(sweep.kind == Sweep::Kind::Times ? 2.0 : 1.0);
  if (!by) return by.error();
  const auto dimension = from->get<Number>()->dimension;
  const auto refuse = [&](const char* what, const char* hint) { return failure("E0407", sweep.by ? sweep.by->span : sweep.span, what, hint); };
  const auto refuse_start = [&](const char* what) { return failure("E0407", sweep.from->span, what, "begin the interval at one, or above"); };
  std::vector<Value> values;
  if (sweep.kind == Sweep::Kind::Step && *by > 0 && *high > *low) {
    values.reserve(static_cast<std::size_t>(std::min((*high - *low) / *by, static_cast<double>(kMaxSweepValues))) + 2);
  }
  const auto push = [&](double value) { values.emplace_back(value, dimension); };
  switch (sweep.kind) {
    case Sweep::Kind::Times:
      if (*by <= 1) return refuse("a factor must be above one", "write `times 2`");
      if (*low <= 0) return refuse_start("a sweep by a factor must begin above zero");
      for (double v = *low; v <= *high && values.size() <= kMaxSweepValues; v *= *by) push(v);
      break;
    case Sweep::Kind::Points:
    case Sweep::Kind::LogPoints: {
      if (*by < 2 || *by != std::floor(*by)) return refuse("a sweep has two points or more", "a single value is a list: `sweep n in [4KiB]`");
      if (*by > static_cast<double>(kMaxSweepValues)) return failure("E0406", sweep.span, fmt::format("this sweep has more than {} values", kMaxSweepValues));
      const bool log = sweep.kind == Sweep::Kind::LogPoints;
      if (log && *low <= 0) return refuse_start("a logarithmic sweep must begin above zero");
      for (double i = 0; i < *by && values.size() <= kMaxSweepValues; ++i) {
        const double share = i / (*by - 1);
        const double v = std::round(log ? *low * std::pow(*high / *low, share) : *low + (*high - *low) * share);
        if (values.empty() || values.back().get<Number>()->number != v) push(v);
      }
      break;
    }
    default:
      if (*by <= 0) return refuse("a step must be above zero", "a single value is a list: `sweep n in [4KiB]`");
      for (std::size_t i = 0; i <= kMaxSweepValues; ++i) {
        const double v = *low + *by * static_cast<double>(i);
        if (v > *high) break;
        push(v);
      }
  }
  if (values.size() > kMaxSweepValues) {
    return failure("E0406", sweep.span, fmt::format("this sweep has more than {} values", kMaxSweepValues), "take a larger step, or `times 2`");
  }
  if (values.empty()) {
    return failure("E0425", sweep.span, fmt::format("this sweep is empty: it runs from {} to {}", show(*low, dimension), show(*high, dimension)),
                 *low > *high ? "write the smaller end first" : "");
  }
  return values;
}

}  // namespace

Result<std::vector<Value>> sweep_values(const Sweep& sweep, const Scope& scope) {
  constexpr std::int64_t kOneOf = 4;  // values are a unit of work
  if (!Budget::spend(1)) return Budget::exceeded(sweep.span);  // nothing is listed for one who has nothing left
  auto values = listed_values(sweep, scope);
  if (values && !Budget::spend(static_cast<std::int64_t>(values->size()) / kOneOf + 1)) return Budget::exceeded(sweep.span);
  return values;
}

void bind_sweep(const Sweep& sweep, const Value& value, Names& names) {
  if (sweep.names.size() == 1) {
    names.set(sweep.names[0], value);
    return;
  }
  const auto* items = value.get<List>();
  for (std::size_t i = 0; i < sweep.names.size(); ++i) {
    names.set(sweep.names[i], items && i < items->size() ? (*items)[i] : Value());
  }
}

}  // namespace gexp::compiler
