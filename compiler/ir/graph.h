// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

/// The IR graph: what an experiment is made of and what each thing is computed from. Boost.Graph lives behind this facade
/// (graph.cpp alone includes it).
namespace gexp::compiler::ir {

enum class NodeKind { Parameter, Let, Memory, Stage, Kernel, Finding, Expectation };
const char* word(NodeKind kind);

using NodeId = std::size_t;

struct Node {
  NodeKind kind;
  std::string name;    ///< "limit", "capacity", "capacity.C"
  std::size_t index;   ///< into the program's list of this kind (Stage: program.stages; else for reference only)
  std::string detail;  ///< one line for `emit --ir`
};

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  NodeId add(Node node);
  /// `to` is computed from `from`. Repetitions are dropped.
  void depends(NodeId to, NodeId from);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] const Node& node(NodeId id) const;
  /// What a node is computed from, in the order of ids.
  [[nodiscard]] std::vector<NodeId> inputs(NodeId id) const;
  /// What is computed from a node.
  [[nodiscard]] std::vector<NodeId> users(NodeId id) const;
  /// An order in which every node follows its inputs, stable in ids; empty when there is a cycle.
  [[nodiscard]] std::vector<NodeId> order() const;
  /// Everything that can be reached backwards from `roots`: what they need, themselves included.
  [[nodiscard]] std::vector<bool> needed_by(const std::vector<NodeId>& roots) const;

  /// One line a node: `%3 stage capacity <- %0 %2  …`.
  [[nodiscard]] std::string text() const;

  /// For Graphviz: data flows along the arrows. Any name and detail is safe in it.
  [[nodiscard]] std::string dot(const std::string& title) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gexp::compiler::ir
