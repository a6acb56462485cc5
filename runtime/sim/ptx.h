// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/type.h"

/// A PTX kernel as the interpreter runs it: names resolved to slots, types to masks and shifts, labels to indices.
namespace gexp::sim {

using ptx::Type;
using ptx::bits;
using ptx::element;
using ptx::is_float;
using ptx::is_signed;
using ptx::is_small_float;

/// What an instruction computes. Operands are zero-extended 64-bit slots; `mask` cuts the result to its type and
/// `shift` (64 - bits) sign-extends operands of the S forms.
enum class Op : std::uint8_t {
  Mov, Add, Sub, Mul, MulHiS, MulHiU, MulWideS, MulWideU, Mad, MadHiS, MadHiU, MadWideS, MadWideU,
  DivS, DivU, RemS, RemU, MinS, MinU, MaxS, MaxU, AbsS, Neg, And, Or, Xor, Not, Lop3, Cnot,
  Shl, ShrS, ShrU, FunnelL, FunnelR, FunnelLWrap, FunnelRWrap, BfeS, BfeU, Bfi, Popc, Clz, FindS, FindU, Brev, Prmt, Dot2, Dot4, Selp,
  AddSat, SubSat, MadHiSat, Mad24S, Mad24U, SadS, SadU, Fns, Extend, Mask, Slct, SlctF, Pairs,
  Eq, Ne, LtS, LtU, LeS, LeU, GtS, GtU, GeS, GeU,
  FAdd, FSub, FMul, FFma, FDiv, FMin, FMax, FNeg, FAbs, FCopySign, FSqrt, FRsqrt, FSin, FCos, FEx2, FLg2, FTanh, FTest,
  FEq, FNe, FLt, FLe, FGt, FGe, FEqu, FNeu, FLtu, FLeu, FGtu, FGeu, FNum, FNan,
  CvtInt, CvtFloat, CvtPair, CvtPack,
};

enum class Kind : std::uint8_t {
  Compute, Branch, Exit, Trap, Load, Store, Atomic, Texture, Barrier, Special, Nothing, Wide, BranchTable, Call, Return, Matrix, Copy, Meet, Stack,
};

/// What an instruction of many operands, or of all lanes together, computes (wide.h).
enum class WideOp : std::uint8_t {
  AddCarry, SubCarry, MadCarry, Insert, Video, Shuffle, Vote, Match, Reduce, Active, Meet, Elect, Mma, Fragments, Wgmma, Window, Wait, Transpose,
};
/// Frame: a .param variable of a body, which lies in the thread's local memory.
enum class Space : std::uint8_t { Generic, Global, Shared, Local, Param, Const, Frame };
enum class AtomicOp : std::uint8_t { Add, Exch, Cas, MinS, MinU, MaxS, MaxU, And, Or, Xor, Inc, Dec, FAdd, PhaseInit, PhaseEnd, PhaseArrive, PhaseDrop, PhaseTest, PhaseParity, PhaseExpect, PhaseBytes, PhaseArriveExpect };
enum class Special : std::uint8_t { Clock, ClockHi, Clock64, GlobalTimer, GlobalTimerLo, GlobalTimerHi };
/// The way that an access takes. Of global memory: how a load asks to be cached, Default being the model's choice. Host: every access to
/// the memory of the host.
enum class LoadPath : std::uint8_t { Default, Ca, Cg, Cv, Nc, Texture, Constant, Local, Instruction, Host, Peer };
inline constexpr int kLoadPaths = 11;
/// Which latency of the model's pipeline a result has.
enum class Cost : std::uint8_t { Alu, Multiply, Divide, Clock };

/// Where shared and local memory appear among generic addresses; no allocation lies there.
inline constexpr std::uint64_t kSharedWindow = 0x7f00'0000'0000;
inline constexpr std::uint64_t kLocalWindow = 0x7e00'0000'0000;
/// Shared memory of the block of rank r of a cluster: its offsets, and (r + 1) << kRankShift. Without it: the thread's own block's.
inline constexpr int kRankShift = 24;
inline constexpr std::uint64_t kParamWindow = 0x7d00'0000'0000;
/// Addresses of functions count from here.
inline constexpr std::uint64_t kFunctionWindow = 0x7c00'0000'0000;
inline constexpr std::uint64_t kWindowBytes = 0x0000'0100'0000'0000;

/// Slot 0 holds the constant 1: the guard of an unguarded instruction and the filler of unused operands.
inline constexpr std::uint32_t kTrue = 0;

/// No instruction: after all of them.
inline constexpr std::uint32_t kNowhere = ~0u;

/// Of a fetch from a texture or an access of a surface: where in Instruction::data its third coordinate stands.
inline constexpr std::size_t kThird = 7;
/// And its layer, where it has one.
inline constexpr std::size_t kLayer = 6;

/// Which operands of a dot product are signed, and whether it takes the high half of the second.
inline constexpr std::int64_t kDotSignedA = 1, kDotSignedB = 2, kDotHigh = 4;

struct Instruction {
  Kind kind = Kind::Nothing;
  Op op = Op::Mov;
  Cost cost = Cost::Alu;
  Type type = Type::None;    ///< of the result, or of one element in memory
  Type from = Type::None;    ///< cvt: of the operand
  std::uint8_t shift = 0;
  std::uint8_t bytes = 0;    ///< memory: of one element
  std::uint8_t count = 1;    ///< memory: elements (v2, v4, v8)
  Space space = Space::Generic;
  LoadPath path = LoadPath::Default;
  AtomicOp atomic = AtomicOp::Add;
  WideOp wide = WideOp::Active;
  Special special = Special::Clock;
  std::uint8_t round = 0;    ///< cvt to an integral value: 'z' towards zero, 'n' nearest, 'm' down, 'p' up
  std::uint8_t inexact = 0;  ///< how an inexact result is rounded: 'z', 'm', 'p'; 0: to nearest even
  bool flush = false;        ///< .ftz: single-precision subnormals count as zeros
  bool saturate = false;     ///< .sat of a float: to [0, 1]; of an integer: to its type
  bool relu = false;         ///< negative results become 0
  bool finite = false;       ///< .satfinite: what is out of range becomes the largest number
  bool nan = false;          ///< min, max: a NaN operand gives a NaN
  bool magnitude = false;    ///< min, max: .xorsign.abs
  bool meets = false;        ///< Wide: the lanes of its last operand, a mask, come together first
  bool guard_not = false;
  bool waits = true;         ///< barrier: false of one that only arrives
  bool fences = false;       ///< Nothing: it waits for the warp's stores
  bool prefetches = false;   ///< Load: it has no result, and no address is wrong
  bool bulk = false;         ///< Copy: of as many bytes as operand c says, which the barrier at data[0] is told of
  bool stores = false;       ///< Copy, bulk: from shared memory at a to global memory at b, as `atomic` says; no barrier is told
  char beyond = 0;           ///< access of a surface that is outside of it: 't' a fault, 'c' at its edge, 'z' nothing; 0: no surface
  bool moves = false;        ///< Stack: to a; else `to` has where it is, and what alloca asks for, a bytes at a multiple of offset, follows
  bool tile = false;         ///< Copy, bulk: b is the address of a map of tiles (device::Tiles), data[1], data[2] the column and the row of one
  bool allocates = true;     ///< Load: false where an SM's caches are asked not to keep what they miss
  std::uint32_t guard = kTrue;
  std::uint32_t to = kTrue;  ///< result slot; kTrue: none
  std::uint32_t a = kTrue, b = kTrue, c = kTrue;
  std::array<std::uint32_t, 8> data{kTrue, kTrue, kTrue, kTrue, kTrue, kTrue, kTrue, kTrue};  ///< memory: the elements' slots
  std::uint32_t list = 0;    ///< Wide: first of its operands in Kernel::lists, those read, then those written; BranchTable: of its targets; Call: of calls
  std::uint16_t reads = 0, writes = 0;
  std::uint32_t target = 0;  ///< branch: index of the next instruction
  std::uint32_t meeting = kNowhere;  ///< branch: where lanes that part there meet again; kNowhere: not before their function ends
  std::uint32_t line = 0;    ///< of the PTX text
  std::uint32_t statement = 0;  ///< of Kernel::statements
  std::uint32_t opcode = 0;     ///< of Kernel::opcodes
  std::int64_t offset = 0;   ///< of an address; lop3: its table; bfi: its length; bfind: whether the shift is asked for; dp2a, dp4a: kDot flags;
                             ///< what else an operation must know: each says so where it is computed
  std::uint64_t mask = ~0ull;
  std::uint64_t extend = 0;  ///< loads and cvt of signed narrow types: bits above the type that copy its sign

