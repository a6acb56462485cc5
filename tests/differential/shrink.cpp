// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/shrink.h"

#include <algorithm>

// Every change keeps a program as well-defined as it was: indices stay masked, phases and their barriers stay, and atomic operations keep
// their kind. Candidates of one round are compiled together: a compilation costs more than a kernel.
namespace gexp::differential {
namespace {

constexpr std::size_t kRound = 24;

std::size_t size(const Node& node) {
  std::size_t sum = node.kind == Kind::Literal ? 0 : 1;
  for (const Node& child : node.children) sum += size(child);
  return sum;
}

bool is_expression(const Node& node) { return node.kind < Kind::Group; }
bool leaves_a_loop(const Node& node) {
  return node.kind == Kind::Break || node.kind == Kind::Continue || std::any_of(node.children.begin(), node.children.end(), leaves_a_loop);
}
bool names(const Node& node, int variable) {
  return (node.kind == Kind::Variable && node.index == variable) ||
         std::any_of(node.children.begin(), node.children.end(), [&](const Node& child) { return names(child, variable); });
}

/// What can stand in the place of a node, the smallest first.
std::vector<Node> replacements(const Node& node, bool fixed) {
  std::vector<Node> list;
  if (is_expression(node)) {
    if (node.kind == Kind::Literal && node.value <= 1) return list;
    for (const std::uint64_t value : {0, 1}) {
      Node literal;
      literal.type = node.type, literal.value = value;
      if (!fixed) list.push_back(literal);
    }
    for (const Node& child : node.children) {
      if (child.type == node.type) list.push_back(child);
      else if (!is_float(node.type) && !is_float(child.type) && node.kind != Kind::Cast && child.kind != Kind::Literal) {
        Node cast;
        cast.kind = Kind::Cast, cast.type = node.type, cast.children = {child};
        if (size(cast) < size(node)) list.push_back(cast);
      }
    }
  } else if (node.kind == Kind::If) {
    list = {node.children[1], node.children[2]};
  } else if (node.kind == Kind::Loop && !leaves_a_loop(node.children[1]) && !names(node.children[1], node.index)) {
    list = {node.children[1]};
  } else if (node.kind == Kind::Switch) {
    list.assign(node.children.begin() + 1, node.children.end());
  } else if (node.kind == Kind::Group) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      Node fewer = node;
      fewer.children.erase(fewer.children.begin() + static_cast<std::ptrdiff_t>(i));
      list.push_back(fewer);
      if (node.children[i].kind == Kind::Group) {
        fewer = node;
        fewer.children.erase(fewer.children.begin() + static_cast<std::ptrdiff_t>(i));
        fewer.children.insert(fewer.children.begin() + static_cast<std::ptrdiff_t>(i), node.children[i].children.begin(), node.children[i].children.end());
        list.push_back(fewer);
      }
    }
  }
  return list;
}

/// All programs that differ from one in one place.
class Candidates {
 public:
  explicit Candidates(const Program& program) : program_(program) {
    for (Node& phase : program_.phases) visit(phase, false);
    for (Function& function : program_.functions) visit(function.result, false);
  }
  std::vector<Program> take() { return std::move(list_); }

 private:
  void visit(Node& node, bool fixed) {
    const Node before = node;
    for (Node& other : replacements(before, fixed)) {
      node = std::move(other);
      list_.push_back(program_);
    }
    node = before;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      // An exchange by many threads gives one result only while they all bring the same constant.
      visit(node.children[i], node.kind == Kind::Update && i == 1 && !node.own && node.children[i].kind == Kind::Literal);
    }
  }

  Program program_;
  std::vector<Program> list_;
};

}  // namespace

Program shrink(Program program, const StillFails& still_fails) {
  bool smaller = true;
  while (smaller) {
    smaller = false;
    std::vector<Program> all = Candidates(program).take();
    for (std::size_t from = 0; from < all.size() && !smaller; from += kRound) {
      std::vector<Program> round(std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(from)),
                                 std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), from + kRound))));
      for (std::size_t i = 0; i < round.size(); ++i) round[i].number = i;  // names of its own in the common text
      const std::vector<bool> fails = still_fails(round);
      const auto first = std::find(fails.begin(), fails.end(), true);
      if (first == fails.end()) continue;
      program = std::move(round[static_cast<std::size_t>(first - fails.begin())]);
      program.number = program.seed;
      smaller = true;
    }
  }
  return program;
}

}  // namespace gexp::differential
