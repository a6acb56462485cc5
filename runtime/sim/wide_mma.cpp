// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/sim/float_format.h"
#include "runtime/sim/mma_shape.h"
#include "runtime/sim/wide.h"

// mma and wgmma. What lanes that do not run it would hold is undefined; the registers are read.
namespace gexp::sim {
namespace {

/// The type whose format an element of mma has.
Type format_type(MmaElement element) {
  switch (element) {
    case MmaElement::Bf16: return Type::Bf16;
    case MmaElement::Tf32: return Type::Tf32;
    case MmaElement::E4m3: return Type::E4m3x2;
    case MmaElement::E5m2: return Type::E5m2x2;
    default: return Type::F16;
  }
}

/// Integers are numbers of double too: their sums stay below 2^53 by far.
double number_of(MmaElement element, std::uint64_t bits) {
  switch (element) {
    case MmaElement::F64: return std::bit_cast<double>(bits);
    case MmaElement::F32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case MmaElement::S32: return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    case MmaElement::S8: case MmaElement::S4: return static_cast<double>(bits) - (bits >> (mma_bits(element) - 1) != 0 ? std::ldexp(1, static_cast<int>(mma_bits(element))) : 0);
    case MmaElement::U8: case MmaElement::U4: case MmaElement::B1: return static_cast<double>(bits);
    default: return decode_float(format_of(format_type(element)), bits);
  }
}

std::uint64_t bits_of(MmaElement element, double sum, bool clamps) {
  switch (element) {
    case MmaElement::F64: return std::bit_cast<std::uint64_t>(sum);
    case MmaElement::F32: return single_bits(sum);
    case MmaElement::F16: return encode_float(format_of(Type::F16), sum, 0, false);
    default: break;
  }
  if (clamps) sum = std::min<double>(std::max<double>(sum, INT32_MIN), INT32_MAX);
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(sum));
}

/// PTX leaves the order and the precision of a sum open, beyond that of its type. Here it is kept in double and rounded once.
double sum_of(const MmaShape& shape, const double* a, const double* b, double sum) {
  for (std::uint32_t at = 0; at < shape.k; ++at) {
    if (shape.exclusive) sum += a[at] != b[at];
    else if (shape.a == MmaElement::F64) sum = std::fma(a[at], b[at], sum);
    else sum += a[at] * b[at];  // a product that double holds exactly
  }
  return sum;
}

/// A matrix in shared memory as a descriptor names it. Without a swizzle: pieces of 8 rows of 16 bytes, so far apart along k and along rows.
/// With one of 32, 64 or 128 bytes: 8 rows of so many bytes lie one behind the other, and the 16 bytes at a place of a row change places with
/// those whose number differs by bits 7 and up of the address.
class SharedMatrix {
 public:
  SharedMatrix(std::uint64_t descriptor, int rows, std::span<const std::byte> shared)
      : shared_(shared), begin_((descriptor & 0x3fff) * 16), along_k_((descriptor >> 16 & 0x3fff) * 16), along_rows_((descriptor >> 32 & 0x3fff) * 16),
        known_((descriptor >> 46 & 0xffff) == 0), rows_(static_cast<std::uint64_t>(rows)) {
    const auto kind = descriptor >> 62;
    row_bytes_ = kind == 0 ? 16 : 256u >> kind;
    places_ = kind == 0 ? 0 : row_bytes_ / 16 - 1;
    if (kind != 0) along_k_ = 16;
  }
  /// Its descriptor says nothing that is not simulated: that it begins within what repeats.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] bool inside() const {
    for (std::uint64_t row = 0; row < rows_; ++row) {
      if (std::max(at(row, 0), at(row, 1)) + 16 > shared_.size()) return false;
    }
    return true;
  }
  [[nodiscard]] const std::byte* row(std::uint64_t row, std::uint64_t half) const { return shared_.data() + at(row, half); }

 private:
  [[nodiscard]] std::uint64_t at(std::uint64_t row, std::uint64_t half) const {
    const auto address = begin_ + half * along_k_ + row / 8 * along_rows_ + row % 8 * row_bytes_;
    return address ^ (address >> 7 & places_) << 4;
  }
  std::span<const std::byte> shared_;
  std::uint64_t begin_, along_k_, along_rows_, row_bytes_ = 16, places_ = 0;
  bool known_;
  std::uint64_t rows_;
};

bool halves(Type type) { return type == Type::F16 || type == Type::Bf16; }

/// Numbers of a row along k, 32 bytes of them.
void decode_row(const SharedMatrix& matrix, std::uint64_t row, Type type, double* numbers) {
  const int bytes = halves(type) ? 2 : 1;
  for (std::uint64_t half = 0; half < 2; ++half) {
    const std::byte* const from = matrix.row(row, half);
    for (int at = 0; at < 16; at += bytes) {
      std::uint16_t element = 0;
      std::memcpy(&element, from + at, static_cast<std::size_t>(bytes));
      const bool integer = type == Type::S8 || type == Type::U8;
      *numbers++ = integer ? static_cast<double>(byte_value(element, type == Type::S8)) : decode_float(format_of(type), element);
    }
  }
}

