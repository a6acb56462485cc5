// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/generate.h"

#include <algorithm>
#include <cstring>

#include "tests/differential/random_expression.h"

// A thread writes only what is its own, or what all threads write by atomic operations of one commuting kind and nobody reads before
// the next barrier. So every order of the threads gives the same memory, and the host's is one of them.
namespace gexp::differential {
namespace {

/// Atomic operations by many threads on one array: they must commute, so it is one operation, and for some one operand too.
struct Contention {
  AtomicOp op;
  bool fixed_operand;
  std::uint64_t operand;
};

class Generator {
 public:
  Generator(std::uint64_t seed, const Limits& limits) : r_(seed), expressions_(r_, p_) {
    p_.seed = p_.number = seed;
    p_.most_block = limits.block;
    p_.block = chance(r_, 50) ? limits.block : 1 + r_.below(limits.block);
    p_.grid = 1 + r_.below(limits.grid);
    p_.apart = limits.walks;
  }
  Program run();

 private:
  Type any_type() { return static_cast<Type>(r_.below(kTypes)); }
  Type atomic_type() { return static_cast<Type>(4 + r_.below(4)); }
  void add_arrays();
  void add_walked_arrays();
  void add_array(Space space, Type type, std::uint32_t count);
  Contention contention(Type type);
  Node group(int depth, int loops, bool can_break, std::uint32_t most);
  Node statement(int depth, int loops, bool can_break);
  Node loop(int depth, int loops);
  Node store();
  std::optional<Node> update();
  Node keep(int variable);

