// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/codegen/body_writer.h"
#include "compiler/lower/ops.h"

// Operations that hold others: branches, unrolled loops and loops.
namespace gexp::compiler {

bool BodyWriter::data_dependent() const {
  const auto reads = [&](const Formula* condition) { return code_.reads_variable(*condition); };
  const auto open = [](const Enclosing& enclosing) { return !enclosing.counted; };
  return std::any_of(conditions_.begin(), conditions_.end(), reads) || std::any_of(enclosing_.begin(), enclosing_.end(), open);
}

std::optional<Diagnostic> BodyWriter::branch(const Op& op, Region& region) {
  auto condition = code_.text(*op.condition);
  if (!condition) return condition.error();
  line("if ({}) {{", *condition);
  conditions_.push_back(op.condition.get());
  ++depth_;
  auto problem = body(op.body, region.rounds);
  if (!problem && !op.otherwise.empty()) {
    auto negated = std::make_shared<Formula>();
    negated->kind = Formula::Kind::Not;
    negated->span = op.condition->span;
    negated->operands = {op.condition};
    negations_.push_back(negated);
    conditions_.back() = negated.get();
    --depth_;
    line("} else {");
    ++depth_;
    problem = body(op.otherwise, region.rounds);
  }
  --depth_;
  conditions_.pop_back();
  line("}");
  return problem;
}

std::optional<Diagnostic> BodyWriter::unroll(const Op& op, Region& region) {
  std::int64_t from = 0, to = 0;
  for (const auto& [bound, value] : {std::pair{op.from.get(), &from}, std::pair{op.to.get(), &to}}) {
    auto number = evaluate(*bound, code_.scope());
    if (!number) return number.error();
    const auto* n = number->get<Number>();
    if (!n || n->number != std::floor(n->number) || std::fabs(n->number) > kMaxCount) {
      return error(bound->span, "E0418", fmt::format("the bound of an unroll is {}: a whole number is wanted", show(*number)), "`div` divides without a rest, floor(x) and ceil(x) round");
    }
    *value = static_cast<std::int64_t>(n->number);
  }
  for (std::int64_t round = from; round <= to && !op.body.empty(); ++round) {
    code_.set_round(op.variable, static_cast<double>(round));
    if (auto problem = list(op.body, region)) return problem;
  }
  return std::nullopt;
}

std::optional<Diagnostic> BodyWriter::inner_body(const Op& op, double rounds, Enclosing enclosing, std::string& text, Enclosing& made) {
  enclosing_.push_back(std::move(enclosing));
  for_each_op(op.body, [&](const Op& inner) { enclosing_.back().only_loads &= !writes(inner) && inner.into.empty() && inner.kind != Op::Kind::Barrier && inner.kind != Op::Kind::Fence && inner.kind != Op::Kind::Drain; });
  auto* outer = std::exchange(text_, &text);
  depth_ += 2;
  auto problem = body(op.body, rounds);
  depth_ -= 2;
  text_ = outer;
  made = enclosing_.back();
  enclosing_.pop_back();
  return problem;
}

std::optional<Diagnostic> BodyWriter::loop(const Op& op, Region& region) {
  if (op.condition) return loop_while(op, region);
  std::int64_t from = 0, to = 0;
  auto first = code_.whole_argument(*op.from, -kMaxCount, kMaxCount, "the start of a loop", &from);
  if (!first) return first.error();
  auto last = code_.whole_argument(*op.to, -kMaxCount, kMaxCount, "the end of a loop", &to);
  if (!last) return last.error();
  if (to < from) return std::nullopt;  // this point has no round; its text differs from that of points that have some
  code_.begin_loop(op.variable, {static_cast<double>(from), static_cast<double>(to), to > from ? 1u : 0u});
  std::string inner;
  Enclosing made;
  auto problem = inner_body(op, region.rounds * static_cast<double>(to - from + 1), {op.variable, *first, "", "", true, true}, inner, made);
  code_.end_loop();
  if (problem) return problem;
  const auto count = fresh("n"), i = fresh("i");
  line("{");
  line("  {}", made.begins);
  line("  const u32 {} = {};", count, rehearsed_ ? fmt::format("pass == 1 || {0} - {1} < 1 ? (u32)({0} - {1} + 1) : 2u", *last, *first) : fmt::format("(u32)({} - {} + 1)", *last, *first));
  line("  #pragma unroll 1");
  line("  for (u32 {0} = 0; {0} < {1}; ++{0}) {{", i, count);
  line("    const long long {} = {} + {}; (void){};", op.variable, *first, i, op.variable);
  *text_ += inner;
  line("    {}", made.ends);
  line("  }");
  line("}");
  return std::nullopt;
}

// What is loaded decides when it ends, so that it may have no end: after the most rounds it leaves, and says so in the word behind the idle
// cell, which the host reads. A rehearsal loads other things, and turns twice at most.
std::optional<Diagnostic> BodyWriter::loop_while(const Op& op, Region& region) {
  if (place_.role) {
    return error(op.span, "E0418", "a `loop while` stands in a launch of one stage: of several none could say which loop has no end", "count its rounds: `loop i in 0..99 { … }`");
  }
  std::int64_t most = 0;
  auto laps = code_.whole_argument(*op.count, 1, kMaxCount - 1, "the most rounds of a loop", &most);
  if (!laps) return laps.error();
  auto condition = code_.text(*op.condition);
  if (!condition) return condition.error();
  const auto count = fresh("n");
  std::string inner;
  Enclosing made;
  conditions_.push_back(op.condition.get());
  auto problem = inner_body(op, region.rounds * static_cast<double>(most), {fmt::format("0{}", count), "0ll", "", "", true, false}, inner, made);
  conditions_.pop_back();
  if (problem) return problem;
  plan_.may_hang = true;
  line("{");
  line("  {}", made.begins);
  line("  u32 {} = 0; const u32 {}m = {};", count, count, rehearsed_ ? fmt::format("pass == 1 || {0} < 2 ? (u32){0} : 2u", *laps) : fmt::format("(u32){}", *laps));
  line("  #pragma unroll 1");
  line("  while ({}) {{", *condition);
  line("    if ({0}++ == {0}m) {{ if (pass == 1) asm volatile(\"st.global.u32 [%0], %1;\" :: \"l\"(cell + 32), \"r\"(1) : \"memory\"); break; }}", count);
  *text_ += inner;
  line("    {}", made.ends);
  line("  }");
  line("}");
  return std::nullopt;
}

/// A kernel of a file is a launch of its own, which no text of ours holds (compiler/plan/plan_kernel.cpp).
std::optional<Diagnostic> BodyWriter::kernel(const Op&, Region&) {
  GEXP_CHECK(false);
  return std::nullopt;
}

}  // namespace gexp::compiler
