// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_decoder.h"

// Copies between global and shared memory.
namespace gexp::sim {

/// The address of a copy that is not in shared memory.
void Decoder::other_end(Instruction& i, const Operand& o, Space space) {
  Instruction other = base_;
  other.space = space;
  address(other, o);
  i.b = other.a, i.extend = static_cast<std::uint64_t>(other.offset);
}

/// Where the barrier is that a copy tells of its bytes.
std::uint32_t Decoder::barrier_at(const Operand& o) {
  Instruction barrier = base_;
  barrier.space = Space::Shared;
  address(barrier, o);
  if (barrier.offset == 0) return barrier.a;
  return emit(Op::Add, Type::U64, barrier.a, names_.constant(static_cast<std::uint64_t>(barrier.offset)), names_.temporary());
}

/// cp.async.ca.shared.global [to], [from], bytes[, taken]: what is not taken of them becomes zero.
void Decoder::copy(const Form&) {
  const bool policy = has("L2::cache_hint");
  if (!operands(3, policy ? 5 : 4)) return;
  const auto size = literal(s_.operands[2].token.text, false, Type::U32).value_or(0);
  if (s_.operands[2].kind != Operand::Kind::Number || (size != 4 && size != 8 && size != 16) || (has("cg") && size != 16)) return odd_operand();
  Instruction i = typed(Op::Mov, Type::B32);
  i.kind = Kind::Copy;
  i.space = Space::Shared;
  i.bytes = static_cast<std::uint8_t>(size);
  address(i, s_.operands[0]);
  other_end(i, s_.operands[1], Space::Global);
  const bool partial = s_.operands.size() == 4 && !policy;
  i.c = partial ? source(3, Type::U32) : names_.constant(size);
  i.path = has("cg") ? LoadPath::Cg : LoadPath::Default;
  if (names_.copies().empty()) names_.copies().push_back(names_.temporary());
  i.data[0] = names_.copies()[0];  // of all copies: it counts those under way, and is ready when none is
  add(i);
}

/// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [barrier].
void Decoder::bulk(const Form&) {
  const bool policy = has("L2::cache_hint");
  if (!operands(policy ? 5 : 4, policy ? 5 : 4)) return;
  Instruction i = typed(Op::Mov, Type::B32);
  i.kind = Kind::Copy;
  i.space = Space::Shared;
  i.bulk = true;
  i.bytes = 16;
  address(i, s_.operands[0]);
  other_end(i, s_.operands[1], Space::Global);
  i.c = source(2, Type::U32);
  i.path = LoadPath::Cg;
  i.data[0] = barrier_at(s_.operands[3]);
  add(i);
}

/// cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes; cp.reduce.async.bulk….add.u32, which does that to each element there.
void Decoder::bulk_store(const Form&) {
  const std::size_t count = has("L2::cache_hint") ? 4 : 3;
  if (!operands(count, count)) return;
  Instruction i = typed(Op::Mov, has("reduce") ? type() : Type::B32);
  i.kind = Kind::Copy;
  i.space = Space::Shared;
  i.bulk = i.stores = true;
  i.atomic = AtomicOp::Exch;
  i.bytes = 16;
  if (has("reduce") && !name_operation(i, type())) return unknown();
  i.count = 0;
  address(i, s_.operands[1]);
  other_end(i, s_.operands[0], Space::Global);
  i.c = source(2, Type::U32);
  i.path = LoadPath::Cg;
  add(i);
}

/// cp.async.bulk.wait_group n: every store of the warp is awaited, so those of later groups too. With .read nothing: what was to be read has
/// been.
void Decoder::wait_for_stores(const Form&) {
  if (operands(1, 1)) idle(!has("read"));
}

/// cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [to], [map, {column, row}], [barrier]. Columns are of
/// the 4 bytes that each element of a map has here.
void Decoder::tile(const Form&) {
  if (!operands(3, 3)) return;
  const Operand& from = s_.operands[1];
  if (from.kind != Operand::Kind::Address || from.items.size() != 1 || from.items[0].items.size() != 2) return odd_operand();
  Instruction i = typed(Op::Mov, Type::B32);
  i.kind = Kind::Copy;
  i.space = Space::Shared;
  i.bulk = i.tile = true;
  i.bytes = 16;
  i.count = 3;
  address(i, s_.operands[0]);
  Operand of_map = from;
  of_map.items.clear();
  other_end(i, of_map, Space::Generic);
  i.path = LoadPath::Cg;
  i.data[0] = barrier_at(s_.operands[2]);
  i.data[1] = source_of(from.items[0].items[0], Type::S32), i.data[2] = source_of(from.items[0].items[1], Type::S32);
  add(i);
}

void Decoder::wait(const Form&) {
  if (has("commit_group")) return idle(false);
  wait_for_copies();
}

/// Copies of later groups are waited for too: it takes longer, and computes the same.
void Decoder::wait_for_copies() {
  wide(WideOp::Wait, Type::B32, names_.copies(), {});
}

}  // namespace gexp::sim
