// SPDX-License-Identifier: Apache-2.0
#include "compiler/mutate/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace gexp::compiler::mutate_parts {
namespace {

using namespace lang;

/// Calls `see` for every part of an expression, outer ones first; it says whether to go into it.
void visit(const Expr& expression, const std::function<bool(const Expr&)>& see) {
  if (!see(expression)) return;
  const auto part = [&](const ExprPtr& of) {
    if (of) visit(*of, see);
  };
  const auto& node = expression.node;
  if (const auto* member = std::get_if<Member>(&node)) part(member->of);
  if (const auto* list = std::get_if<ListOf>(&node)) {
    for (const auto& item : list->items) part(item);
  }
  if (const auto* unary = std::get_if<Unary>(&node)) part(unary->operand);
  if (const auto* binary = std::get_if<Binary>(&node)) part(binary->left), part(binary->right);
  if (const auto* within = std::get_if<Within>(&node))
    part(within->value), part(within->tolerance), part(within->target);
  if (const auto* range = std::get_if<InRange>(&node)) part(range->value), part(range->low), part(range->high);
  if (const auto* comprehension = std::get_if<Comprehension>(&node)) {
    part(comprehension->item);
    for (const auto& loop : comprehension->loops) part(loop.from), part(loop.to), part(loop.step);
  }
  if (const auto* call = std::get_if<Call>(&node)) {
    for (const auto& argument : call->arguments) part(argument.value), part(argument.over), part(argument.where);
  }
}

bool is_name(const Expr& expression, const std::string& name) {
  const auto* found = std::get_if<Name>(&expression.node);
  return found && found->text == name;
}

/// The load paths of a body's operations.
void vias(const std::vector<Op>& body, std::vector<const Word*>& into) {
  for (const auto& op : body) {
    if (op.via) into.push_back(&*op.via);
    vias(op.body, into);
    vias(op.otherwise, into);
  }
}

/// A kernel of a file loads by the paths that its own text names.
bool launches_kernel(const std::vector<Op>& body) {
  return std::any_of(body.begin(), body.end(), [](const Op& op) { return op.kind == Op::Kind::Kernel; });
}

}  // namespace

std::string stage_name(const std::string& stage) { return stage.empty() ? "" : fmt::format("stage {}: ", stage); }

std::vector<const Expr*> strides(const Expr& pattern) {
  std::vector<const Expr*> found;
  std::set<std::string> loops;
  visit(pattern, [&](const Expr& part) {
    if (const auto* call = std::get_if<Call>(&part.node)) {
      for (const auto& argument : call->arguments) {
        if (argument.label && argument.label->text == "stride") found.push_back(argument.value.get());
      }
    }
    if (const auto* comprehension = std::get_if<Comprehension>(&part.node)) {
      for (const auto& loop : comprehension->loops) loops.insert(loop.name.text);
    }
    const auto* product = std::get_if<Binary>(&part.node);
    if (product && product->op == BinaryOp::Multiply) {
      const auto* left = std::get_if<Name>(&product->left->node);
      if (left && loops.count(left->text) > 0) found.push_back(product->right.get());
    }
    return true;
  });
  return found;
}

void sizes(const Expr& pattern, const std::string& name, std::vector<Span>& into) {
  visit(pattern, [&](const Expr& part) {
    const auto* call = std::get_if<Call>(&part.node);
    if (call && call->callee.text == "shuffle") {
      sizes(*call->arguments[0].value, name, into);
      return false;
    }
    if (is_name(part, name)) into.push_back(part.span);
    return true;
  });
}

std::vector<std::pair<std::string, bool>> selections(const Source& source, const Sweep& sweep) {
  std::vector<std::pair<std::string, bool>> found;
  const auto& name = sweep.names[0].text;
  const auto& domain = sweep.domain;
  const auto text = [&](const Expr& of) { return std::string(source.slice(of.span)); };
  if (sweep.names.size() != 1) return found;
  if (domain.list) {
    const auto* list = std::get_if<ListOf>(&domain.list->node);
    if (!list || list->items.empty()) return found;
    for (const auto& item : {list->items.front().get(), list->items.back().get()})
      found.push_back({fmt::format("{} == {}", name, text(*item)), false});
    return found;
  }
  const auto from = text(*domain.from), to = text(*domain.to);
  found.push_back({fmt::format("{} > {}", name, from), false});
  found.push_back({fmt::format("{} == {}", name, from), false});
  found.push_back({fmt::format("{} <= ({}) div 2", name, to), false});
  if (domain.by == Domain::By::One) found.push_back({fmt::format("{} mod 2 == 0", name), false});
  found.push_back({fmt::format("{} < {}", name, from), true});
  return found;
}

std::vector<Mutation> other_paths(const File& file) {
  std::vector<const Word*> loads;
  std::vector<const Word*> expected;
  static const std::set<std::string> kPaths{
      "ca", "nc", "tex"};  // whose first cache is the multiprocessor's own, empty when a kernel starts
  for (const auto& statement : file.statements) {
    if (const auto* expect = std::get_if<Expect>(&statement.node)) {
      visit(*expect->condition, [&](const Expr& part) {
        const auto* member = std::get_if<Member>(&part.node);
        if (member && is_name(*member->of, "model")) expected.push_back(&member->field);
        return true;
      });
    }
    const auto* stage = std::get_if<Stage>(&statement.node);
    for (std::size_t i = 0; stage && i < stage->items.size(); ++i) {
      if (const auto* warm = std::get_if<Warm>(&stage->items[i].node)) vias(warm->body, loads);
      const auto* timed = std::get_if<Timed>(&stage->items[i].node);
      if (timed && launches_kernel(timed->body)) return {};
      if (timed) vias(timed->body, loads);
    }
  }
  std::vector<Mutation> found;
  if (loads.empty() || expected.empty()) return found;
  const auto path = expected[0]->text;
  const auto other = [&](const Word* word) { return word->text != path; };
  if (kPaths.count(path) == 0 || std::any_of(loads.begin(), loads.end(), other) ||
      std::any_of(expected.begin(), expected.end(), other))
    return found;
  for (const auto& instead : kPaths) {
    if (instead == path) continue;
    Mutation mutation{"path", fmt::format("all loads by `{}` instead of `{}`", instead, path), {}, {}};
    for (const auto* word : loads) mutation.edits.push_back({word->span, instead});
    for (const auto* word : expected) mutation.edits.push_back({word->span, instead});
    std::sort(mutation.edits.begin(), mutation.edits.end(),
              [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
    found.push_back(std::move(mutation));
  }
  return found;
}

}  // namespace gexp::compiler::mutate_parts