  /// Whether `data` is what it writes, or reduces a surface by.
  [[nodiscard]] bool gives_data() const { return kind == Kind::Store || (kind == Kind::Atomic && beyond != 0); }
};

/// A slot whose value is known when a launch starts.
struct Preset {
  enum class What : std::uint8_t {
    Value, Tid, Ntid, Ctaid, Nctaid, ClusterRank, ClusterSize, Cluster, Clusters, LaneId, WarpId, SmId, NSmId, LaneMask,
    SharedDynamic, SharedTotal, Global, GlobalHigh,
  };
  What what = What::Value;
  std::uint32_t slot = 0;
  std::uint64_t value = 0;  ///< Value; axis 0..2 of Tid…; which mask of LaneMask; index of Global, GlobalHigh: half of its address
};

/// The address of a variable in the initial value of another, or of itself.
struct Relocation {
  std::uint64_t at = 0;       ///< byte
  std::uint32_t variable = 0;  ///< index
  std::int64_t offset = 0;
  std::uint32_t bytes = 8;
};

/// A module variable in .global or .const space.
struct GlobalVariable {
  std::string name;
  std::uint64_t bytes = 0, align = 1;
  std::vector<std::uint8_t> initial;
  std::vector<Relocation> relocations;
};

/// What passes between a caller and a function: a register, or bytes of local memory at the address that the slot holds.
struct Passed {
  std::uint32_t slot = kTrue;
  std::uint32_t bytes = 0;  ///< 0: a register
};

/// A function's slots are its own alone: a call keeps what they held, for the return (recursion). Its local variables lie on the
/// thread's stack, `offset` bytes into its frame.
struct Function {
  struct Local {
    std::uint32_t slot = 0;
    std::uint64_t offset = 0;
  };
  std::string name;
  std::uint32_t entry = 0;  ///< index of its first instruction
  std::vector<std::uint32_t> slots;
  std::vector<Local> locals;
  std::vector<Passed> results, parameters;
  std::uint64_t frame_bytes = 0;
};

struct Call {
  static constexpr std::uint32_t kIndirect = ~0u, kPrint = ~0u - 1;
  std::uint32_t function = kIndirect;  ///< index; kIndirect: the instruction's operand a has its address; kPrint: vprintf, which has no body
  std::vector<Passed> results, arguments;
};

struct Parameter {
  std::uint32_t offset = 0, bytes = 0;
  Type type = Type::None;  ///< of an array: of its elements
};

struct Kernel {
  std::string name;
  std::vector<Instruction> code;  ///< ends in an Exit
  std::vector<std::string> statements{""};  ///< of the spec, as the text notes them: "load A"; the first is none
  std::vector<std::string> opcodes{""};  ///< as written: "add.rn.f32"; each once, the first is none
  std::vector<Preset> presets;
  std::vector<Parameter> parameters;
  std::vector<GlobalVariable> globals;
  std::vector<std::uint32_t> lists;   ///< operands of Wide instructions; targets of BranchTable
  std::vector<Function> functions;    ///< that the kernel may call; their code follows its own
  std::vector<Call> calls;
  std::uint32_t slots = 1;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t shared_bytes = 0;  ///< static; dynamic shared memory starts here
  std::uint32_t local_bytes = 0;   ///< of one thread, the stack included
  std::uint32_t stack_begin = 0;   ///< where the frames of functions begin
  std::uint32_t cluster = 1;       ///< blocks of a cluster, as the text asks for
  bool allocates = false;          ///< some instruction moves the end of its thread's stack
  bool grid_meets = false;         ///< it reads where the blocks of a grid meet, so all of them must run at once
  std::uint32_t registers = 0;     ///< of one thread, 4 bytes each, as far as the text tells; 0: not told
  std::uint32_t most_registers = 0;  ///< that the text lets a thread have; 0: any number
  /// Whether a thread has that many for sure, and not about: it would take more, and may not.
  [[nodiscard]] bool takes_all() const { return most_registers > 0 && registers == most_registers; }
};

/// Where a fault is: "at `load A`, PTX line 30".
std::string place_of(const Kernel& kernel, const Instruction& i);

}  // namespace gexp::sim
