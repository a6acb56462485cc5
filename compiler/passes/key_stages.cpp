// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "compiler/memory/memory_space.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/stage_text.h"
#include "lang/base/sha256.h"

namespace gexp::compiler::passes {
namespace {

std::string dotted(const std::vector<std::string>& path, std::size_t from = 0) {
  std::string text;
  for (auto i = from; i < path.size(); ++i) text += "." + path[i];
  return text;
}

/// A field of a used file's value, as deep as it holds any: editing one value of that file does not change what reads
/// another.
std::string field_key(const Value& value, const std::vector<std::string>& path) {
  const auto* at = &value;
  std::size_t depth = 0;
  while (depth < path.size()) {
    const auto* fields = at->get<Fields>();
    const auto found = fields ? fields->find(path[depth]) : Fields::const_iterator{};
    if (!fields || found == fields->end()) break;
    at = &found->second, ++depth;
  }
  return value_key(*at) + dotted(path, depth);
}

class Keys {
 public:
  explicit Keys(Ir& ir) : ir_(ir), keys_(ir.graph.size()) {}

  void run() {
    for (const auto id : ir_.graph.order()) {  // what a node is computed from comes before it
      const auto& node = ir_.graph.node(id);
      if (node.kind == ir::NodeKind::Let) keys_[id] = of_let(id, ir_.program.lets[node.index]);
      if (node.kind == ir::NodeKind::Memory) keys_[id] = of_memory(id, ir_.program.memories[node.index]);
      if (node.kind == ir::NodeKind::Stage) key_stage(id, ir_.program.stages[node.index]);
    }
  }

 private:
  /// What names mean to a node: its inputs in the graph. `reads`: of a stage, the findings that it turns out to read.
  FormulaKeys::Meaning meaning_for(ir::NodeId id, std::vector<StageInput>* reads) {
    std::map<std::string, ir::NodeId> inputs;
    for (const auto input : ir_.graph.inputs(id)) inputs[ir_.graph.node(input).name] = input;
    return [this, inputs = std::move(inputs), reads](const std::string& root, const std::vector<std::string>& path, std::string& text) {
      const auto input = inputs.find(root);
      if (input == inputs.end()) return false;
      const auto& node = ir_.graph.node(input->second);
      switch (node.kind) {
        case ir::NodeKind::Parameter:
          text += value_key(ir_.program.parameters[node.index].value) + dotted(path);
          return true;
        case ir::NodeKind::Let: {
          const auto& formula = *ir_.program.lets[node.index].formula;
          text += formula.kind == Formula::Kind::Constant ? field_key(formula.constant, path) : keys_[input->second] + dotted(path);
          return true;
        }
        case ir::NodeKind::Memory:
          text += keys_[input->second];
          return true;
        case ir::NodeKind::Stage:
          text += reads ? finding(*reads, {node.index, path.empty() ? "" : path[0]}) + dotted(path, 1) : root;
          return true;
        default:
          return false;
      }
    };
  }

  /// Findings are known when the stage runs; here they have a number.
  static std::string finding(std::vector<StageInput>& reads, const StageInput& wanted) {
    const auto found = std::find(reads.begin(), reads.end(), wanted);
    const auto number = found - reads.begin();
    if (found == reads.end()) reads.push_back(wanted);
    return fmt::format("finding#{}", number);
  }

  std::string of_let(ir::NodeId id, const Binding& let) {
    return sha256_hex(FormulaKeys(meaning_for(id, nullptr)).key(let.formula));
  }

  std::string of_memory(ir::NodeId id, const Memory& memory) {
    FormulaKeys keys(meaning_for(id, nullptr));
    // A new member must be thought of here.
    const auto& [name, element_bytes, element, length, space, page, align, pitch, holds, span] = memory;
    return sha256_hex(fmt::format("{} {} {} {} {} {} {} {}", element_bytes, element, space->word, keys.key(length), keys.key(page),
                                  keys.key(align), keys.key(pitch), keys.key(holds)));
  }

  void key_stage(ir::NodeId id, Stage& stage) {
    stage.reads.clear();
    stage.key = sha256_hex(stage_text(stage, meaning_for(id, &stage.reads)));
  }

  Ir& ir_;
  std::vector<std::string> keys_;  ///< by node
};

}  // namespace

// Two stages with one key measure the same, given the same findings, seed, device and toolchain. The key hashes what
// the graph says the stage is computed from, so an edit elsewhere in the file leaves it as it was.
void key_stages(Ir& ir, const Source&, Diagnostics&) { Keys(ir).run(); }

}  // namespace gexp::compiler::passes
