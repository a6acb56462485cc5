// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/stage_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "lang/base/sha256.h"

namespace gexp::compiler::passes {
namespace {

class StageText {
 public:
  StageText(const Stage& stage, const FormulaKeys::Meaning& file)
      : stage_(stage), file_(file), keys_([this](const auto& root, const auto& path) { return meaning(root, path); }) {
    for (const auto& sweep : stage.sweeps) sweeps_.insert(sweep.names.begin(), sweep.names.end());
    for (const auto* bindings : {&stage.bindings, &stage.derives}) {
      for (const auto& binding : *bindings) bindings_[binding.name] = &binding;
    }
  }

  std::string run() {
    // Names of stages and sweeps stay: records are called by them, and what chance decides on a simulated device follows from them.
    auto text = fmt::format("stage {}\n", stage_.name);
    for (const auto& sweep : stage_.sweeps) text += of(sweep);
    for (const auto& skip : stage_.skips) text += line("skip", {skip.condition});
    text += of(stage_.launch);
    for (const auto& flush : stage_.flushes) text += fmt::format("flush {}\n", flush.level);
    for (const auto& warm : stage_.warm_launches) text += line("warm launch", {warm.grid, warm.block}) + of(warm.body);
    text += "warm\n" + of(stage_.warm);
    text += fmt::format("timed {}\n", word(stage_.timing)) + of(stage_.timed);
    text += fmt::format("repeat {} {} {}", stage_.repeat.at_least, stage_.repeat.at_most, line("until", {stage_.repeat.until}));
    return text + fmt::format("keep {}\n", static_cast<int>(stage_.keep));
  }

 private:
  /// The stage's own names hide those of the file. A let or derive stands for its formula.
  std::optional<std::string> meaning(const std::string& root, const std::vector<std::string>& path) {
    const auto rest = path.empty() ? "" : "." + fmt::format("{}", fmt::join(path, "."));
    if (sweeps_.contains(root)) return root + rest;
    if (root == stage_.timed_name) return "record" + rest;
    const auto own = bindings_.find(root);
    if (own == bindings_.end()) return file_(root, path);
    if (open_.contains(root)) return root + rest;  // a let may be called as what it reads of the file
    auto& known = known_[root];
    if (known.empty()) {
      open_.insert(root);
      FormulaKeys outside([this](const auto& inner, const auto& of_inner) { return meaning(inner, of_inner); });
      const auto text = outside.key(own->second->formula);
      open_.erase(root);
      known_[root] = sha256_hex(text);
      return known_[root] + rest;
    }
    return known + rest;
  }

  std::string line(const std::string& what, const std::vector<FormulaPtr>& formulas) {
    auto text = what;
    for (const auto& formula : formulas) text += " " + keys_.key(formula);
    return text + "\n";
  }

  std::string of(const Sweep& sweep) {
    auto text = fmt::format("sweep {} kind {} ", fmt::join(sweep.names, ","), static_cast<int>(sweep.kind));
    return text + line("", {sweep.from, sweep.to, sweep.by, sweep.list, sweep.refine_to, sweep.refine_on, sweep.until});
  }

  std::string of(const Launch& launch) {
    return line("launch " + launch.place, {launch.grid, launch.block, launch.cluster, launch.smem, launch.persm,
                                           launch.carveout, launch.bank, launch.sm, launch.sms});
  }

  std::string of(const Body& body) {
    std::string text = "{\n";
    for (const auto& op : body) text += of(op);
    return text + "}\n";
  }

  std::string of(const Op& op) {
    const auto named = [&](const std::string& name) { return name.empty() ? "-" : meaning(name, {}).value_or(name); };
    auto text = fmt::format("op {} memory {} pattern {} via {} laps {} instruction {} ", static_cast<int>(op.kind),
                            op.memory.empty() ? "-" : op.memory + " " + file_(op.memory, {}).value_or(""), named(op.pattern),
                            word(op.via), op.laps, op.instruction);
    text += line("", {op.width, op.count, op.at, op.chain, op.ilp, op.condition, op.from, op.to});
    const bool binds = !op.variable.empty();
    if (binds) keys_.bind(op.variable);
    if (!op.body.empty()) text += of(op.body);
    if (binds) keys_.unbind();
    return text;
  }

  const Stage& stage_;
  const FormulaKeys::Meaning& file_;
  FormulaKeys keys_;
  std::set<std::string> sweeps_, open_;
  std::map<std::string, const Binding*> bindings_;
  std::map<std::string, std::string> known_;  ///< by let or derive: the hash of what it means
};

}  // namespace

std::string stage_text(const Stage& stage, const FormulaKeys::Meaning& file) { return StageText(stage, file).run(); }

}  // namespace gexp::compiler::passes
