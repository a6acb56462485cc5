// SPDX-License-Identifier: Apache-2.0
// The random kernels of tests/differential on a real GPU against the host: test_gpu_differential --log FILE [--device N], and kOptions.
// What the GPU computes is what the host's rules say; so the simulator, held to the same rules, computes it too.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstring>

#include "runtime/cuda/cuda.h"
#include "tests/differential/campaign.h"

using namespace gexp;

namespace {

int usage() {
  fmt::print(stderr, "test_gpu_differential --log FILE [--device N] {}\n", differential::kOptions);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  differential::Campaign campaign;
  const char* path = nullptr;
  int ordinal = 0;
  for (int i = 1; i < argc;) {
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    int taken = differential::parse_option(argv[i], value, campaign);
    if (taken == 0 && value && std::strcmp(argv[i], "--log") == 0) path = value, taken = 2;
    if (taken == 0 && value && std::strcmp(argv[i], "--device") == 0 && std::from_chars(value, value + std::strlen(value), ordinal).ec == std::errc()) taken = 2;
    if (taken == 0) return usage();
    i += taken;
  }
  if (!path) return usage();
  const auto devices = cuda::devices();
  if (!devices || ordinal < 0 || static_cast<std::size_t>(ordinal) >= devices->size()) {
    fmt::print("SKIPPED: no GPU ({})\n", devices ? "no device of this number" : devices.error().message);
    return 77;
  }
  campaign.log = std::fopen(path, "w");
  if (!campaign.log) {
    fmt::print(stderr, "cannot write {}\n", path);
    return 2;
  }
  const auto& device = (*devices)[static_cast<std::size_t>(ordinal)];
  fmt::print(campaign.log, "{}, compute {}.{}, driver {}\n", device.name, device.compute_major, device.compute_minor, device.driver);
  campaign.open = [ordinal] { return cuda::open(ordinal); };
  const auto start = std::chrono::steady_clock::now();
  const differential::Totals totals = differential::run(campaign);
  differential::report(totals, campaign.log);
  fmt::print(campaign.log, "{:.1f} s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  differential::report(totals, stdout);
  std::fclose(campaign.log);
  return totals.good() ? 0 : 1;
}
