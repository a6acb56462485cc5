// SPDX-License-Identifier: Apache-2.0
// Random kernels on the simulator against the host: test_differential [--print SEED] and kOptions
#include <fmt/format.h>

#include <cstring>

#include "runtime/jit/locate.h"
#include "runtime/sim/sim.h"
#include "tests/differential/campaign.h"
#include "tests/differential/print.h"

using namespace gexp;

int main(int argc, char** argv) {
  differential::Campaign campaign;
  campaign.last = 299;
  for (int i = 1; i < argc;) {
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (std::strcmp(argv[i], "--print") == 0 && value && differential::parse_seeds(value, campaign)) {
      fmt::print("{}{}", differential::preamble(), differential::print(differential::generate(campaign.first, campaign.limits)));
      return 0;
    }
    const int taken = differential::parse_option(argv[i], value, campaign);
    if (taken == 0) {
      fmt::print(stderr, "test_differential [--print SEED] {}\n", differential::kOptions);
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
  return totals.good() ? 0 : 1;
}
