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
    ((text_ += "stage ") += stage_.name) += '\n';
    for (const auto& sweep : stage_.sweeps) add(sweep);
    for (const auto& [condition, why] : stage_.skips) line("skip", condition);
    add(stage_.launch);
    if (stage_.transform) line("soft_l1", stage_.transform->line, stage_.transform->monitor, stage_.transform->hits);
    for (const auto& flush : stage_.flushes) ((text_ += "flush ") += flush.level) += '\n';
    for (const auto& [grid, block, body] : stage_.warm_launches) line("warm launch", grid, block), add(body);
    text_ += "warm\n";
    add(stage_.warm);
    ((text_ += "timed ") += word(stage_.timing)) += '\n';
    add(stage_.timed);
    const auto& [at_least, at_most, until] = stage_.repeat;
    text_ += fmt::format("repeat {} {} ", at_least, at_most);
    line("until", until);
    return std::move(text_ += fmt::format("keep {}\n", static_cast<int>(stage_.keep)));
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

  /// A memory by its name, and, where it is named first, what that means in the file.
  void add_memory(const std::string& name) {
    (text_ += ' ') += name;
    if (memories_.insert(name).second) file_(name, {}, text_ += ' ');
  }

  template <class... Formulas> void line(std::string_view begin, const Formulas&... formulas) {
    text_ += begin;
    ((text_ += ' ', keys_.add(formulas, text_)), ...);
    text_ += '\n';
  }

  /// A part of an operation that most have not.
  void clause(std::string_view word, const FormulaPtr& formula) {
    if (formula) keys_.add(formula, text_ += word);
  }

  // Every member is named here, so that one that is added does not compile before somebody has thought of it.
  void add(const Sweep& sweep) {
    const auto& [names, kind, from, to, by, list, refine_to, refine_on, refine_highest, until, span] = sweep;
    text_ += fmt::format("sweep {} kind {} {}", fmt::join(names, ","), static_cast<int>(kind), refine_highest ? "highest " : "");
    line("", from, to, by, list, refine_to, refine_on, until);
  }

  void add(const Launch& launch) {
    const auto& [grid, block, cluster, smem, persm, carveout, bank, sm, sms, limit, registers, place, span] = launch;
    line("launch " + place, grid, block, cluster, smem, persm, carveout, bank, sm, sms);
    if (limit) line("limit", limit);
    if (registers) line("registers", registers);
  }

  void add(const Body& body) {
    text_ += "{\n";
    for (const auto& op : body) add(op);
    text_ += "}\n";
  }

  void add(const Op& op) {
    const auto& [kind, span, memory, width, via, hint, fetch, rank, level, into, into_at, rows, pitch, scope, red, pattern, count, laps, at, instruction, instruction_span, named, chain, ilp,
                 condition, variable, from, to, gives, type, value, otherwise, body, kernel, flag, signals, bound] = op;
    (text_ += "op ") += std::to_string(static_cast<int>(kind));
    if (via != Via::Default) (text_ += " via ") += word(via);
    if (!laps) text_ += " steps";
    for (const auto* part : {&instruction, &hint, &level, &scope}) {
      if (!part->empty()) (text_ += ' ') += *part;
    }
    if (red) text_ += " red";
    if (!into.empty()) text_ += " into", add_memory(into);
    if (!memory.empty()) text_ += " memory", add_memory(memory);
    if (!pattern.empty() && !meaning(pattern, {}, text_ += " pattern ")) text_ += pattern;
    if (!flag.empty()) (text_ += " flag ") += flag;
    if (!gives.empty() || !type.empty()) (((text_ += " gives ") += gives) += " type ") += type;
    if (!from && !variable.empty()) (text_ += " variable ") += variable;
    clause(" width ", width), clause(" fetch ", fetch), clause(" into at ", into_at), clause(" count ", count), clause(" at ", at);
    clause(" named ", named), clause(" chain ", chain), clause(" ilp ", ilp), clause(" if ", condition), clause(" from ", from);
    clause(" to ", to), clause(" value ", value), clause(" rows ", rows), clause(" pitch ", pitch), clause(" rank ", rank);
    clause(" signals ", signals), clause(" bound ", bound);
    text_ += '\n';
    if (from) keys_.bind(variable);
    if (!body.empty()) add(body);
    if (from) keys_.unbind();
    if (!otherwise.empty()) text_ += "else ", add(otherwise);
    if (kernel) add(*kernel);
  }

  void add(const FileKernel& kernel) {
    const auto& [path, path_span, entry, entry_span, arguments, templates, defines, source, sha256] = kernel;
    // NVRTC is told the file's name, and writes it into what it makes.
    text_ += fmt::format("kernel {} entry {} sha256 {}\n", path, entry, sha256);
    for (const auto& [kind, name, value, entries, width, linked, span] : arguments) {
      text_ += fmt::format("argument {} linked {}", static_cast<int>(kind), linked);
      // By its name too: two memories of one kind are two.
      if (kind == FileKernel::Argument::Kind::Memory) add_memory(name);
      line("", kind == FileKernel::Argument::Kind::Value ? value : nullptr, entries, width);
    }
    text_ += "template";
    for (const auto& value : templates) keys_.add(value, text_ += ' ');
    text_ += '\n';
    for (const auto& [name, value] : defines) line("define " + name, value);
  }

  std::string text_;
  const Stage& stage_;
  const FormulaKeys::Meaning& file_;
  FormulaKeys keys_;
  std::set<std::string> sweeps_, open_, memories_;
  std::map<std::string, const Binding*> bindings_;
  std::map<std::string, std::string> known_;  ///< by let or derive: the hash of what it means
};

}  // namespace

std::string stage_text(const Stage& stage, const FormulaKeys::Meaning& file) { return StageText(stage, file).run(); }

}  // namespace gexp::compiler::passes
