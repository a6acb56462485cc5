// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/pending/queue.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <boost/graph/topological_sort.hpp>

namespace gexp::compiler::ir {

// Edges run from a node to what uses it: the direction in which data flows.
using Adjacency = boost::adjacency_list<boost::setS, boost::vecS, boost::bidirectionalS, Node>;

struct Graph::State {
  Adjacency graph;
};

const char* word(NodeKind kind) {
  switch (kind) {
    case NodeKind::Parameter: return "param";
    case NodeKind::Let: return "let";
    case NodeKind::Memory: return "memory";
    case NodeKind::Stage: return "stage";
    case NodeKind::Kernel: return "kernel";
    case NodeKind::Finding: return "find";
    case NodeKind::Expectation: return "expect";
  }
  return "";
}

Graph::Graph() : state_(std::make_unique<State>()) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

NodeId Graph::add(Node node) { return boost::add_vertex(std::move(node), state_->graph); }

void Graph::depends(NodeId to, NodeId from) { boost::add_edge(from, to, state_->graph); }

std::size_t Graph::size() const { return boost::num_vertices(state_->graph); }

const Node& Graph::node(NodeId id) const { return state_->graph[id]; }

std::vector<NodeId> Graph::inputs(NodeId id) const {
  std::vector<NodeId> found;
  for (auto [edge, end] = boost::in_edges(id, state_->graph); edge != end; ++edge) {
    found.push_back(boost::source(*edge, state_->graph));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<NodeId> Graph::users(NodeId id) const {
  std::vector<NodeId> found;
  for (auto [edge, end] = boost::out_edges(id, state_->graph); edge != end; ++edge) {
    found.push_back(boost::target(*edge, state_->graph));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<NodeId> Graph::order() const {
  // Boost's topological sort gives the reverse order and throws on a cycle; no exception may cross this file.
  std::vector<NodeId> reversed;
  try {
    boost::topological_sort(state_->graph, std::back_inserter(reversed));
  } catch (const boost::not_a_dag&) {
    return {};
  }
  // Stable: sort by depth (longest way from an input), then id.
  std::vector<std::size_t> depth(size(), 0);
  std::reverse(reversed.begin(), reversed.end());
  for (const auto id : reversed) {
    for (const auto input : inputs(id)) depth[id] = std::max(depth[id], depth[input] + 1);
  }
  std::sort(reversed.begin(), reversed.end(), [&](NodeId a, NodeId b) { return std::pair(depth[a], a) < std::pair(depth[b], b); });
  return reversed;
}

std::vector<bool> Graph::needed_by(const std::vector<NodeId>& roots) const {
  std::vector<boost::default_color_type> colours(size(), boost::white_color);
  auto colour_map = boost::make_iterator_property_map(colours.begin(), boost::get(boost::vertex_index, state_->graph));
  boost::queue<NodeId> queue;
  const auto backwards = boost::make_reverse_graph(state_->graph);
  for (const auto root : roots) {
    if (colours[root] == boost::white_color) {
      boost::breadth_first_visit(backwards, root, queue, boost::default_bfs_visitor(), colour_map);
    }
  }
  std::vector<bool> needed(size());
  for (NodeId id = 0; id < size(); ++id) needed[id] = colours[id] != boost::white_color;
  return needed;
}

std::string Graph::text() const {
  std::string text;
  for (NodeId id = 0; id < size(); ++id) {
    std::string from;
    for (const auto input : inputs(id)) from += fmt::format(" %{}", input);
    const auto& at = node(id);
    text += fmt::format("%{} {} {}{}{}\n", id, word(at.kind), at.name, from.empty() ? "" : " <-" + from,
                        at.detail.empty() ? "" : "  # " + at.detail);
  }
  return text;
}

namespace {

std::string quoted(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    if (c == '\n') safe += "\\n";
    else if (static_cast<unsigned char>(c) >= 0x20) safe += c;
  }
  return '"' + safe + '"';
}

const char* shape(NodeKind kind) {
  switch (kind) {
    case NodeKind::Stage: return "box";
    case NodeKind::Kernel: return "component";
    case NodeKind::Memory: return "cylinder";
    case NodeKind::Finding: return "ellipse";
    case NodeKind::Expectation: return "diamond";
    case NodeKind::Parameter:
    case NodeKind::Let: return "plaintext";
  }
  return "";
}

}  // namespace

std::string Graph::dot(const std::string& title) const {
  std::string text = fmt::format("digraph {} {{\n  rankdir=LR;\n", quoted(title));
  for (NodeId id = 0; id < size(); ++id) {
    const auto& at = node(id);
    text += fmt::format("  n{} [shape={} label={}{}];\n", id, shape(at.kind), quoted(fmt::format("{}\n{}", word(at.kind), at.name)),
                        at.detail.empty() ? "" : " tooltip=" + quoted(at.detail));
  }
  for (NodeId id = 0; id < size(); ++id) {
    for (const auto input : inputs(id)) text += fmt::format("  n{} -> n{};\n", input, id);
  }
  return text + "}\n";
}

}  // namespace gexp::compiler::ir
