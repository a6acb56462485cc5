// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/sim/compute.h"
#include "runtime/sim/float_format.h"

// f16, bf16 and pairs of them: each result is computed in double, exactly or rounded to odd, and rounded once.
namespace gexp::sim {
namespace {

double smaller(double a, double b, bool nan) {
  if (std::isnan(a) || std::isnan(b)) return nan ? std::numeric_limits<double>::quiet_NaN() : std::isnan(a) ? b : a;
  if (a == b) return std::signbit(a) ? a : b;
  return std::min(a, b);
}

/// min and max of two, with .NaN and .xorsign.abs.
double extreme(const Instruction& i, double a, double b) {
  const bool negative = std::signbit(a) != std::signbit(b);
  if (i.magnitude) a = std::fabs(a), b = std::fabs(b);
  const double found = i.op == Op::FMin ? smaller(a, b, i.nan) : -smaller(-a, -b, i.nan);
  return i.magnitude && negative && !std::isnan(found) ? -found : found;
}

double value_of(const Instruction& i, double a, double b, double c) {
  switch (i.op) {
    case Op::FAdd: return fused_to_odd(a, 1, b);
    case Op::FSub: return fused_to_odd(a, 1, -b);
    case Op::FMul: return a * b;
    case Op::FFma: return fused_to_odd(a, b, c);
    case Op::FMin: case Op::FMax: return extreme(i, a, b);
    case Op::FTanh: return std::tanh(a);
    default: return std::exp2(a);  // FEx2
  }
}

std::uint64_t one(const Instruction& i, const FloatFormat& f, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  if (i.op == Op::FNeg) return x ^ 0x8000;
  if (i.op == Op::FAbs) return x & 0x7fff;
  const auto read = [&](std::uint64_t bits) {
    if (i.flush && (bits >> f.mantissa_bits & ((1u << f.exponent_bits) - 1)) == 0) bits &= 0x8000;
    return decode_float(f, bits);
  };
  const double a = read(x), b = read(y), c = read(z);
  if (i.op >= Op::FEq && i.op <= Op::FNan) return holds(i.op, a, b);
  return encode_float(f, within(i, value_of(i, a, b, c)), i.inexact, i.finite);
}

}  // namespace

double within(const Instruction& i, double value) {
  if (i.saturate) return std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0) + 0.0;
  if (i.relu) return std::isnan(value) ? value : std::max(value, 0.0);
  return value;
}

std::uint64_t compute_small(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const FloatFormat& f = format_of(i.type);
  const bool compares = i.op >= Op::FEq && i.op <= Op::FNan;
  const auto half = [&](int at) {
    const std::uint64_t result = one(i, f, a >> at & 0xffff, b >> at & 0xffff, c >> at & 0xffff);
    if (compares) return element(i.type) == i.type ? result : result * static_cast<std::uint64_t>(i.offset);
    // A result that is subnormal is flushed too.
    return i.flush && (result >> f.mantissa_bits & ((1u << f.exponent_bits) - 1)) == 0 ? result & 0x8000 : result;
  };
  return element(i.type) == i.type ? half(0) : half(0) | half(16) << 16;
}

std::uint64_t convert_pair(const Instruction& i, std::uint64_t a, std::uint64_t b) {
  const FloatFormat& to = format_of(i.type);
  const int width = i.type == Type::E4m3x2 || i.type == Type::E5m2x2 ? 8 : 16;
  double high = 0, low = 0;
  if (i.from == Type::F32) {
    high = std::bit_cast<float>(static_cast<std::uint32_t>(a)), low = std::bit_cast<float>(static_cast<std::uint32_t>(b));
  } else {  // a pair in one register
    const FloatFormat& from = format_of(i.from);
    const int part = bits(i.from) / 2;
    high = decode_float(from, a >> part), low = decode_float(from, a & ((1ull << part) - 1));
  }
  return encode_float(to, within(i, high), i.inexact, i.finite) << width | encode_float(to, within(i, low), i.inexact, i.finite);
}

/// offset: bits of a part; `from` says whether parts are signed.
std::uint64_t convert_pack(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const int width = static_cast<int>(i.offset);
  const std::int64_t most = i.from == Type::S32 ? (1ll << (width - 1)) - 1 : (1ll << width) - 1, least = i.from == Type::S32 ? -most - 1 : 0;
  const auto part = [&](std::uint64_t v) {
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(static_cast<std::int32_t>(v), least, most)) & ((1ull << width) - 1);
  };
  return ((c << (2 * width)) | part(a) << width | part(b)) & 0xffffffffu;
}

}  // namespace gexp::sim
