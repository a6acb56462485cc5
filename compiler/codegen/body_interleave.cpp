// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/codegen/body_writer.h"
#include "compiler/plan/access.h"
#include "compiler/plan/calibrate.h"

// Several chases of one thread: each waits for its own loads alone, so that the loads of a round are in flight together. All loads of a
// round stand before what waits for the first of them.
namespace gexp::compiler {

std::optional<Diagnostic> BodyWriter::interleave(const Op& op, Region& region) {
  std::vector<Step> steps;
  std::vector<std::string> links, ends;
  for (const auto& chase : op.body) {
    if (++operations_ > kMaxOperations) return error(op.span, "E0432", fmt::format("this body unrolls to more than {} operations", kMaxOperations), "interleave fewer chases");
    auto step = step_of(chase);
    if (!step) return step.error();
    if (!steps.empty() && step->steps != steps.front().steps) {
      return error(chase.count->span, "E0418", fmt::format("chases that are interleaved take equally many steps, and this one takes {}, the first one {}", step->steps, steps.front().steps),
                   "write `steps N` with one N for all of them");
    }
    steps.push_back(*step);
    links.push_back(fresh("l"));
    ends.push_back(fresh("c"));
    line("{} {} = 0;", value_type(link_bytes(step->width)), links.back());
  }
  std::vector<StepTexts> texts;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto manner = manner_here(op.body[i]);
    if (!manner) return manner.error();
    texts.push_back(step_texts(*steps[i].memory, *manner, steps[i].width, steps[i].cursor->at, links[i], steps[i].cursor->base));
  }
  line("#pragma unroll 1");
  line("for (u64 i = 0; i < {}; ++i) {{", steps.front().cursor->steps);
  ++depth_;
  for (std::size_t i = 0; i + 1 < steps.size() && each(); ++i) settle(steps[i].cursor->at);
  begin_timing(settle_text(steps.back().cursor->at));
  for (const auto& text : texts) line(text.load);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    line(texts[i].advance);
    if (!each()) continue;
    settle(steps[i].cursor->at);
    line("const u64 {} = gexp_clock();", ends[i]);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    end_timing(op.body[i], *steps[i].memory, ends[i]);
    count(op.body[i], *steps[i].memory, region.rounds * static_cast<double>(steps[i].steps), steps[i].width);
  }
  --depth_;
  line("}");
  for (const auto& step : steps) {
    if (!each()) consume({step.cursor->at, 8});
    else line("sum ^= {};", step.cursor->at);
  }
  return std::nullopt;
}

}  // namespace gexp::compiler
