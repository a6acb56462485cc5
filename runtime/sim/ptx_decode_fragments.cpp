// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "runtime/sim/fragment.h"
#include "runtime/sim/ptx_decoder.h"

// wmma. A load or store becomes what it is on a device too: each lane computes where its elements lie, and accesses them.
namespace gexp::sim {
namespace {

constexpr std::uint32_t kMostPiece = 16;  // bytes of one access of a lane

std::uint64_t log2(std::uint32_t power) { return static_cast<std::uint64_t>(std::countr_zero(power)); }

}  // namespace

/// The shape that the instruction names, and whether it is one of matrices of such elements.
bool Decoder::fragment_shape(FragmentShape& shape, Type elements) const {
  const bool small = elements == Type::F16 || elements == Type::Bf16 || elements == Type::U8 || elements == Type::S8;
  shape.m = has("m8n32k16") || has("m8n8k4") ? 8 : has("m32n8k16") ? 32 : 16;
  shape.n = has("m8n32k16") ? 32 : has("m32n8k16") || has("m8n8k4") ? 8 : 16;
  shape.k = has("m16n16k8") ? 8 : has("m8n8k4") ? 4 : 16;
  return elements == Type::Tf32 ? shape.k == 8 : elements == Type::F64 ? shape.k == 4 : small && shape.k == 16;
}

/// The slots of a fragment's registers; nothing where their number is another.
std::vector<std::uint32_t> Decoder::fragment_registers(const Operand& o, const Fragment& fragment, bool written) {
  std::vector<std::uint32_t> slots;
  const std::vector<Operand> items = elements(o);
  if (items.size() != fragment.registers) return fail(fmt::format("'{}' with a wrong number of elements", s_.opcode.text)), slots;
  const Type whole = fragment.bits == 64 ? Type::F64 : Type::B32;
  for (const Operand& item : items) slots.push_back(written ? target_of(item) : source_of(item, whole));
  return slots;
}

/// wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {r…}, [p], stride; wmma.store.d….f32 [p], {r…}, stride.
void Decoder::fragment(const Form&) {
  const bool load = has("load"), sums = has("c") || has("d"), by_rows = has("row");
  if (has("m8n8k32") || has("m8n8k128")) return fragment_of_bits(load, sums, by_rows);
  const Type t = types_[0];
  FragmentShape shape{};
  const Type operand = !sums ? t : has("m16n16k8") ? Type::Tf32 : has("m8n8k4") ? Type::F64 : Type::F16;
  const bool summed = t == Type::F32 || (t == Type::F64) == has("m8n8k4");
  if (!fragment_shape(shape, operand) || (sums && !summed)) return unknown();
  shape.a_by_rows = shape.b_by_rows = by_rows;
  const Fragment fragment = sums ? shape.sums(t) : has("a") ? shape.a(t) : shape.b(t);
  place_fragment(fragment, by_rows, load, 1);
}

/// Of elements of 4 bits or one, which lie so that they are words of 32 bits along k, of which a lane has one. Registers are then where those
/// of mma of the same shape are, and so are the sums.
void Decoder::fragment_of_bits(bool load, bool sums, bool by_rows) {
  constexpr std::uint32_t kSide = 8, kWords = 4;
  const std::uint32_t elements = has("m8n8k128") ? 32 : 8;  // of a word
  Fragment fragment{kSide, kSide, true, 32, 2};
  if (!sums) fragment = has("a") ? Fragment{kSide, kWords, true, 32, 1} : Fragment{kWords, kSide, false, 32, 1};
  place_fragment(fragment, by_rows, load, sums ? 1 : elements);
}

/// `elements`: how many of those that the stride counts are one of the fragment.
void Decoder::place_fragment(const Fragment& fragment, bool by_rows, bool load, std::uint32_t elements) {
  if (!operands(2, 3)) return;
  const auto registers = fragment_registers(s_.operands[load ? 0 : 1], fragment, load);
  if (registers.empty()) return;
  Instruction base = base_;
  base.space = space();
  address(base, s_.operands[load ? 1 : 0]);
  std::uint32_t stride = s_.operands.size() == 3 ? source(2, Type::U32) : names_.constant(std::uint64_t{by_rows ? fragment.columns : fragment.rows} * elements);
  if (elements > 1) stride = emit(Op::ShrU, Type::U32, stride, names_.constant(log2(elements)), names_.temporary());
  access_fragment(fragment, by_rows, registers, base, stride, load);
}

/// What the lanes do to get at their elements, which lie next to each other unless memory has the other order.
void Decoder::access_fragment(const Fragment& f, bool by_rows, const std::vector<std::uint32_t>& registers, const Instruction& base,
                              std::uint32_t stride, bool load) {
  const bool together = f.by_rows == by_rows;
  const std::uint32_t along = f.by_rows ? f.columns : f.rows, size = f.bits / 8;
  const std::uint32_t lanes = along / f.per_lane();  // of one row, or column
  const auto made = [&](Op op, Type t, std::uint32_t a, std::uint32_t b) { return emit(op, t, a, b, names_.temporary()); };
  const auto number = [&](std::uint64_t value) { return names_.constant(value); };
  const std::uint32_t lane = *names_.find_fixed("%laneid");
  const std::uint32_t across = made(Op::ShrU, Type::U32, lane, number(log2(lanes)));
  const std::uint32_t inside = made(Op::Shl, Type::U32, made(Op::And, Type::B32, lane, number(lanes - 1)), number(log2(f.per_lane())));
  const std::uint32_t whole = made(Op::MulWideU, Type::U64, together ? across : inside, stride);
  const std::uint32_t elements = made(Op::Add, Type::U64, whole, together ? inside : across);
  std::uint32_t at = made(Op::Add, Type::U64, base.a, made(Op::Shl, Type::U64, elements, number(log2(size))));
  const auto access = [&](std::uint32_t bytes, std::uint64_t offset, const std::uint32_t* slots, std::size_t count) {
    Instruction i = typed(Op::Mov, bytes == 8 ? Type::B64 : bytes == 4 ? Type::B32 : Type::B16);
    i.kind = load ? Kind::Load : Kind::Store;
    i.space = base.space, i.a = at, i.offset = base.offset + static_cast<std::int64_t>(offset);
    i.bytes = static_cast<std::uint8_t>(bytes), i.count = static_cast<std::uint8_t>(count);
    for (std::size_t k = 0; k < count; ++k) i.data[k] = slots[k];
    add(i);
  };
  if (together) {
    const std::uint32_t bytes = std::max<std::uint32_t>(size, 4), most = kMostPiece / bytes;
    for (std::uint32_t first = 0; first < f.used_registers(); first += most) {
      access(bytes, first * bytes, &registers[first], std::min(most, f.used_registers() - first));
    }
  } else {
    const std::uint32_t step = made(Op::MulWideU, Type::U64, stride, number(size));
    for (std::uint32_t k = 0; k < f.per_lane(); ++k) {
      const std::uint32_t held = registers[k / f.per_register()];
      const bool half = f.per_register() == 2, high = half && k % 2 == 1;
      const std::uint32_t one = half && (load || high) ? names_.temporary() : held;
      if (high && !load) emit(Op::ShrU, Type::B32, held, number(16), one);
      access(size, 0, &one, 1);
      if (load && high) emit(Op::Or, Type::B32, held, made(Op::Shl, Type::B32, one, number(16)), held);
      else if (load && half) emit(Op::Mov, Type::B32, one, kTrue, held);
      at = made(Op::Add, Type::U64, at, step);
    }
  }
  for (std::size_t k = f.used_registers(); k < registers.size() && load; ++k) {
    emit(Op::Mov, Type::B32, registers[k % f.used_registers()], kTrue, registers[k]);
  }
}

/// wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 d, a, b, c: of f16. Of other elements the types of all four follow the shape.
void Decoder::multiply_fragments(const Form&) {
  if ((types_.size() != 2 && types_.size() != 4) || !operands(4, 4)) return unknown();
  const bool halves = types_.size() == 2;
  const Type sum = types_[0], a = halves ? Type::F16 : types_[1], b = halves ? Type::F16 : types_[2], c = types_.back();
  const bool integers = a == Type::U8 || a == Type::S8;
  const Type fits = integers ? Type::S32 : a == Type::F64 ? Type::F64 : Type::F32;
  const bool typed_well = halves ? (sum == Type::F16 || sum == Type::F32) && (c == Type::F16 || c == Type::F32)
                                 : a != Type::F16 && a == b && sum == c && sum == fits;
  FragmentShape shape{};
  if (!typed_well || !fragment_shape(shape, a)) return unknown();
  std::vector<bool> by_rows;
  for (const std::string_view word : words_) {
    if (word == "row" || word == "col") by_rows.push_back(word == "row");
  }
  if (by_rows.size() != 2) return unknown();
  shape.a_by_rows = by_rows[0], shape.b_by_rows = by_rows[1];
  shape.a_signed = is_signed(a), shape.b_signed = is_signed(b), shape.half_sums = c == Type::F16;
  std::vector<std::uint32_t> from;
  const auto read = [&](std::size_t operand, const Fragment& fragment) {
    const auto slots = fragment_registers(s_.operands[operand], fragment, false);
    from.insert(from.end(), slots.begin(), slots.end());
  };
  const auto to = fragment_registers(s_.operands[0], shape.sums(sum), true);
  read(1, shape.a(a)), read(2, shape.b(b)), read(3, shape.sums(c));
  if (failed_) return;
  Instruction& i = wide(WideOp::Fragments, sum, from, to);
  i.cost = Cost::Multiply;
  i.from = a;
  i.offset = shape.packed();
}

}  // namespace gexp::sim
