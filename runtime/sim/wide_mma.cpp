// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

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

std::uint64_t of_integers(const Fragments& f, int row, int column, std::uint64_t c) {
  const std::int64_t flags = f.call.i.offset;
  std::int64_t sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(c));
  for (int at = 0; at < f.k; ++at) sum += byte_value(f.of_a(row, at), flags >> 16 & 1) * byte_value(f.of_b(at, column), flags >> 17 & 1);
  if (f.call.i.finite) sum = std::min<std::int64_t>(std::max<std::int64_t>(sum, INT32_MIN), INT32_MAX);
  return static_cast<std::uint32_t>(sum);
}

/// PTX leaves the order and the precision of the sum open, beyond single precision. Here the sum is kept in double and rounded once.
double of_floats(const Fragments& f, int row, int column, double sum) {
  const FloatFormat& format = format_of(f.call.i.from);
  for (int at = 0; at < f.k; ++at) sum += decode_float(format, f.of_a(row, at)) * decode_float(format, f.of_b(at, column));
  return sum;
}

/// A matrix in shared memory as a descriptor names it, without a swizzle: pieces of 8 rows of 16 bytes, so far apart along k and along rows.
class SharedMatrix {
 public:
  SharedMatrix(std::uint64_t descriptor, int rows, std::span<const std::byte> shared)
      : shared_(shared), begin_((descriptor & 0x3fff) * 16), along_k_((descriptor >> 16 & 0x3fff) * 16), along_rows_((descriptor >> 32 & 0x3fff) * 16),
        plain_((descriptor >> 49) == 0), rows_(static_cast<std::uint64_t>(rows)) {}
  [[nodiscard]] bool plain() const { return plain_; }
  [[nodiscard]] bool inside() const { return begin_ + along_k_ + (rows_ / 8 - 1) * along_rows_ + 128 <= shared_.size(); }
  [[nodiscard]] const std::byte* row(std::uint64_t row, std::uint64_t half) const { return shared_.data() + begin_ + half * along_k_ + row / 8 * along_rows_ + row % 8 * 16; }

 private:
  std::span<const std::byte> shared_;
  std::uint64_t begin_, along_k_, along_rows_;
  bool plain_;
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

}  // namespace

// Sums of integers stay below 2^53 by far, so double is exact for them.
const char* multiply_shared(const WideCall& call, std::span<const std::byte> shared) {
  const std::size_t results = call.i.writes, n = results * 2;
  const bool integers = call.i.type == Type::S32;
  const std::size_t k = halves(call.i.from) ? 16 : 32;
  const auto first = static_cast<std::size_t>(std::countr_zero(call.lanes));
  const auto given = [&](std::size_t at) { return call.warp.slot(call.reads[results + at])[first]; };
  const SharedMatrix a(given(0), 64, shared), b(given(1), static_cast<int>(n), shared);
  if (!a.plain() || !b.plain()) return "a matrix with a swizzle is not simulated";
  if (!a.inside() || !b.inside()) return "a matrix outside the block's shared memory";
  const bool adds = given(2) != 0;
  std::vector<double> rows(16 * k), columns(n * k), of_k(n * k), sums(16 * n, 0);
  for (std::size_t row = 0; row < 16; ++row) decode_row(a, call.warp.first_thread / kLanes % 4 * 16 + row, call.i.from, &rows[row * k]);
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
  const bool integers = call.i.type == Type::S32;
  const bool pairs = call.i.type == Type::F16;  // of sums in one register
  const Fragments f{call, static_cast<int>(call.i.offset & 0xff), integers ? 4 : call.i.from == Type::Tf32 ? 1 : 2};
  const std::size_t words = pairs ? 2 : 4, first_c = call.i.reads - words;
  const FloatFormat& half = format_of(Type::F16);
  std::array<std::array<std::uint64_t, kLanes>, 4> results{};
  each_lane(call.lanes, [&](std::uint32_t lane) {
    for (std::size_t k = 0; k < 4; ++k) {
      const int row = static_cast<int>(lane / 4 + k / 2 * 8), column = static_cast<int>(lane % 4 * 2 + k % 2);
      const std::uint64_t c = call.warp.slot(call.reads[first_c + (pairs ? k / 2 : k)])[lane];
      if (integers) results[k][lane] = of_integers(f, row, column, c);
      else if (pairs) results[k / 2][lane] |= encode_float(half, of_floats(f, row, column, decode_float(half, c >> k % 2 * 16 & 0xffff)), 0, false) << k % 2 * 16;
      else results[k][lane] = single_bits(of_floats(f, row, column, std::bit_cast<float>(static_cast<std::uint32_t>(c))));
    }
  });
  for (std::size_t k = 0; k < words; ++k) {
    each_lane(call.lanes, [&](std::uint32_t lane) { call.warp.slot(call.writes[k])[lane] = results[k][lane]; });
  }
}

}  // namespace gexp::sim
