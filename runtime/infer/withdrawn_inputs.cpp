// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/withdrawn_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/infer/confounders.h"
#include "runtime/infer/record_functions.h"

namespace gexp::infer {
namespace {

/// The findings of earlier stages that the stage reads and that were `found_before` and are not any more.
std::vector<std::string> withdrawn_inputs(const compiler::Program& program, const compiler::Stage& stage,
                                          const std::set<std::string>& found_before, const Findings& findings) {
  std::vector<std::string> gone;
  for (const auto& read : stage.reads) {
    const auto id = program.id_of(read);
    if (found_before.contains(id) && !findings.find(id)) gone.push_back(id);
  }
  return gone;
}

/// Whether that finding is the latency of a level.
bool is_latency(const compiler::Program& program, const std::string& id) {
  return std::any_of(program.stages.begin(), program.stages.end(), [&](const auto& stage) {
    return std::any_of(stage.finds.begin(), stage.finds.end(), [&](const auto& question) {
      return question.id == id && (question.analysis == "slowest" || question.analysis == "fastest");
    });
  });
}

/// The latency that `above:` names where a question is about a size or lines; null where it names none.
const compiler::Formula* level_counted_above(const compiler::Stage& stage, const compiler::Question& question) {
  const auto& asked = question.analysis;
  if (asked == "cache_sets" || asked == "miss_spacing") return above_of(question.arguments);
  const auto* call = (asked == "last_flat" || asked == "first_flat") && !question.arguments.empty() ? miss_call(stage, *question.arguments.front().value) : nullptr;
  return call ? above_of(call->arguments) : nullptr;
}

}  // namespace

void check_readings(const compiler::Program& program, const std::set<std::string>& found_before, Findings& findings) {
  const auto is_gone = [&](const std::string& id) { return found_before.contains(id) && !findings.find(id); };
  for (const auto& stage : program.stages) {
    const auto gone = withdrawn_inputs(program, stage, found_before, findings);
    for (const auto& question : stage.finds) {
      const auto& asked = question.analysis;
      const bool measured = asked == "value" || asked == "values" || asked == "highest" || asked == "highest_at";
      auto* finding = measured && !gone.empty() ? findings.find(question.id) : nullptr;
      if (finding) finding->withdraw(fmt::format("it was measured at `{}`, which is withdrawn", gone.front()));
      const auto* above = level_counted_above(stage, question);
      auto* told = above ? findings.find(question.id) : nullptr;
      if (!told) continue;
      // A level is known by the latency that its misses exceed, whether the question alone names that or the stage was measured by it.
      auto named = compiler::dotted_names(*above);
      std::erase_if(named, [&](const auto& id) { return !is_gone(id); });
      named.insert(named.end(), gone.begin(), gone.end());
      const auto level = std::find_if(named.begin(), named.end(), [&](const auto& id) { return is_latency(program, id); });
      if (level != named.end()) told->withdraw(fmt::format("it counts what is slower than `{}`, which is withdrawn: which level that is, is not known", *level));
    }
  }
}

}  // namespace gexp::infer
