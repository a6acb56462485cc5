// SPDX-License-Identifier: Apache-2.0
#include "ptx/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <map>

#include "lang/base/budget.h"

namespace gexp::ptx {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

std::string_view first_word(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

bool ends_block(const Item& item) {
  const auto* s = item.statement();
  if (!s) return false;
  const auto word = first_word(s->opcode.text);
  return word == "bra" || word == "brx" || word == "ret" || word == "exit" || word == "trap";
}

/// Where the blocks begin and end, and which begins at a label.
struct Cuts {
  std::vector<Block> blocks;
  std::map<std::string_view, std::size_t> labels;
  std::map<std::string_view, const BranchTargets*> tables;
};

Cuts cut(const Function& f) {
  Cuts made;
  made.blocks.emplace_back();
  const auto begin_at = [&](std::size_t i) {
    made.blocks.back().end = i;
    made.blocks.emplace_back();
    made.blocks.back().begin = i;
  };
  bool only_labels = false, ended = false;
  for (std::size_t i = 0; i < f.body.size(); ++i) {
    const auto* label = std::get_if<Label>(&f.body[i].what);
    if (ended || (label && !only_labels && i > 0)) begin_at(i);
    only_labels = label != nullptr;
    ended = ends_block(f.body[i]);
    if (label) made.labels.try_emplace(label->name, made.blocks.size() - 1);
    if (const auto* table = std::get_if<BranchTargets>(&f.body[i].what)) made.tables.try_emplace(table->name, table);
  }
  made.blocks.back().end = f.body.size();
  return made;
}

std::optional<Diagnostic> connect(const Function& f, Cuts& cuts) {
  for (std::size_t b = 0; b < cuts.blocks.size(); ++b) {
    Block& block = cuts.blocks[b];
    const auto go_to = [&](const Token& label) {
      const auto place = cuts.labels.find(label.text);
      if (place == cuts.labels.end()) return false;
      block.to.push_back(place->second);
      return true;
    };
    const auto* s = block.end > block.begin ? f.body[block.end - 1].statement() : nullptr;
    const auto word = s ? first_word(s->opcode.text) : std::string_view();
    const bool leaves = s && ends_block(f.body[block.end - 1]);
    if (word == "bra" && !s->operands.empty() && !go_to(s->operands.front().token))
      return ptx_error(s->opcode.line, fmt::format("no label '{}' to branch to", s->operands.front().token.text));
    if (word == "brx" && !s->operands.empty()) {
      const auto table = cuts.tables.find(s->operands.back().token.text);
      if (table == cuts.tables.end())
        return ptx_error(s->opcode.line, fmt::format("no table '{}' of branch targets", s->operands.back().token.text));
      for (const Token& label : table->second->labels) {
        if (!go_to(label)) return ptx_error(label.line, fmt::format("no label '{}' to branch to", label.text));
      }
    }
    block.falls = b + 1 < cuts.blocks.size() && (!leaves || s->guard.has_value());
    if (block.falls) block.to.push_back(b + 1);
  }
  return std::nullopt;
}

/// When a walk over the dominator tree enters and leaves each block: what a block dominates lies between.
class Nesting {
 public:
  explicit Nesting(const std::vector<std::optional<std::size_t>>& dominators) : enter_(dominators.size()), leave_(dominators.size()) {
    std::vector<std::vector<std::size_t>> below(dominators.size());
    for (std::size_t b = 0; b < dominators.size(); ++b) {
      if (dominators[b]) below[*dominators[b]].push_back(b);
    }
    std::size_t time = 0;
    std::vector<std::size_t> path{0};
    while (!path.empty()) {
      const std::size_t b = path.back();
      if (enter_[b] == 0) enter_[b] = ++time;
      if (below[b].empty()) {
        leave_[b] = time;
        path.pop_back();
      } else {
        path.push_back(below[b].back());
        below[b].pop_back();
      }
    }
  }
  [[nodiscard]] bool dominates(std::size_t above, std::size_t block) const {
    return enter_[above] <= enter_[block] && enter_[block] <= leave_[above];
  }

 private:
  std::vector<std::size_t> enter_, leave_;
};

/// The loops, the larger ones first, so that an outer one stands before those in it.
bool find_loops(const Graph& graph, Flow& flow) {
  const Nesting nesting(flow.dominators);
  std::map<std::size_t, std::vector<std::size_t>> tails;  // of back edges, by header
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    for (const std::size_t to : flow.blocks[b].to) {
      if (!Budget::spend(1)) return false;
      if (flow.reachable(b) && nesting.dominates(to, b)) tails[to].push_back(b);
    }
  }
  for (auto& [header, waiting] : tails) {
    if (!Budget::spend(static_cast<std::int64_t>(flow.blocks.size()) / 8 + 1)) return false;
    std::vector<bool> inside(flow.blocks.size());
    inside[header] = true;
    while (!waiting.empty()) {
      const std::size_t b = waiting.back();
      waiting.pop_back();
      if (!Budget::spend(1)) return false;
      if (inside[b]) continue;
      inside[b] = true;
      for (auto [edge, end] = boost::in_edges(b, graph); edge != end; ++edge) {
        if (flow.reachable(boost::source(*edge, graph))) waiting.push_back(boost::source(*edge, graph));
      }
    }
    Loop loop{header, {}, {}};
    for (std::size_t b = 0; b < inside.size(); ++b) {
      if (inside[b]) loop.blocks.push_back(b);
    }
    flow.loops.push_back(std::move(loop));
  }
  std::stable_sort(flow.loops.begin(), flow.loops.end(), [](const Loop& a, const Loop& b) { return a.blocks.size() > b.blocks.size(); });
  for (std::size_t inner = 0; inner < flow.loops.size(); ++inner) {
    for (std::size_t outer = 0; outer < inner; ++outer) {
      if (!Budget::spend(1)) return false;
      if (flow.loops[outer].has(flow.loops[inner].header)) flow.loops[inner].outer = outer;
    }
  }
  return true;
}

}  // namespace

bool Loop::has(std::size_t block) const { return std::binary_search(blocks.begin(), blocks.end(), block); }

Result<Flow> flow_of(const Function& function) {
  Cuts cuts = cut(function);
  if (auto wrong = connect(function, cuts)) return std::move(*wrong);
  Flow flow;
  flow.blocks = std::move(cuts.blocks);
  Graph graph(flow.blocks.size());
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    for (const std::size_t to : flow.blocks[b].to) boost::add_edge(b, to, graph);
  }
  const auto none = boost::graph_traits<Graph>::null_vertex();
  std::vector<Graph::vertex_descriptor> above(flow.blocks.size(), none);
  boost::lengauer_tarjan_dominator_tree(graph, 0, boost::make_iterator_property_map(above.begin(), boost::get(boost::vertex_index, graph)));
  for (const auto block : above) flow.dominators.push_back(block == none ? std::nullopt : std::optional<std::size_t>(block));
  if (!find_loops(graph, flow)) return Budget::exceeded({});
  return flow;
}

}  // namespace gexp::ptx
