// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/evaluate.h"

#include <cstring>

#include "lang/base/result.h"
#include "tests/differential/host_operations.h"
#include "tests/differential/native.h"

namespace gexp::differential {
namespace {

enum class Flow { Next, Break, Continue, Return };

struct ThreadState {
  std::uint32_t index = 0;
  bool done = false;
  std::vector<std::uint64_t> variables;
  std::vector<std::vector<std::byte>> local;  ///< by array
};

class Evaluator {
 public:
  Evaluator(const Program& program, Memory& memory) : p_(program), memory_(memory) {}
  void run();

 private:
  std::uint64_t value(const Node& node);
  std::uint64_t apply(const Node& node);
  std::byte* element(const Node& node);
  Flow group(const Node& node);
  Flow statement(const Node& node);
  Flow loop(const Node& node);
  Flow switch_statement(const Node& node);
  void update(const Node& node);
  void start_block();
  std::uint64_t place() const { return std::uint64_t{block_} * p_.block + t_->index; }
  std::uint64_t& variable(int index) { return t_->variables[static_cast<std::size_t>(index)]; }

  const Program& p_;
  Memory& memory_;
  std::uint32_t block_ = 0;
  std::vector<ThreadState> threads_;
  std::vector<std::vector<std::byte>> shared_;  ///< by array
  ThreadState* t_ = nullptr;
  const std::vector<std::uint64_t>* arguments_ = nullptr;
};

std::byte* Evaluator::element(const Node& node) {
  const auto a = static_cast<std::size_t>(node.array);
  const Array& array = p_.arrays[a];
  const std::uint32_t size = bytes(array.type) * node.width;
  const bool whole = array.space == Space::Shared && !node.own;
  const std::uint32_t count = array.count * (whole ? p_.most_block : 1) / node.width;
  const std::uint64_t at = (value(node.children[0]) & (count - 1)) * size;
  const std::uint64_t part = std::uint64_t{bytes(array.type)} * array.count;
  switch (array.space) {
    case Space::Input: return memory_.input.data() + array.offset + at;
    case Space::Output: return memory_.output.data() + array.offset + place() * array.pitch * bytes(array.type) + at;
    case Space::Counter: return memory_.counters.data() + array.offset + at;
    case Space::Shared: return shared_[a].data() + (node.own ? t_->index * part : 0) + at;
    default: return t_->local[a].data() + at;  // constants too
  }
}

std::uint64_t Evaluator::apply(const Node& node) {
  std::uint64_t operands[3] = {};
  for (std::size_t i = 0; i < node.children.size(); ++i) operands[i] = value(node.children[i]);
  const auto [a, b, c] = operands;
  return with_type(node.children[0].type, [&, a = a, b = b, c = c](auto zero) -> std::uint64_t {
    using T = decltype(zero);
    const T x = native<T>(a);
    [[maybe_unused]] const T y = native<T>(b), z = native<T>(c);
    const auto call = [&](auto function, auto operand_count) {
      if constexpr (decltype(operand_count)::value == 1) return bits_of(function(x));
      else if constexpr (decltype(operand_count)::value == 2) return bits_of(function(x, y));
      else return bits_of(function(x, y, z));
    };
#define X(name, operands, same) \
    case Op::name: return call([](auto... v) { return ops::name(v...); }, std::integral_constant<int, operands>());
    if constexpr (std::is_floating_point_v<T>) {
      switch (node.op) { GEXP_FLOAT_OPERATIONS(X) default: break; }
    } else {
      switch (node.op) { GEXP_INTEGER_OPERATIONS(X) default: break; }
      if constexpr (std::is_same_v<T, std::uint32_t>) {
        switch (node.op) { GEXP_WORD_OPERATIONS(X) default: break; }
      }
    }
#undef X
    GEXP_CHECK(!"an operation of another type");
    return 0;
  });
}

std::uint64_t Evaluator::value(const Node& node) {
  const auto child = [&](std::size_t i) { return value(node.children[i]); };
  switch (node.kind) {
    case Kind::Literal: return node.value;
    case Kind::Variable: return variable(node.index);
    case Kind::Argument: return (*arguments_)[static_cast<std::size_t>(node.index)];
    case Kind::Thread: return t_->index;
    case Kind::Block: return block_;
    case Kind::Threads: return p_.block;
    case Kind::Blocks: return p_.grid;
    case Kind::Parameter: return node.index == 0 ? p_.parameter32 : p_.parameter64;
    case Kind::Apply: return apply(node);
    case Kind::Cast: return cast(child(0), node.children[0].type, node.type);
    case Kind::Convert: return convert(child(0), node.children[0].type, node.type, node.index);
    case Kind::ToBits:
      return node.type == Type::U32 ? ops::bits_of_float(native<float>(child(0))) : ops::bits_of_double(native<double>(child(0)));
    case Kind::FromBits: return child(0);
    case Kind::Select: return child(0) != 0 ? child(1) : child(2);
    case Kind::Both: return child(0) != 0 && child(1) != 0;
    case Kind::Either: return child(0) != 0 || child(1) != 0;
    case Kind::Element: {
      std::uint64_t result = 0;
      std::memcpy(&result, element(node) + static_cast<std::size_t>(node.index) * bytes(node.type), bytes(node.type));
      return result;
    }
    case Kind::Call: {
      std::vector<std::uint64_t> arguments;
      for (const Node& n : node.children) arguments.push_back(value(n));
      const auto* const outer = std::exchange(arguments_, &arguments);
      const std::uint64_t result = value(p_.functions[static_cast<std::size_t>(node.index)].result);
      arguments_ = outer;
      return result;
    }
    default: break;
  }
  GEXP_CHECK(!"a statement where an expression belongs");
  return 0;
}

Flow Evaluator::group(const Node& node) {
  for (const Node& child : node.children) {
    if (const Flow flow = statement(child); flow != Flow::Next) return flow;
  }
  return Flow::Next;
}

Flow Evaluator::statement(const Node& node) {
  switch (node.kind) {
    case Kind::Group: return group(node);
    case Kind::Assign: variable(node.index) = value(node.children[0]); return Flow::Next;
    case Kind::Store: {
      const std::uint32_t size = bytes(p_.arrays[static_cast<std::size_t>(node.array)].type);
      std::uint64_t values[4] = {};
      for (std::size_t i = 0; i < node.width; ++i) values[i] = value(node.children[i + 1]);
      std::byte* const at = element(node);
      for (std::size_t i = 0; i < node.width; ++i) std::memcpy(at + i * size, &values[i], size);
      return Flow::Next;
    }
    case Kind::Update: update(node); return Flow::Next;
    case Kind::If: return group(node.children[value(node.children[0]) != 0 ? 1 : 2]);
    case Kind::Loop: return loop(node);
    case Kind::Switch: return switch_statement(node);
    case Kind::Keep:
      std::memcpy(memory_.output.data() + p_.results + (place() * p_.variables.size() + static_cast<std::size_t>(node.index)) * 8, &variable(node.index),
                  bytes(p_.variables[static_cast<std::size_t>(node.index)].type));
      return Flow::Next;
    case Kind::Fence: return Flow::Next;
    case Kind::Return: return Flow::Return;
    case Kind::Break: return Flow::Break;
    case Kind::Continue: return Flow::Continue;
    default: value(node); return Flow::Next;
  }
}

Flow Evaluator::loop(const Node& node) {
  const std::uint64_t trips = value(node.children[0]) & node.value;
  for (std::uint64_t i = 0; i < trips; ++i) {
    variable(node.index) = i;
    const Flow flow = group(node.children[1]);
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) break;
  }
  return Flow::Next;
}

Flow Evaluator::switch_statement(const Node& node) {
  const std::size_t cases = node.children.size() - 2;  // the last is the default
  const std::uint64_t selector = value(node.children[0]);
  for (std::size_t i = selector < cases ? static_cast<std::size_t>(selector) : cases; i <= cases; ++i) {
    if (const Flow flow = group(node.children[i + 1]); flow != Flow::Next) return flow;
    if (!(node.value >> i & 1)) break;
  }
  return Flow::Next;
}

void Evaluator::update(const Node& node) {
  const Type type = p_.arrays[static_cast<std::size_t>(node.array)].type;
  std::byte* const at = element(node);
  const std::uint64_t operand = value(node.children[1]);
  with_type(type, [&](auto zero) -> std::uint64_t {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      T now, old = 0;
      std::memcpy(&now, at, sizeof now);
      switch (node.atomic) {
#define X(name) case AtomicOp::name: old = ops::name(&now, native<T>(operand)); break;
        GEXP_ATOMIC_OPERATIONS(X)
#undef X
      }
      std::memcpy(at, &now, sizeof now);
      if (node.index >= 0) variable(node.index) = bits_of(old);
    }
    return 0;
  });
}

