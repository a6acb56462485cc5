// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdint>

#include "runtime/sim/float_format.h"
#include "runtime/sim/wide.h"

// mma.m16n8k*: fragments as PTX ISA 9.7.14.5 lays them out. A word of a lane holds neighbours along k; lane = 4 * group + member, and a
// group is a row of a and of the results, and a column of b. What lanes that do not run it would hold is undefined; the registers are read.
namespace gexp::sim {
namespace {

struct Fragments {
  const WideCall& call;
  int k, per_word;  ///< elements of k; elements in a word

  std::uint64_t word(std::size_t operand, int lane) const {
    return static_cast<std::uint32_t>(lane) < call.warp.width ? call.warp.slot(call.reads[operand])[lane] : 0;
  }
  /// The bits of element (row, at) of a, or of (at, column) of b.
  std::uint64_t of_a(int row, int at) const {
    // Words of a: rows 0-7 and 8-15 take turns; then k goes on by four words' elements.
    const int block = at / (4 * per_word), index = block * 2 + row / 8;
    return element(word(static_cast<std::size_t>(index), row % 8 * 4 + at / per_word % 4), at % per_word);
  }
  std::uint64_t of_b(int at, int column) const {
    const int block = at / (4 * per_word), words_of_a = k / (2 * per_word);
    return element(word(static_cast<std::size_t>(words_of_a + block), column * 4 + at / per_word % 4), at % per_word);
  }
  std::uint64_t element(std::uint64_t word, int at) const { return word >> (at * (32 / per_word)) & ((1ull << (32 / per_word)) - 1); }
};

std::int64_t byte(std::uint64_t bits, bool with_sign) { return with_sign ? static_cast<std::int8_t>(bits) : static_cast<std::int64_t>(bits); }

std::uint64_t of_integers(const Fragments& f, int row, int column, std::uint64_t c) {
  const std::int64_t flags = f.call.i.offset;
  std::int64_t sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(c));
  for (int at = 0; at < f.k; ++at) sum += byte(f.of_a(row, at), flags >> 16 & 1) * byte(f.of_b(at, column), flags >> 17 & 1);
  if (f.call.i.finite) sum = std::min<std::int64_t>(std::max<std::int64_t>(sum, INT32_MIN), INT32_MAX);
  return static_cast<std::uint32_t>(sum);
}

/// PTX leaves the order and the precision of the sum open, beyond single precision. Here the sum is kept in double and rounded once.
std::uint64_t of_floats(const Fragments& f, int row, int column, std::uint64_t c) {
  const FloatFormat& format = format_of(f.call.i.from);
  double sum = std::bit_cast<float>(static_cast<std::uint32_t>(c));
  for (int at = 0; at < f.k; ++at) sum += decode_float(format, f.of_a(row, at)) * decode_float(format, f.of_b(at, column));
  return std::isnan(sum) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(static_cast<float>(sum));
}

}  // namespace

void multiply_matrices(const WideCall& call) {
  const bool integers = call.i.type == Type::S32;
  const Fragments f{call, static_cast<int>(call.i.offset & 0xff), integers ? 4 : 2};
  const std::size_t first_c = static_cast<std::size_t>(call.i.reads) - 4;
  std::array<std::array<std::uint64_t, kLanes>, 4> results{};
  each_lane(call.lanes, [&](std::uint32_t lane) {
    for (std::size_t k = 0; k < 4; ++k) {
      const int row = static_cast<int>(lane / 4 + k / 2 * 8), column = static_cast<int>(lane % 4 * 2 + k % 2);
      const std::uint64_t c = call.warp.slot(call.reads[first_c + k])[lane];
      results[k][lane] = integers ? of_integers(f, row, column, c) : of_floats(f, row, column, c);
    }
  });
  for (std::size_t k = 0; k < 4; ++k) each_lane(call.lanes, [&](std::uint32_t lane) { call.warp.slot(call.writes[k])[lane] = results[k][lane]; });
}

}  // namespace gexp::sim
