// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gexp::cuda {

std::optional<Packed> pack(std::span<const std::int64_t> offsets, std::span<const std::uint64_t> values, int width) {
  if (offsets.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
  const auto count = static_cast<std::int64_t>(offsets.size());
  if (*high - *low != (count - 1) * width) return std::nullopt;
  Packed packed;
  packed.first = *low;
  packed.bytes.resize(offsets.size() * static_cast<std::size_t>(width));
  std::vector<bool> seen(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto at = offsets[i] - *low;
    if (at % width != 0 || seen[static_cast<std::size_t>(at / width)]) return std::nullopt;
    seen[static_cast<std::size_t>(at / width)] = true;
    std::memcpy(packed.bytes.data() + at, &values[i],
                static_cast<std::size_t>(width));  // the low bytes: both ends are little-endian
  }
  return packed;
}

// Written by hand so that this backend needs no compiler of its own. Values are staged as 64 bits; the low ones are stored.
std::string scatter_ptx(int width) {
  return fmt::format(R"(.version 6.0
.target sm_30
.address_size 64

.visible .entry scatter{width}(.param .u64 base, .param .u64 offsets, .param .u64 values, .param .u32 count)
{{
  .reg .pred %p;
  .reg .b32 %i, %n, %b, %t;
  .reg .b64 %base, %off, %val, %step;
  .reg .b{bits} %v;
  ld.param.u32 %n, [count];
  mov.u32 %b, %ctaid.x;
  mov.u32 %i, %ntid.x;
  mov.u32 %t, %tid.x;
  mad.lo.u32 %i, %b, %i, %t;
  setp.ge.u32 %p, %i, %n;
  @%p bra end;
  ld.param.u64 %base, [base];
  ld.param.u64 %off, [offsets];
  ld.param.u64 %val, [values];
  mul.wide.u32 %step, %i, 8;
  add.u64 %off, %off, %step;
  add.u64 %val, %val, %step;
  ld.global.u64 %off, [%off];
  ld.global.u{bits} %v, [%val];
  add.u64 %base, %base, %off;
  st.global.u{bits} [%base], %v;
end:
  ret;
}}
)", fmt::arg("width", width), fmt::arg("bits", 8 * width));
}

}  // namespace gexp::cuda
