// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/video.h"
#include "runtime/sim/wide.h"

#include <algorithm>
#include <array>
#include <bit>

// What the lanes of a warp compute together (PTX ISA 9.7.9, 9.7.13), and instructions of many operands.
namespace gexp::sim {
namespace {

using Values = std::array<std::uint64_t, kLanes>;
__extension__ using wide_unsigned = unsigned __int128;

/// A lane's values of an operand, before any result is written.
Values read(const WideCall& c, std::size_t operand) {
  Values values{};
  const std::uint64_t* const slot = c.warp.slot(c.reads[operand]);
  each_lane(c.lanes, [&](std::uint32_t lane) { values[lane] = slot[lane]; });
  return values;
}

void write(const WideCall& c, std::size_t result, const Values& values) {
  std::uint64_t* const slot = c.warp.slot(c.writes[result]);
  each_lane(c.lanes, [&](std::uint32_t lane) { slot[lane] = values[lane]; });
}

/// f(operands of a lane, results of it), lane by lane.
template <std::size_t Reads, std::size_t Writes, class F> void by_lane(const WideCall& c, F f) {
  each_lane(c.lanes, [&](std::uint32_t lane) {
    std::array<std::uint64_t, Reads> from{};
    std::array<std::uint64_t, Writes> to{};
    for (std::size_t k = 0; k < c.i.reads; ++k) from[k] = c.warp.slot(c.reads[k])[lane];
    f(from, to);
    for (std::size_t k = 0; k < Writes; ++k) c.warp.slot(c.writes[k])[lane] = to[k];
  });
}

/// Operands: carry, a, b. Results: sum, carry. offset, bit 0: with the carry.
void add_carry(const WideCall& c) {
  by_lane<3, 2>(c, [&](const auto& from, auto& to) {
    const wide_unsigned sum = wide_unsigned{from[1]} + from[2] + (c.i.offset & 1 ? from[0] : 0);
    to[0] = static_cast<std::uint64_t>(sum) & c.i.mask, to[1] = static_cast<std::uint64_t>(sum >> (64 - c.i.shift)) & 1;
  });
}

/// As hardware does it: a + ~b + 1, so that the carry is clear where a borrow leaves.
void sub_carry(const WideCall& c) {
  by_lane<3, 2>(c, [&](const auto& from, auto& to) {
    const wide_unsigned sum = wide_unsigned{from[1]} + (~from[2] & c.i.mask) + (c.i.offset & 1 ? from[0] : 1);
    to[0] = static_cast<std::uint64_t>(sum) & c.i.mask, to[1] = static_cast<std::uint64_t>(sum >> (64 - c.i.shift)) & 1;
  });
}

void mad_carry(const WideCall& c) {
  const int width = 64 - c.i.shift;
  by_lane<4, 2>(c, [&](const auto& from, auto& to) {
    wide_unsigned product = wide_unsigned{from[1]} * from[2];
    if (is_signed(c.i.type) && (c.i.offset & 2) != 0) {  // the high half depends on the signs
      const auto negative = [width](std::uint64_t v) { return (v >> (width - 1) & 1) != 0; };
      if (negative(from[1])) product -= wide_unsigned{from[2]} << width;
      if (negative(from[2])) product -= wide_unsigned{from[1]} << width;
    }
    const std::uint64_t half = static_cast<std::uint64_t>(c.i.offset & 2 ? product >> width : product) & c.i.mask;
    const wide_unsigned sum = wide_unsigned{half} + from[3] + (c.i.offset & 1 ? from[0] : 0);
    to[0] = static_cast<std::uint64_t>(sum) & c.i.mask, to[1] = static_cast<std::uint64_t>(sum >> width) & 1;
  });
}

/// bfi with a length from a register: a, b, place, length.
void insert(const WideCall& c) {
  const unsigned width = 64u - c.i.shift;
  by_lane<4, 1>(c, [&](const auto& from, auto& to) {
    const unsigned place = from[2] & 0xff, length = from[3] & 0xff;
    to[0] = from[1];
    if (length == 0 || place >= width) return;
    const std::uint64_t field = (length >= 64 ? ~0ull : (1ull << length) - 1) << place;
    to[0] = ((from[1] & ~field) | ((from[0] << place) & field)) & c.i.mask;
  });
}

/// shfl: a, b, c[, lanes]. Results: the value, whether it is another's.
void shuffle(const WideCall& c) {
  const Values a = read(c, 0), b = read(c, 1), limits = read(c, 2);
  Values value{}, inside{};
  const std::uint64_t* const all = c.warp.slot(c.reads[0]);
  each_lane(c.lanes, [&](std::uint32_t lane) {
    const int self = static_cast<int>(lane), by = static_cast<int>(b[lane] & 31), clamp = static_cast<int>(limits[lane] & 31);
    const int segment = static_cast<int>(limits[lane] >> 8 & 31);
    const int most = (self & segment) | (clamp & ~segment), least = self & segment;
    int from = self;
    bool good = false;
    switch (c.i.offset) {
      case 0: from = self - by, good = from >= most; break;
      case 1: from = self + by, good = from <= most; break;
      case 2: from = self ^ by, good = from <= most; break;
      default: from = least | (by & ~segment), good = from <= most;
    }
    if (!good) from = self;
    // What a lane that does not take part holds is undefined; it gives what its register has.
    const auto source = static_cast<std::size_t>(from);
    value[lane] = (c.lanes >> source & 1) != 0 ? a[source] : source < c.warp.width ? all[source] : a[lane];
    inside[lane] = good;
  });
  write(c, 0, value), write(c, 1, inside);
}

void vote(const WideCall& c) {
  const Values a = read(c, 0);
  std::uint32_t yes = 0;
  each_lane(c.lanes, [&](std::uint32_t lane) { yes |= static_cast<std::uint32_t>(a[lane] != 0) << lane; });
  const std::uint64_t results[] = {yes == c.lanes, yes != 0, yes == c.lanes || yes == 0, yes};
  Values value;
  value.fill(results[c.i.offset]);
  write(c, 0, value);
}

void match(const WideCall& c) {
  const Values a = read(c, 0);
  Values same{}, all{};
  each_lane(c.lanes, [&](std::uint32_t lane) {
    each_lane(c.lanes, [&](std::uint32_t other) { same[lane] |= static_cast<std::uint64_t>(a[other] == a[lane]) << other; });
    all[lane] = same[lane] == c.lanes;
    if (c.i.offset == 1 && all[lane] == 0) same[lane] = 0;
  });
  write(c, 0, same), write(c, 1, all);
}

void reduce(const WideCall& c) {
  const Values a = read(c, 0);
  const auto with_sign = [](std::uint64_t v) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(v)); };
  std::uint64_t all = a[static_cast<std::size_t>(std::countr_zero(c.lanes))];
  each_lane(c.lanes & (c.lanes - 1), [&](std::uint32_t lane) {
    const std::uint64_t v = a[lane];
    switch (c.i.atomic) {
      case AtomicOp::Add: all = static_cast<std::uint32_t>(all + v); break;
      case AtomicOp::MinS: all = with_sign(v) < with_sign(all) ? v : all; break;
      case AtomicOp::MaxS: all = with_sign(v) > with_sign(all) ? v : all; break;
      case AtomicOp::MinU: all = std::min(all, v); break;
      case AtomicOp::MaxU: all = std::max(all, v); break;
      case AtomicOp::And: all &= v; break;
      case AtomicOp::Or: all |= v; break;
      default: all ^= v;
    }
  });
  Values value;
  value.fill(all);
  write(c, 0, value);
}

