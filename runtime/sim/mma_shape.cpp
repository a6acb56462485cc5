// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/mma_shape.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace gexp::sim {
namespace {

using E = MmaElement;

constexpr std::pair<std::string_view, E> kElements[] = {{"f64", E::F64}, {"f32", E::F32}, {"s32", E::S32}, {"tf32", E::Tf32}, {"f16", E::F16}, {"bf16", E::Bf16}, {"e4m3", E::E4m3},
                                                        {"e5m2", E::E5m2}, {"u8", E::U8}, {"s8", E::S8}, {"u4", E::U4}, {"s4", E::S4}, {"b1", E::B1}};

/// What the PTX ISA has: elements of a, the other that b may have, whether m is 8 and each k, and the sums.
struct Known {
  E a, also;
  std::uint32_t m, k[3];
  E sums, other_sums;
};
constexpr Known kKnown[] = {
    {E::F64, E::F64, 8, {4}, E::F64, E::F64},           {E::F64, E::F64, 16, {4, 8, 16}, E::F64, E::F64},
    {E::Tf32, E::Tf32, 16, {4, 8}, E::F32, E::F32},     {E::F16, E::F16, 8, {4}, E::F16, E::F32},
    {E::F16, E::F16, 16, {8, 16}, E::F16, E::F32},      {E::Bf16, E::Bf16, 16, {8, 16}, E::F32, E::F32},
    {E::E4m3, E::E5m2, 16, {16, 32}, E::F16, E::F32},   {E::U8, E::S8, 8, {16}, E::S32, E::S32},
    {E::U8, E::S8, 16, {16, 32}, E::S32, E::S32},       {E::U4, E::S4, 8, {32}, E::S32, E::S32},
    {E::U4, E::S4, 16, {32, 64}, E::S32, E::S32},       {E::B1, E::B1, 8, {128}, E::S32, E::S32},
    {E::B1, E::B1, 16, {128, 256}, E::S32, E::S32}};

std::uint32_t per_register(E element) { return std::max(32 / mma_bits(element), 1u); }

/// Of two that lie 16 lanes apart; the product is its quad.
std::uint32_t lane_of(std::uint32_t product, std::uint32_t index) { return product * 4 + index % 4 + index / 4 * 16; }

}  // namespace

std::optional<MmaElement> mma_element(std::string_view word) {
  for (const auto& [name, element] : kElements) {
    if (name == word) return element;
  }
  return std::nullopt;
}

std::uint32_t mma_bits(MmaElement element) {
  switch (element) {
    case E::F64: return 64;
    case E::F16: case E::Bf16: return 16;
    case E::E4m3: case E::E5m2: case E::U8: case E::S8: return 8;
    case E::U4: case E::S4: return 4;
    case E::B1: return 1;
    default: return 32;
  }
}

void MmaShape::name(std::string_view word) {
  for (std::uint32_t* const part : {&m, &n, &k}) {
    if (word.size() < 2) return;
    const auto read = std::from_chars(word.data() + 1, word.data() + word.size(), *part);
    word.remove_prefix(static_cast<std::size_t>(read.ptr - word.data()));
  }
}

bool MmaShape::exists() const {
  const bool by_quads = quads();
  if (n != 8 || (!by_quads && (!a_by_rows || b_by_rows))) return false;
  return std::any_of(std::begin(kKnown), std::end(kKnown), [&](const Known& known) {
    const auto one_of = [](E element, E first, E second) { return element == first || element == second; };
    const bool sums = one_of(d, known.sums, known.other_sums) && one_of(c, known.sums, known.other_sums) && (c == d || (by_quads && d == E::F16));
    const bool deep = std::find(std::begin(known.k), std::end(known.k), k) != std::end(known.k);
    return known.m == m && k != 0 && deep && sums && one_of(a, known.a, known.also) && one_of(b, known.a, known.also);
  });
}

std::uint32_t MmaShape::registers(MmaElement element, std::uint32_t elements) const { return elements / (quads() ? 8 : 32) / per_register(element); }

MmaShape::Place MmaShape::place_of_a(std::uint32_t row, std::uint32_t at, std::uint32_t product) const {
  if (quads()) {  // of rows: a lane has a row; of columns: four rows of a column
    const std::uint32_t lane = a_by_rows ? row : at + row / 4 * 4, element = a_by_rows ? at : row % 4;
    return {lane_of(product, lane), element / 2, element % 2 * 16};
  }
  // A word has neighbours along k; four lanes follow each other along k, and eight rows. Then come 8 more rows, and then k goes on.
  const std::uint32_t per = per_register(a), block = at / (4 * per);
  return {row % 8 * 4 + at / per % 4, m == 16 ? block * 2 + row / 8 : block, at % per * mma_bits(a)};
}

MmaShape::Place MmaShape::place_of_b(std::uint32_t at, std::uint32_t column, std::uint32_t product) const {
  if (quads()) {
    const std::uint32_t lane = b_by_rows ? at + column / 4 * 4 : column, element = b_by_rows ? column % 4 : at;
    return {lane_of(product, lane), element / 2, element % 2 * 16};
  }
  const std::uint32_t per = per_register(b);
  return {column * 4 + at / per % 4, at / (4 * per), at % per * mma_bits(b)};
}

MmaShape::Place MmaShape::place_of_sum(MmaElement element, std::uint32_t row, std::uint32_t column, std::uint32_t product) const {
  if (quads() && element == E::F16) return {lane_of(product, row), column / 2, column % 2 * 16};
  if (quads()) {  // row = lane's bit 0 and index's bit 1, column = index's bits 2 and 0 and the lane's bit 1
    return {lane_of(product, (row & 1) + (column & 2) + row / 4 * 4), (column & 4) + (row & 2) + (column & 1), 0};
  }
  const std::uint32_t index = row / 8 * 2 + column % 2, per = per_register(element);
  return {row % 8 * 4 + column / 2, index / per, per == 2 ? index % 2 * 16 : 0};
}

std::int64_t MmaShape::packed() const {
  const auto element = [](E of, int at) { return static_cast<std::int64_t>(of) << at; };
  return m | n << 8 | std::int64_t{k} << 16 | element(a, 32) | element(b, 36) | element(c, 40) | element(d, 44) | std::int64_t{a_by_rows} << 48 |
         std::int64_t{b_by_rows} << 49 | std::int64_t{exclusive} << 50;
}

MmaShape MmaShape::of(std::int64_t packed) {
  const auto element = [&](int at) { return static_cast<E>(packed >> at & 15); };
  const auto flag = [&](int at) { return (packed >> at & 1) != 0; };
  const auto number = [&](int at, std::uint32_t mask) { return static_cast<std::uint32_t>(packed >> at) & mask; };
  return {number(0, 0xff), number(8, 0xff), number(16, 0xffff), element(32), element(36), element(40), element(44), flag(48), flag(49), flag(50)};
}

}  // namespace gexp::sim
