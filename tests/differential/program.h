// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// A random kernel as a tree: print.h writes it as CUDA text, evaluate.h runs it on the host, generate.h makes it, shrink.h makes it less.
namespace gexp::differential {

enum class Type : std::uint8_t { I8, U8, I16, U16, I32, U32, I64, U64, F32, F64 };
inline constexpr int kTypes = 10;
[[nodiscard]] constexpr bool is_float(Type t) { return t >= Type::F32; }
[[nodiscard]] constexpr bool is_signed(Type t) { return is_float(t) || static_cast<int>(t) % 2 == 0; }
[[nodiscard]] constexpr std::uint32_t bytes(Type t) { return is_float(t) ? (t == Type::F32 ? 4 : 8) : 1u << (static_cast<unsigned>(t) / 2); }

// Name, operands, whether the result is of their type (else int). Each is named as its function in operations.cu or a companion.
#define GEXP_INTEGER_OPERATIONS(X) \
  X(neg, 1, true) X(bnot, 1, true) X(lnot, 1, false) X(iabs, 1, true) X(sign, 1, false) X(popc, 1, false) X(clz, 1, false) X(ffs, 1, false) \
  X(brev, 1, true) X(add, 2, true) X(sub, 2, true) X(mul, 2, true) X(div, 2, true) X(rem, 2, true) X(mulhi, 2, true) X(mulwide, 2, true) \
  X(band, 2, true) X(bor, 2, true) X(bxor, 2, true) X(shl, 2, true) X(shr, 2, true) X(rotl, 2, true) X(imin, 2, true) X(imax, 2, true) \
  X(distance, 2, true) X(lt, 2, false) X(le, 2, false) X(gt, 2, false) X(ge, 2, false) X(eq, 2, false) X(ne, 2, false) X(mad, 3, true) \
  X(madwide, 3, true) X(madhi, 3, true) X(clamp, 3, true) X(choose_bits, 3, true) X(majority, 3, true) X(extract, 3, true) X(insert, 3, true)
#define GEXP_WORD_OPERATIONS(X) \
  X(funnel_left, 3, true) X(funnel_right, 3, true) X(funnel_left_clamp, 3, true) X(funnel_right_clamp, 3, true) X(permute, 3, true) \
  X(mul24_low, 2, true) X(mul24_high, 2, true) X(add_saturated, 2, true) X(distance_added, 3, true) X(mask_bits, 2, true) X(extend_bits, 2, true) \
  X(find_set, 3, true) X(insert_bits, 3, true) X(carried_up, 3, true) X(borrowed, 3, true) X(carried_product, 3, true) X(replicate_byte, 2, true) \
  X(pack_bytes, 3, true) X(bytes_apart, 3, true) X(halves_added, 2, true) X(byte_merged, 3, true) X(minimum_halves, 2, true) X(half_sum, 2, true) X(half_product, 2, true) X(half_fused, 3, true) \
  X(bytes_product, 3, true) X(halves_product, 3, true) X(leading_zeros, 2, true) X(bytes_average, 2, true) X(bytes_below, 3, true)
#define GEXP_FLOAT_OPERATIONS(X) \
  X(fneg, 1, true) X(frcp, 1, true) X(magnitude, 1, true) X(fsqrt, 1, true) X(fabsolute, 1, true) X(round_down, 1, true) X(round_up, 1, true) \
  X(round_to_zero, 1, true) X(round_to_even, 1, true) X(round_away, 1, true) X(fadd, 2, true) X(fsub, 2, true) X(fmul, 2, true) \
  X(fdiv, 2, true) X(fremainder, 2, true) X(fminimum, 2, true) X(fmaximum, 2, true) X(with_sign, 2, true) X(greater, 2, true) \
  X(flt, 2, false) X(fle, 2, false) X(fgt, 2, false) X(fge, 2, false) X(feq, 2, false) X(fne, 2, false) X(not_lt, 2, false) \
  X(not_le, 2, false) X(not_gt, 2, false) X(not_ge, 2, false) X(ordered, 2, false) X(less_or_greater, 2, false) X(fused, 3, true)
#define GEXP_ATOMIC_OPERATIONS(X) \
  X(atomic_add) X(atomic_exch) X(atomic_min) X(atomic_max) X(atomic_and) X(atomic_or) X(atomic_xor) X(atomic_loop) X(atomic_inc) X(atomic_dec)

enum class Op : std::uint8_t {
#define X(name, ...) name,
  GEXP_INTEGER_OPERATIONS(X) GEXP_WORD_OPERATIONS(X) GEXP_FLOAT_OPERATIONS(X)
#undef X
};
enum class AtomicOp : std::uint8_t {
#define X(name) name,
  GEXP_ATOMIC_OPERATIONS(X)
#undef X
};

struct OpFacts {
  const char* name;
  int operands;
  bool same_type;  ///< the result is of the operands' type
};
const OpFacts& facts(Op op);
const char* name(AtomicOp op);

enum class Kind : std::uint8_t {
  // Expressions.
  Literal,    ///< value: its bits
  Variable,   ///< index
  Argument,   ///< index: of the function it stands in
  Thread, Block, Threads, Blocks,  ///< threadIdx.x, blockIdx.x, blockDim.x, gridDim.x
  Parameter,  ///< index 0: unsigned, 1: unsigned long long
  Apply,      ///< op; children: operands, all of one type
  Cast,       ///< to type
  Convert,    ///< float to integer by a rounding: index 0 nearest, 1 to zero, 2 down, 3 up; saturates
  ToBits, FromBits,
  Select, Both, Either,  ///< c ? a : b, a && b, a || b
  Element,    ///< array[child]; of vectors of `width`, the component `index`
  Call,       ///< function index
  // Statements.
  Group,      ///< { children }
  Assign,     ///< variable index = child
  Store,      ///< array[child 0] = the other children, `width` of them
  Update,     ///< atomic operation on array[child 0] with child 1; its result goes to variable index, or nowhere when that is negative
  If,         ///< condition, Group, Group
  Loop,       ///< variable index from 0 to below child 0 & value; child 1: Group; `own`: not to be unrolled
  Switch,     ///< child 0; then Groups, the last the default; value: bit n: case n falls through
  Keep,       ///< variable index to the results
  Fence,      ///< of the whole device
  Return, Break, Continue,
};

struct Node {
  Kind kind = Kind::Literal;
  Type type = Type::I32;
  Op op = Op::add;
  AtomicOp atomic = AtomicOp::atomic_add;
  bool own = false;  ///< Element, Store, Update: only the thread's own part of the array
  std::uint8_t width = 1;
  int index = 0;
  int array = 0;
  std::uint64_t value = 0;
  std::vector<Node> children;
};

/// Input, Output and Counter lie in global memory; of an Output array and, in some phases, of a Shared one each thread has its own part.
enum class Space : std::uint8_t { Input, Output, Counter, Constant, Local, Shared };

struct Array {
  Space space;
  Type type;
  std::uint32_t count;   ///< elements, a power of two; Output and Shared: of one thread
  std::uint32_t pitch;   ///< Output: elements from the part of a thread to that of the next one
  std::uint64_t offset;  ///< Input, Output, Counter: of its first element in its buffer, in bytes
  std::size_t piece = 0;  ///< of global memory that it lies in
  std::vector<std::uint64_t> initial = {};  ///< Constant, Local
  [[nodiscard]] bool global() const { return space <= Space::Counter; }
};

/// Global memory that is allocated at once: bytes of one of the three buffers.
struct Piece {
  Space space;
  std::uint64_t begin, bytes;
};

struct Variable {
  Type type;
  std::uint64_t initial;
  bool counts = false;  ///< belongs to a loop
};

struct Function {
  std::vector<Type> parameters;
  Node result;
};

/// Phases are separated by barriers. In none does a thread touch what another one writes, but by atomic operations of one kind.
struct Program {
  std::uint64_t seed = 0;    ///< also decides what memory holds
  std::uint64_t number = 0;  ///< in the names of its text
  std::uint32_t block = 1, grid = 1;
  std::uint32_t most_block = 1;  ///< for which shared arrays have room; a power of two
  bool restrict_input = false;   ///< the input may be read through the read-only path
  std::uint32_t parameter32 = 0;
  std::uint64_t parameter64 = 0;
  bool apart = false;        ///< a parameter points to each array of global memory, else to each buffer
  std::uint32_t rounds = 1;  ///< of a loop around all phases
  std::vector<Array> arrays;
  std::vector<Piece> pieces;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<Node> phases;  ///< Groups
  std::uint64_t input_bytes = 0, output_bytes = 0, counter_bytes = 0;
  std::uint64_t results = 0;  ///< offset of the kept variables in the output: 8 bytes each, thread by thread

  /// Of each parameter the piece that it points to, nothing of `p32` and `p64`; two may point to one.
  [[nodiscard]] std::vector<std::optional<std::size_t>> parameters() const;
  [[nodiscard]] std::uint32_t threads() const { return block * grid; }
  [[nodiscard]] std::string entry() const { return "k" + std::to_string(number); }
};

/// Global memory before or after a launch.
struct Memory {
  std::vector<std::byte> input, output, counters;
};

const char* cuda_name(Type type);
/// "int4": the elements of a vector type, or "int".
std::string cuda_name(Type type, int width);

}  // namespace gexp::differential