  Random r_;
  Program p_;
  Expressions expressions_;
  std::vector<std::optional<Contention>> contended_;  ///< by array
  bool last_phase_ = false;
};

void Generator::add_array(Space space, Type type, std::uint32_t count) {
  Array array{space, type, count, count, 0};
  std::uint64_t* total = nullptr;
  if (space == Space::Input) total = &p_.input_bytes;
  if (space == Space::Output) total = &p_.output_bytes;
  if (space == Space::Counter) total = &p_.counter_bytes;
  if (total) {
    std::uint64_t before = 0;
    if (p_.apart) {  // parts of threads begin anywhere in a line, and end there
      before = chance(r_, 50) ? r_.below(8) * bytes(type) : 0;
      array.pitch += chance(r_, 50) ? r_.below(4) : 0;
      array.piece = p_.pieces.size();
    }
    array.offset = *total + before;
    const std::uint64_t size = before + std::uint64_t{array.pitch} * bytes(type) * (space == Space::Output ? p_.threads() : 1);
    if (p_.apart) p_.pieces.push_back({space, *total, size});
    *total += (size + 15) / 16 * 16;
  } else if (space != Space::Shared) {
    while (array.initial.size() < count) {
      const std::uint64_t value = random_value(r_, type);
      if (is_finite(type, value)) array.initial.push_back(value);  // CUDA has no constant expression for the others
    }
  }
  p_.arrays.push_back(std::move(array));
}

void Generator::add_arrays() {
  const auto count_of = [&](Type type) { return 16 / bytes(type) << r_.below(2); };  // whole 16-byte vectors
  for (std::uint32_t n = 4 + r_.below(5); n > 0; --n) add_array(Space::Input, any_type(), 32);
  for (std::uint32_t n = 1 + r_.below(3); n > 0; --n) {
    const Type type = any_type();
    add_array(Space::Output, type, count_of(type));
  }
  for (std::uint32_t n = r_.below(3); n > 0; --n) add_array(Space::Counter, atomic_type(), 8);
  for (std::uint32_t n = r_.below(2); n > 0; --n) add_array(Space::Constant, any_type(), 16);
  for (std::uint32_t n = r_.below(2); n > 0; --n) {
    const Type type = any_type();
    add_array(Space::Local, type, std::max(8u, count_of(type)));
  }
  for (std::uint32_t n = r_.below(3); n > 0; --n) {
    const Type type = chance(r_, 50) ? atomic_type() : any_type();
    add_array(Space::Shared, type, count_of(type));
  }
}

/// Few arrays, so that loops come back to them; some of them are bytes of another one too.
void Generator::add_walked_arrays() {
  for (std::uint32_t n = 1 + r_.below(3); n > 0; --n) add_array(Space::Input, any_type(), 16 << r_.below(4));
  for (std::uint32_t n = 1 + r_.below(4); n > 0; --n) {
    const Type type = any_type();
    add_array(Space::Output, type, std::max(1u, (8u << r_.below(5)) / bytes(type)));
    if (is_float(type) || chance(r_, 60)) continue;  // bytes of a NaN may be any
    Array again = p_.arrays.back();
    again.type = Type::U8, again.count *= bytes(type), again.pitch *= bytes(type);
    p_.arrays.push_back(std::move(again));
  }
  for (std::uint32_t n = r_.below(2); n > 0; --n) add_array(Space::Counter, atomic_type(), 8);
  for (std::uint32_t n = r_.below(2); n > 0; --n) {
    const Type type = atomic_type();
    add_array(Space::Shared, type, 16 / bytes(type));
  }
}

Contention Generator::contention(Type type) {
  const std::uint32_t ops = type == Type::U32 ? 10 : 8;  // only 32 unsigned bits have inc and dec
  const auto op = static_cast<AtomicOp>(r_.below(ops));
  return {op, op == AtomicOp::atomic_exch || op == AtomicOp::atomic_inc || op == AtomicOp::atomic_dec, random_value(r_, type)};
}

Node Generator::store() {
  std::vector<int> choices;
  for (int a = 0; a < static_cast<int>(p_.arrays.size()); ++a) {
    if (expressions_.writable(a)) choices.push_back(a);
  }
  Node node;
  node.kind = Kind::Store;
  node.array = pick(r_, choices);  // there is an Output array
  const Type type = p_.arrays[static_cast<std::size_t>(node.array)].type;
  node.own = true;
  node.width = expressions_.width(node.array);
  node.children.push_back(expressions_.index());
  for (int i = 0; i < node.width; ++i) node.children.push_back(expressions_.make(type, 2));
  return node;
}

std::optional<Node> Generator::update() {
  std::vector<int> choices;
  for (int a = 0; a < static_cast<int>(p_.arrays.size()); ++a) {
    const Array& array = p_.arrays[static_cast<std::size_t>(a)];
    const bool own = expressions_.writable(a) && array.space != Space::Local && !is_float(array.type) && bytes(array.type) >= 4;
    if (own || contended_[static_cast<std::size_t>(a)]) choices.push_back(a);
  }
  if (choices.empty()) return std::nullopt;
  Node node;
  node.kind = Kind::Update;
  node.array = pick(r_, choices);
  node.index = -1;
  const Type type = p_.arrays[static_cast<std::size_t>(node.array)].type;
  node.children.push_back(expressions_.index());
  if (const auto& all = contended_[static_cast<std::size_t>(node.array)]) {
    node.atomic = all->op;
    node.children.push_back(all->fixed_operand ? literal(type, all->operand) : expressions_.make(type, 2));
    return node;
  }
  node.own = true;
  node.atomic = contention(type).op;
  node.children.push_back(expressions_.make(type, 2));
  for (int v = 0; v < static_cast<int>(p_.variables.size()); ++v) {
    const Variable& variable = p_.variables[static_cast<std::size_t>(v)];
    if (variable.type == type && !variable.counts) node.index = v;
  }
  return node;
}

Node Generator::keep(int variable) {
  Node node;
  node.kind = Kind::Keep;
  node.index = variable;
  return node;
}

Node Generator::group(int depth, int loops, bool can_break, std::uint32_t most) {
  Node node;
  node.kind = Kind::Group;
  for (std::uint32_t n = 1 + r_.below(most); n > 0; --n) node.children.push_back(statement(depth, loops, can_break));
  return node;
}

Node Generator::loop(int depth, int loops) {
  Node node;
  node.kind = Kind::Loop;
  node.own = p_.apart || chance(r_, 40);  // NVRTC takes minutes to unroll loops of loops of loops
  node.value = p_.apart ? 31u >> (2 * loops) : loops == 0 ? 7 : 3;
  Node trips = chance(r_, 30) ? literal(Type::U32, r_.below(p_.apart ? 32 : 8)) : expressions_.make(Type::U32, 1);
  node.index = expressions_.open_loop();
  node.children = {std::move(trips), group(depth - 1, loops + 1, true, 4)};
  expressions_.close_loop();
  return node;
}

Node Generator::statement(int depth, int loops, bool can_break) {
  Node node;
  if (p_.apart) {
    if (depth > 0 && loops < 3 && chance(r_, loops == 0 ? 50 : 20)) return loop(depth, loops);
    if (chance(r_, 3)) {
      node.kind = Kind::Fence;
      return node;
    }
  }
  const std::uint32_t choice = r_.below(100);
  if (depth > 0 && choice < 14) {
    node.kind = Kind::If;
    node.children = {expressions_.condition(2), group(depth - 1, loops, can_break, 3), group(depth - 1, loops, can_break, 2)};
    if (chance(r_, 40)) node.children[2].children.clear();
    return node;
  }
  if (depth > 0 && choice < 22 && loops < 2) return loop(depth, loops);
  if (depth > 0 && choice < 27) {
    node.kind = Kind::Switch;
    const std::uint32_t cases = 1 + r_.below(5);
    Node selector = expressions_.make(Type::U32, 1);
    node.children.push_back(apply(Op::rem, Type::U32, {std::move(selector), literal(Type::U32, cases + 1)}));
    for (std::uint32_t i = 0; i <= cases; ++i) node.children.push_back(group(depth - 1, loops, false, 2));
    node.value = r_.next() & r_.next() & ((1u << cases) - 1);
    return node;
  }
  if (choice < 33 && depth < 2) {  // inside something, so that only some threads do it
    const bool leaves_all = p_.apart && can_break && last_phase_ && chance(r_, 20);
    if (can_break && !leaves_all) {
      node.kind = chance(r_, 50) ? Kind::Break : Kind::Continue;
      Node when;
      when.kind = Kind::If;
      Node then, otherwise;
      then.kind = otherwise.kind = Kind::Group;
      then.children.push_back(node);
      when.children = {expressions_.condition(1), then, otherwise};
      return when;
    }
    if (last_phase_ && chance(r_, 40)) {
      node.kind = Kind::Group;
      for (int v = 0; v < static_cast<int>(p_.variables.size()); ++v) {
        if (!p_.variables[static_cast<std::size_t>(v)].counts && chance(r_, 30)) node.children.push_back(keep(v));
      }
      Node end;
      end.kind = Kind::Return;
      node.children.push_back(end);
      return node;
    }
  }
  if (choice < (p_.apart ? 36 : 43)) {
    if (auto made = update()) return *made;
  }
  if (choice < 62) return store();
  std::vector<int> choices;
  for (int v = 0; v < static_cast<int>(p_.variables.size()); ++v) {
    if (!p_.variables[static_cast<std::size_t>(v)].counts) choices.push_back(v);
  }
  node.kind = Kind::Assign;
  node.index = pick(r_, choices);
  node.children.push_back(expressions_.make(p_.variables[static_cast<std::size_t>(node.index)].type, 4));
  return node;
}

Program Generator::run() {
  p_.restrict_input = chance(r_, 50);
  p_.parameter32 = static_cast<std::uint32_t>(random_value(r_, Type::U32));
  p_.parameter64 = random_value(r_, Type::U64);
  p_.apart ? add_walked_arrays() : add_arrays();
  if (p_.apart && chance(r_, 25)) p_.rounds = 2 + r_.below(3);
  for (std::uint32_t n = 4 + r_.below(5); n > 0; --n) {
    const Type type = any_type();
    p_.variables.push_back({type, random_value(r_, type)});
  }
  for (std::uint32_t n = r_.below(3); n > 0; --n) expressions_.add_function();
  contended_.resize(p_.arrays.size());
  bool shared = false;
  for (std::size_t a = 0; a < p_.arrays.size(); ++a) {
    if (p_.arrays[a].space == Space::Counter) contended_[a] = contention(p_.arrays[a].type);
    shared |= p_.arrays[a].space == Space::Shared;
  }
  const std::uint32_t phases = shared ? 1 + r_.below(3) : 1;
  for (std::uint32_t phase = 0; phase < phases; ++phase) {
    last_phase_ = phase + 1 == phases && p_.rounds == 1;
    for (std::size_t a = 0; a < p_.arrays.size(); ++a) {
      const Type type = p_.arrays[a].type;
      if (p_.arrays[a].space != Space::Shared) continue;
      const auto use = static_cast<SharedUse>(r_.below(!is_float(type) && bytes(type) >= 4 ? 3 : 2));
      contended_[a].reset();
      if (use == SharedUse::Updated) contended_[a] = contention(type);
      expressions_.use(static_cast<int>(a), use);
    }
    p_.phases.push_back(group(3, 0, false, 6));
  }
  const int kept = static_cast<int>(p_.variables.size());
  for (int v = 0; v < kept; ++v) {
    if (!p_.variables[static_cast<std::size_t>(v)].counts) p_.phases.back().children.push_back(keep(v));
  }
  p_.results = p_.output_bytes;
  p_.output_bytes += std::uint64_t{8} * p_.variables.size() * p_.threads();
  if (p_.apart) p_.pieces.push_back({Space::Output, p_.results, p_.output_bytes - p_.results});
  else p_.pieces = {{Space::Input, 0, p_.input_bytes}, {Space::Output, 0, p_.output_bytes}, {Space::Counter, 0, p_.counter_bytes}};
  return std::move(p_);
}

}  // namespace

Program generate(std::uint64_t seed, const Limits& limits) { return Generator(seed, limits).run(); }

Memory initial_memory(const Program& program) {
  Random random(program.seed ^ 0x6d656d6f7279);
  Memory memory;
  memory.input.resize(program.input_bytes);
  memory.output.assign(program.output_bytes, std::byte{0xa5});
  memory.counters.resize(program.counter_bytes);
  for (const Array& array : program.arrays) {
    std::vector<std::byte>* const to = array.space == Space::Input    ? &memory.input
                                       : array.space == Space::Output ? &memory.output
                                       : array.space == Space::Counter ? &memory.counters
                                                                       : nullptr;
    if (!to) continue;
    const std::uint64_t count = std::uint64_t{array.pitch} * (array.space == Space::Output ? program.threads() : 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t value = random_value(random, array.type);
      std::memcpy(to->data() + array.offset + i * bytes(array.type), &value, bytes(array.type));
    }
  }
  return memory;
}

}  // namespace gexp::differential