/// The 16 rows of a warp that four registers of its lanes hold, laid out as those of mma: four lanes have a row, words take turns between rows
/// 0-7 and 8-15, and the last two have the upper half of k.
void decode_fragments(const WideCall& call, std::size_t first, std::size_t k, double* numbers) {
  const Type type = call.i.from;
  const std::size_t per_word = halves(type) ? 2 : 4;
  const bool integer = type == Type::S8 || type == Type::U8;
  for (std::size_t word = 0; word < 4; ++word) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto bits = call.warp.slot(call.reads[first + word])[lane];
      const auto row = lane / 4 + word % 2 * 8, begin = word / 2 * (k / 2) + lane % 4 * per_word;
      for (std::size_t i = 0; i < per_word; ++i) {
        const auto element = static_cast<std::uint16_t>(bits >> i * (32 / per_word) & (per_word == 2 ? 0xffff : 0xff));
        numbers[row * k + begin + i] = integer ? static_cast<double>(byte_value(element, type == Type::S8)) : decode_float(format_of(type), element);
      }
    }
  }
}

}  // namespace

// Sums of integers stay below 2^53 by far, so double is exact for them.
const char* multiply_shared(const WideCall& call, std::span<const std::byte> shared) {
  const std::size_t results = call.i.writes, n = results * 2;
  const bool integers = call.i.type == Type::S32;
  const std::size_t k = halves(call.i.from) ? 16 : 32;
  const auto first = static_cast<std::size_t>(std::countr_zero(call.lanes));
  const auto given = [&](std::size_t at) { return call.warp.slot(call.reads[results + at])[first]; };
  const bool in_registers = call.i.reads > results + 3;
  const std::size_t of_b = in_registers ? 4 : 1;
  const SharedMatrix a(given(0), in_registers ? 0 : 64, shared), b(given(of_b), static_cast<int>(n), shared);
  if ((!in_registers && !a.known()) || !b.known()) return "a matrix that begins within a pattern of its swizzle is not simulated";
  if (!a.inside() || !b.inside()) return "a matrix outside the block's shared memory";
  const bool adds = given(of_b + 1) != 0;
  std::vector<double> rows(16 * k), columns(n * k), of_k(n * k), sums(16 * n, 0);
  if (in_registers) decode_fragments(call, results, k, rows.data());
  for (std::size_t row = 0; row < 16 && !in_registers; ++row) decode_row(a, call.warp.first_thread / kLanes % 4 * 16 + row, call.i.from, &rows[row * k]);
  for (std::size_t column = 0; column < n; ++column) {
    decode_row(b, column, static_cast<Type>(call.i.offset), &columns[column * k]);
    for (std::size_t at = 0; at < k; ++at) of_k[at * n + column] = columns[column * k + at];
  }
  const auto each_result = [&](const auto& visit) {
    each_lane(call.lanes, [&](std::uint32_t lane) {
      for (std::size_t r = 0; r < results; ++r) visit(sums[(lane / 4 + r / 2 % 2 * 8) * n + r / 4 * 8 + lane % 4 * 2 + r % 2], call.reads[r], call.writes[r], lane);
    });
  };
  each_result([&](double& sum, std::uint32_t from, std::uint32_t, std::uint32_t lane) {
    const auto c = static_cast<std::uint32_t>(call.warp.slot(from)[lane]);
    sum = !adds ? 0 : integers ? static_cast<std::int32_t>(c) : std::bit_cast<float>(c);
  });
  for (std::size_t row = 0; row < 16; ++row) {  // sums of a row go on side by side: each waits for its own alone
    for (std::size_t at = 0; at < k; ++at) {
      const double factor = rows[row * k + at];
      for (std::size_t column = 0; column < n; ++column) sums[row * n + column] += factor * of_k[at * n + column];
    }
  }
  each_result([&](double sum, std::uint32_t, std::uint32_t to, std::uint32_t lane) {
    call.warp.slot(to)[lane] = integers ? static_cast<std::uint32_t>(static_cast<std::int64_t>(sum)) : single_bits(sum);
  });
  return nullptr;
}

void multiply_matrices(const WideCall& call) {
  const MmaShape shape = MmaShape::of(call.i.offset);
  const std::size_t first_b = shape.registers_of_a(), first_c = first_b + shape.registers_of_b();
  const auto element = [&](std::size_t first, MmaShape::Place place, MmaElement of) {
    const std::uint64_t mask = of == MmaElement::F64 ? ~0ull : (1ull << mma_bits(of)) - 1;
    return number_of(of, place.lane < call.warp.width ? call.warp.slot(call.reads[first + place.reg])[place.lane] >> place.shift & mask : 0);
  };
  std::vector<std::array<std::uint64_t, kLanes>> results(call.i.writes, std::array<std::uint64_t, kLanes>{});
  std::vector<double> rows(std::size_t{shape.m} * shape.k), columns(std::size_t{shape.n} * shape.k);
  for (std::uint32_t product = 0; product < (shape.quads() ? 4u : 1u); ++product) {
    for (std::uint32_t at = 0; at < shape.k; ++at) {
      for (std::uint32_t row = 0; row < shape.m; ++row) rows[row * shape.k + at] = element(0, shape.place_of_a(row, at, product), shape.a);
      for (std::uint32_t column = 0; column < shape.n; ++column) columns[column * shape.k + at] = element(first_b, shape.place_of_b(at, column, product), shape.b);
    }
    for (std::uint32_t row = 0; row < shape.m; ++row) {
      for (std::uint32_t column = 0; column < shape.n; ++column) {
        const double c = element(first_c, shape.place_of_sum(shape.c, row, column, product), shape.c);
        const auto [lane, reg, shift] = shape.place_of_sum(shape.d, row, column, product);
        const double sum = sum_of(shape, &rows[std::size_t{row} * shape.k], &columns[std::size_t{column} * shape.k], c);
        results[reg][lane] |= bits_of(shape.d, sum, call.i.finite) << shift;
      }
    }
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    each_lane(call.lanes, [&](std::uint32_t lane) { call.warp.slot(call.writes[k])[lane] = results[k][lane]; });
  }
}

}  // namespace gexp::sim