void Evaluator::start_block() {
  const auto fill = [](std::vector<std::byte>& to, Type type, std::size_t count, auto value_at) {
    to.assign(count * bytes(type), {});
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t v = value_at(i);
      std::memcpy(to.data() + i * bytes(type), &v, bytes(type));
    }
  };
  threads_.assign(p_.block, {});
  shared_.assign(p_.arrays.size(), {});
  for (std::size_t a = 0; a < p_.arrays.size(); ++a) {
    const Array& array = p_.arrays[a];
    if (array.space == Space::Shared)
      fill(shared_[a], array.type, std::size_t{array.count} * p_.most_block, [&](std::size_t i) { return cast(static_cast<std::uint32_t>(i * 37), Type::U32, array.type); });
  }
  for (std::uint32_t i = 0; i < p_.block; ++i) {
    ThreadState& thread = threads_[i];
    thread.index = i;
    for (const Variable& v : p_.variables) thread.variables.push_back(v.initial);
    thread.local.resize(p_.arrays.size());
    for (std::size_t a = 0; a < p_.arrays.size(); ++a) {
      const Array& array = p_.arrays[a];
      if (!array.initial.empty()) fill(thread.local[a], array.type, array.count, [&](std::size_t k) { return array.initial[k]; });
    }
  }
}

void Evaluator::run() {
  for (block_ = 0; block_ < p_.grid; ++block_) {
    start_block();
    for (std::uint32_t round = 0; round < p_.rounds; ++round) {
      for (const Node& phase : p_.phases) {
        for (ThreadState& thread : threads_) {
          t_ = &thread;
          if (!thread.done) thread.done = group(phase) == Flow::Return;
        }
      }
    }
  }
}

}  // namespace

void evaluate(const Program& program, Memory& memory) { Evaluator(program, memory).run(); }

}  // namespace gexp::differential
