// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/random_expression.h"

namespace gexp::differential {
namespace {

/// The operations on operands of a type whose results are of their type, or of int.
std::vector<Op> operations(Type type, bool same_type) {
  std::vector<Op> list;
#define X(name, operands, same) \
  if (same == same_type) list.push_back(Op::name);
  if (is_float(type)) {
    GEXP_FLOAT_OPERATIONS(X)
  } else {
    GEXP_INTEGER_OPERATIONS(X)
    if (type == Type::U32) { GEXP_WORD_OPERATIONS(X) }
  }
#undef X
  return list;
}

Node leaf_node(Kind kind, Type type, int index = 0) {
  Node node;
  node.kind = kind, node.type = type, node.index = index;
  return node;
}

Node parent(Kind kind, Type type, std::vector<Node> children, int index = 0) {
  Node node = leaf_node(kind, type, index);
  node.children = std::move(children);
  return node;
}

}  // namespace

Node literal(Type type, std::uint64_t value) {
  Node node = leaf_node(Kind::Literal, type);
  node.value = value;
  return node;
}

Node apply(Op op, Type operands, std::vector<Node> children) {
  Node node = parent(Kind::Apply, facts(op).same_type ? operands : Type::I32, std::move(children));
  node.op = op;
  return node;
}

void Expressions::use(int array, SharedUse how) {
  uses_.resize(p_.arrays.size(), SharedUse::Own);
  uses_[static_cast<std::size_t>(array)] = how;
}

bool Expressions::writable(int array) const {
  const auto a = static_cast<std::size_t>(array);
  const Space space = p_.arrays[a].space;
  return space == Space::Output || space == Space::Local || (space == Space::Shared && uses_[a] == SharedUse::Own);
}

int Expressions::open_loop() {
  loops_.push_back(static_cast<int>(p_.variables.size()));
  p_.variables.push_back({Type::I32, 0, true});
  return loops_.back();
}

std::uint8_t Expressions::width(int array) {
  const Array& a = p_.arrays[static_cast<std::size_t>(array)];
  const std::uint32_t most = std::min(4u, 16 / bytes(a.type));
  std::uint32_t width = chance(r_, 60) ? 1 : std::min(most, 1u << r_.below(3));
  while (a.count % width != 0 || a.pitch % width != 0 || a.offset % (width * bytes(a.type)) != 0) width /= 2;
  return static_cast<std::uint8_t>(width);
}

Node Expressions::index() {
  if (p_.apart && !loops_.empty() && chance(r_, 75)) return walk();
  return chance(r_, 50) ? leaf(Type::U32) : make(Type::U32, 2);
}

/// An index that moves with a loop: on by some elements, back, or with two loops at once.
Node Expressions::walk() {
  const auto counter = [&] { return parent(Kind::Cast, Type::U32, {leaf_node(Kind::Variable, Type::I32, pick(r_, loops_))}); };
  const auto number = [&](std::uint32_t below) { return literal(Type::U32, r_.below(below)); };
  Node at = counter();
  switch (r_.below(6)) {
    case 0: at = apply(Op::mul, Type::U32, {std::move(at), number(9)}); break;
    case 1: at = apply(Op::sub, Type::U32, {literal(Type::U32, 31 + r_.below(64)), std::move(at)}); break;  // never below 0: docs/decisions/two-compilers.md
    case 2: at = apply(Op::mad, Type::U32, {counter(), number(9), std::move(at)}); break;
    case 3: at = apply(Op::add, Type::U32, {leaf_node(Kind::Thread, Type::U32), std::move(at)}); break;
    default: break;
  }
  return chance(r_, 50) ? at : apply(Op::add, Type::U32, {std::move(at), number(8)});
}

Node Expressions::condition(int depth) {
  if (chance(r_, 20) && depth > 0) {
    const Kind kind = chance(r_, 50) ? Kind::Both : Kind::Either;
    return parent(kind, Type::I32, {condition(depth - 1), condition(depth - 1)});
  }
  const Type type = any_type();
  const std::vector<Op> ops = operations(type, false);
  return operation(pick(r_, ops), type, depth);
}

Node Expressions::operation(Op op, Type operands, int depth) {
  std::vector<Node> children;
  for (int i = 0; i < facts(op).operands; ++i) children.push_back(make(operands, depth - 1));
  return apply(op, operands, std::move(children));
}

Node Expressions::make(Type type, int depth) {
  if (depth <= 0 || chance(r_, 12)) return leaf(type);
  if (chance(r_, 8)) {
    return parent(Kind::Select, type, {condition(depth - 1), make(type, depth - 1), make(type, depth - 1)});
  }
  if (chance(r_, 8)) {
    if (auto made = element(type)) return *made;
  }
  if (chance(r_, 6)) {
    if (auto made = call(type, depth)) return *made;
  }
  if (chance(r_, 14)) return cast(type, depth);
  return is_float(type) ? floating(type, depth) : integer(type, depth);
}

Node Expressions::cast(Type type, int depth) {
  const Type from = any_type();
  return from == type ? make(type, depth - 1) : parent(Kind::Cast, type, {make(from, depth - 1)});
}

Node Expressions::integer(Type type, int depth) {
  if (bytes(type) >= 4 && chance(r_, 5)) {
    const auto rounding = static_cast<int>(r_.below(4));
    return parent(Kind::Convert, type, {make(chance(r_, 50) ? Type::F32 : Type::F64, depth - 1)}, rounding);
  }
  if (type == Type::U32 && chance(r_, 4)) return parent(Kind::ToBits, type, {make(Type::F32, depth - 1)});
  if (type == Type::U64 && chance(r_, 8)) return parent(Kind::ToBits, type, {make(Type::F64, depth - 1)});
  if (type == Type::I32 && chance(r_, 20)) return condition(depth - 1);
  if (type == Type::I32 && chance(r_, 15)) {  // used as numbers, unlike in conditions
    static const std::vector<Op> kCounts = {Op::popc, Op::clz, Op::ffs, Op::sign, Op::lnot};
    const Type operand = static_cast<Type>(r_.below(8));
    return operation(pick(r_, kCounts), operand, depth);
  }
  return operation(pick(r_, operations(type, true)), type, depth);
}

Node Expressions::floating(Type type, int depth) {
  if (chance(r_, 5)) return parent(Kind::FromBits, type, {make(type == Type::F32 ? Type::U32 : Type::U64, depth - 1)});
  const Op op = pick(r_, operations(type, true));
  // The library's remainder is a hundred instructions; few kernels need it.
  if (op == Op::fremainder && !chance(r_, 20)) return operation(Op::fmul, type, depth);
  return operation(op, type, depth);
}

Node Expressions::leaf(Type type) {
  if (chance(r_, 20)) return literal(type, random_value(r_, type));
  if (inside_) {
    for (std::size_t i = 0; i < inside_->parameters.size(); ++i) {
      const auto k = (i + r_.below(4)) % inside_->parameters.size();
      if (inside_->parameters[k] == type) return leaf_node(Kind::Argument, type, static_cast<int>(k));
    }
    return literal(type, random_value(r_, type));
  }
  if (chance(r_, 25)) {
    if (auto made = element(type)) return *made;
  }
  std::vector<Node> choices;
  for (int v = 0; v < static_cast<int>(p_.variables.size()); ++v) {
    const Variable& variable = p_.variables[static_cast<std::size_t>(v)];
    if (variable.type == type && !variable.counts) choices.push_back(leaf_node(Kind::Variable, type, v));
  }
  if (type == Type::I32) {
    for (const int v : loops_) choices.push_back(leaf_node(Kind::Variable, type, v));
  }
  if (type == Type::U32) {
    for (const Kind kind : {Kind::Thread, Kind::Thread, Kind::Block, Kind::Threads, Kind::Blocks, Kind::Parameter}) choices.push_back(leaf_node(kind, type));
  }
  if (type == Type::U64) choices.push_back(leaf_node(Kind::Parameter, type, 1));
  if (!choices.empty()) return pick(r_, choices);
  if (chance(r_, 30)) return literal(type, random_value(r_, type));
  return parent(Kind::Cast, type, {leaf_node(Kind::Thread, Type::U32)});
}

std::optional<Node> Expressions::element(Type type) {
  if (inside_) return std::nullopt;
  std::vector<int> choices;
  uses_.resize(p_.arrays.size(), SharedUse::Own);
  for (int a = 0; a < static_cast<int>(p_.arrays.size()); ++a) {
    const Array& array = p_.arrays[static_cast<std::size_t>(a)];
    if (array.type != type || array.space == Space::Counter) continue;
    if (array.space == Space::Shared && uses_[static_cast<std::size_t>(a)] == SharedUse::Updated) continue;
    choices.push_back(a);
  }
  if (choices.empty()) return std::nullopt;
  Node node = leaf_node(Kind::Element, type);
  node.array = pick(r_, choices);
  const Space space = p_.arrays[static_cast<std::size_t>(node.array)].space;
  node.own = writable(node.array);
  node.width = space == Space::Constant ? 1 : width(node.array);
  node.index = static_cast<int>(r_.below(node.width));
  node.children.push_back(p_.apart && !loops_.empty() && chance(r_, 80) ? walk()
                          : chance(r_, 40)   ? literal(Type::U32, r_.below(32))
                          : chance(r_, 50) ? leaf_node(Kind::Thread, Type::U32)
                                           : apply(Op::add, Type::U32, {leaf_node(Kind::Thread, Type::U32), leaf(Type::U32)}));
  if (node.width == 1 || chance(r_, 30)) return node;
  Node all = node;  // a load of which all is used stays one
  for (int i = 0; i < node.width; ++i) {
    if (i == node.index) continue;
    Node other = node;
    other.index = i;
    all = apply(is_float(type) ? Op::fsub : Op::bxor, type, {std::move(all), std::move(other)});
  }
  return all;
}

std::optional<Node> Expressions::call(Type type, int depth) {
  if (inside_) return std::nullopt;
  std::vector<int> choices;
  for (int f = 0; f < static_cast<int>(p_.functions.size()); ++f) {
    if (p_.functions[static_cast<std::size_t>(f)].result.type == type) choices.push_back(f);
  }
  if (choices.empty()) return std::nullopt;
  Node node = leaf_node(Kind::Call, type, pick(r_, choices));
  const std::vector<Type> parameters = p_.functions[static_cast<std::size_t>(node.index)].parameters;
  for (const Type parameter : parameters) node.children.push_back(make(parameter, depth - 2));
  return node;
}

void Expressions::add_function() {
  Function function;
  for (std::uint32_t n = 1 + r_.below(3); n > 0; --n) function.parameters.push_back(any_type());
  inside_ = &function;
  function.result = make(chance(r_, 60) ? function.parameters[0] : any_type(), 3);
  inside_ = nullptr;
  p_.functions.push_back(std::move(function));
}

}  // namespace gexp::differential
