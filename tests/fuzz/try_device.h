// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>

#include "lang/base/result.h"
#include "runtime/sim/sim.h"

/// What the fuzzers and the hostile corpus do with a model, and with PTX.
namespace gexp {

inline constexpr double kMoment = 0.2;  ///< seconds that a kernel may run

/// Loads the kernel `k` of a PTX text and runs it by one warp on some memory.
inline void try_kernel(device::Backend& device, const std::string& ptx) {
  const auto kernel = device.load({device::Target::Form::Ptx, ptx, "k"});
  if (!kernel) {
    GEXP_CHECK(!kernel.error().message.empty());
    return;
  }
  constexpr std::uint64_t kMemory = 64 << 10;
  const auto memory = device.allocate(kMemory);
  if (!memory) return;
  const std::array arguments{device::pointer(*memory), device::Argument{7, 8}};
  const auto outcome = device.launch(*kernel, {.block = 32}, arguments, kMoment);
  GEXP_CHECK(outcome.done() || !outcome.what.empty());
}

/// A load by each path, a store, shared memory and a barrier.
inline constexpr const char* kProbe = R"(.version 7.8
.target sm_35
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<8>;
  .shared .align 4 .b8 s[256];
  ld.param.u64 %rd1, [a];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];
  ld.global.ca.u32 %r2, [%rd2+128];
  ld.global.cg.u32 %r3, [%rd2+4096];
  ld.global.nc.u32 %r4, [%rd2+256];
  ld.volatile.global.u32 %r5, [%rd2+512];
  st.global.u32 [%rd2], %r1;
  st.shared.u32 [s], %r2;
  bar.sync 0;
  ld.shared.u32 %r6, [s];
  ret;
}
)";

inline void try_model(const Source& model) {
  Diagnostics diagnostics;
  if (!sim::check_model(model, diagnostics)) {
    GEXP_CHECK(diagnostics.has_errors());
    for (const auto& diagnostic : diagnostics.sorted()) {
      GEXP_CHECK(diagnostic.span.begin <= diagnostic.span.end && diagnostic.span.end <= model.text().size() + 1);
      GEXP_CHECK(!render(diagnostic, &model).empty());
    }
    return;
  }
  GEXP_CHECK(sim::draw_model(model).ok() && sim::structure(model).ok());
  auto device = sim::open(model, "sim:fuzz");
  GEXP_CHECK(device.ok());
  try_kernel(**device, kProbe);
}

}  // namespace gexp
