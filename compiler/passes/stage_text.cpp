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
      : stage_(stage), file_(file), keys_([this](const auto& root, const auto& path, auto& text) { return meaning(root, path, text); }) {
    for (const auto& sweep : stage.sweeps) sweeps_.insert(sweep.names.begin(), sweep.names.end());
    for (const auto* bindings : {&stage.bindings, &stage.derives}) {
      for (const auto& binding : *bindings) bindings_[binding.name] = &binding;
    }
  }

  std::string run() {
    // Names of stages and sweeps stay: records are called by them, and what chance decides on a simulated device
    // follows from them.
    auto text = fmt::format("stage {}\n", stage_.name);
    for (const auto& sweep : stage_.sweeps) text += of(sweep);
    for (const auto& [condition, why] : stage_.skips) text += line("skip", condition);
    text += of(stage_.launch);
    if (stage_.transform) text += line("soft_l1", stage_.transform->line, stage_.transform->monitor, stage_.transform->hits);
    for (const auto& flush : stage_.flushes) text += fmt::format("flush {}\n", flush.level);
    for (const auto& [grid, block, body] : stage_.warm_launches) text += line("warm launch", grid, block) + of(body);
    text += "warm\n" + of(stage_.warm);
    text += fmt::format("timed {}\n", word(stage_.timing)) + of(stage_.timed);
    const auto& [at_least, at_most, until] = stage_.repeat;
    text += fmt::format("repeat {} {} {}", at_least, at_most, line("until", until));
    return text + fmt::format("keep {}\n", static_cast<int>(stage_.keep));
  }

 private:
  /// The stage's own names hide those of the file. A let or derive stands for its formula.
  bool meaning(const std::string& root, const std::vector<std::string>& path, std::string& text) {
    const auto own = bindings_.find(root);
    if (sweeps_.contains(root)) text += root;
    else if (root == stage_.timed_name) text += "record";
    else if (own == bindings_.end()) return file_(root, path, text);
    else if (open_.contains(root)) text += root;  // a let may be called as what it reads of the file
    else text += hash_of(root, *own->second);
    for (const auto& part : path) (text += '.') += part;
    return true;
  }

  const std::string& hash_of(const std::string& name, const Binding& binding) {
    auto& known = known_[name];
    if (!known.empty()) return known;
    open_.insert(name);
    FormulaKeys outside([this](const auto& inner, const auto& path, auto& text) { return meaning(inner, path, text); });
    known = sha256_hex(outside.key(binding.formula));
    open_.erase(name);
    return known;
  }

  /// What a name of the file means, nothing where it means itself.
  [[nodiscard]] std::string of_file(const std::string& name) const {
    std::string text;
    file_(name, {}, text);
    return text;
  }

  template <class... Formulas> std::string line(std::string text, const Formulas&... formulas) {
    ((text += ' ', keys_.add(formulas, text)), ...);
    return text += '\n';
  }

  // Every member is named here, so that one that is added does not compile before somebody has thought of it.
  std::string of(const Sweep& sweep) {
    const auto& [names, kind, from, to, by, list, refine_to, refine_on, refine_highest, until, span] = sweep;
    auto text = fmt::format("sweep {} kind {} {}", fmt::join(names, ","), static_cast<int>(kind), refine_highest ? "highest " : "");
    return text + line("", from, to, by, list, refine_to, refine_on, until);
  }

  std::string of(const Launch& launch) {
    const auto& [grid, block, cluster, smem, persm, carveout, bank, sm, sms, limit, registers, place, span] = launch;
    return line("launch " + place, grid, block, cluster, smem, persm, carveout, bank, sm, sms) + (limit ? line("limit", limit) : "") + (registers ? line("registers", registers) : "");
  }

  std::string of(const Body& body) {
    std::string text = "{\n";
    for (const auto& op : body) text += of(op);
    return text + "}\n";
  }

  std::string of(const Op& op) {
    const auto& [kind, span, memory, width, via, hint, fetch, rank, level, into, into_at, rows, pitch, scope, red, pattern, count, laps, at, instruction, instruction_span, named, chain, ilp,
                 condition, variable, from, to, gives, type, value, otherwise, body, kernel, flag, signals, bound] = op;
    auto text = "op " + std::to_string(static_cast<int>(kind)) + " via " + word(via);
    text += (laps ? " laps true instruction " : " laps false instruction ") + instruction;
    for (const auto& part : {hint, level, scope}) text += part.empty() ? "" : " " + part;
    if (red) text += " red";
    if (!into.empty()) text += fmt::format(" into {} {}", into, of_file(into));
    if (!memory.empty()) text += " memory " + memory + " " + of_file(memory);
    if (!pattern.empty() && !meaning(pattern, {}, text += " pattern ")) text += pattern;
    text += line("", width, fetch, into_at, count, at, named, chain, ilp, condition, from, to, value);
    if (rows || pitch) text += line("tile", rows, pitch);
    if (rank) text += line("rank", rank);
    if (!flag.empty()) text += "flag " + flag + line("", signals, bound);
    if (!gives.empty() || !type.empty()) text += "gives " + gives + " type " + type + " ";
    if (!from && !variable.empty()) text += fmt::format("variable {} ", variable);
    if (from) keys_.bind(variable);
    if (!body.empty()) text += of(body);
    if (from) keys_.unbind();
    if (!otherwise.empty()) text += "else " + of(otherwise);
    return kernel ? text + of(*kernel) : text;
  }

  std::string of(const FileKernel& kernel) {
    const auto& [path, path_span, entry, entry_span, arguments, templates, defines, source, sha256] = kernel;
    // NVRTC is told the file's name, and writes it into what it makes.
    auto text = fmt::format("kernel {} entry {} sha256 {}\n", path, entry, sha256);
    for (const auto& [kind, name, value, entries, width, linked, span] : arguments) {
      const bool memory = kind == FileKernel::Argument::Kind::Memory;
      // By its name too: two memories of one kind are two.
      text += fmt::format("argument {} linked {}", static_cast<int>(kind), linked);
      if (memory) text += fmt::format(" {} {}", name, of_file(name));
      text += line("", kind == FileKernel::Argument::Kind::Value ? value : nullptr, entries, width);
    }
    text += "template";
    for (const auto& value : templates) (text += ' ') += keys_.key(value);
    text += '\n';
    for (const auto& [name, value] : defines) text += line("define " + name, value);
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
