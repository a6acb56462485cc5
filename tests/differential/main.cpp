// SPDX-License-Identifier: Apache-2.0
// Random kernels on the simulator against the host: test_differential [--seeds A..B] [--block N] [--grid N] [--print SEED] [--soft-l1]
#include <fmt/format.h>

#include <cstring>

#include "ptx/soft_l1.h"
#include "runtime/jit/locate.h"
#include "runtime/sim/sim.h"
#include "tests/differential/campaign.h"
#include "tests/differential/print.h"

using namespace gexp;

namespace {

/// Kernels that were given a software cache, and loops of these.
std::uint64_t transformed = 0, sliced = 0;

/// The kernel with the cache of S-L1, in a form that its seed chooses.
Result<device::KernelImage> with_soft_l1(const device::KernelImage& image, const differential::Program& program) {
  ptx::SoftL1 options;
  options.line = ptx::kSoftL1Lines[program.seed % 4];
  options.threads = program.block;
  options.room = std::min<std::uint64_t>(program.seed / 4 % 4 * options.line * options.threads + 4096, 40 << 10);
  constexpr std::uint32_t kMonitored[] = {0, 1, 7, 300};
  options.monitor = kMonitored[program.seed / 16 % 4];
  options.structures = {0, 1, 2, std::nullopt, std::nullopt};
  options.bytes = {std::max<std::uint64_t>(program.input_bytes, 16), std::max<std::uint64_t>(program.output_bytes, 16),
                   std::max<std::uint64_t>(program.counter_bytes, 16)};
  auto made = ptx::soft_l1(image.bytes, image.entry, options);
  if (!made) return made.error();
  transformed += made->loops > 0, sliced += made->loops;
  return device::KernelImage{image.form, std::move(made->text), image.entry};
}

}  // namespace

int main(int argc, char** argv) {
  differential::Campaign campaign;
  campaign.last = 299;
  for (int i = 1; i < argc;) {
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (std::strcmp(argv[i], "--print") == 0 && value && differential::parse_seeds(value, campaign)) {
      fmt::print("{}{}", differential::preamble(), differential::print(differential::generate(campaign.first, campaign.limits)));
      return 0;
    }
    if (std::strcmp(argv[i], "--soft-l1") == 0) {
      campaign.change = with_soft_l1;
      ++i;
      continue;
    }
    const int taken = differential::parse_option(argv[i], value, campaign);
    if (taken == 0) {
      fmt::print(stderr, "test_differential [--seeds A..B] [--block N] [--grid N] [--print SEED] [--soft-l1]\n");
      return 2;
    }
    i += taken;
  }
  if (jit::locate_nvrtc().path.empty()) {
    fmt::print("SKIPPED: no NVRTC\n");
    return 77;
  }
  // This model has every load path that NVRTC writes.
  campaign.open = [] { return sim::open("gtx980"); };
  const differential::Totals totals = differential::run(campaign);
  differential::report(totals, stdout);
  if (campaign.change) fmt::print("{} kernels with a software cache, in {} loops\n", transformed, sliced);
  return totals.good() ? 0 : 1;
}