void active(const WideCall& c) {
  Values value;
  value.fill(c.lanes);
  write(c, 0, value);
}

/// The lowest lane is the one.
void elect(const WideCall& c) {
  const auto first = static_cast<std::size_t>(std::countr_zero(c.lanes));
  Values lane, chosen{};
  lane.fill(first), chosen[first] = 1;
  write(c, 0, lane), write(c, 1, chosen);
}

/// isspacep: in which window an address lies. Operands: it, and the own block's rank.
void window(const WideCall& c) {
  by_lane<2, 1>(c, [&](const auto& from, auto& to) {
    const std::uint64_t rank = (from[0] & 0xffffffffu) >> kRankShift;  // and one
    const bool own = rank == 0 || rank == from[1] + 1;
    const auto in = [&](std::uint64_t begin) { return from[0] - begin < kWindowBytes; };
    switch (c.i.space) {
      case Space::Shared: to[0] = in(kSharedWindow) && (own || c.i.offset != 0); break;
      case Space::Local: to[0] = in(kLocalWindow); break;
      case Space::Param: to[0] = in(kParamWindow); break;
      case Space::Const: to[0] = 0; break;  // constant memory has no window here: its addresses are global ones
      default: to[0] = !in(kSharedWindow) && !in(kLocalWindow) && !in(kParamWindow);
    }
  });
}

/// An 8 x 8 matrix of halves, of which a lane holds two neighbours in a row.
void transpose(const WideCall& c) {
  const Values a = read(c, 0);
  Values value{};
  each_lane(c.lanes, [&](std::uint32_t lane) {
    for (std::uint32_t k = 0; k < 2; ++k) {
      const std::uint32_t row = lane % 4 * 2 + k, column = lane / 4;
      value[lane] |= (a[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff) << (16 * k);
    }
  });
  write(c, 0, value);
}

void nothing(const WideCall&) {}

}  // namespace

WideFunction wide_function(WideOp op) {
  switch (op) {
    case WideOp::AddCarry: return add_carry;
    case WideOp::SubCarry: return sub_carry;
    case WideOp::MadCarry: return mad_carry;
    case WideOp::Insert: return insert;
    case WideOp::Video: return compute_video;
    case WideOp::Shuffle: return shuffle;
    case WideOp::Vote: return vote;
    case WideOp::Match: return match;
    case WideOp::Reduce: return reduce;
    case WideOp::Active: return active;
    case WideOp::Elect: return elect;
    case WideOp::Mma: return multiply_matrices;
    case WideOp::Fragments: return multiply_fragments;
    case WideOp::Window: return window;
    case WideOp::Transpose: return transpose;
    case WideOp::Meet: case WideOp::Wait: case WideOp::Wgmma: return nothing;
  }
  return nothing;
}

}  // namespace gexp::sim
