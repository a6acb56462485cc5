// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/device.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "runtime/cuda/scatter.h"
#include "runtime/cuda/system.h"

using namespace gexp::cuda;

TEST_CASE("a GPU's name becomes the word that specs use") {
  CHECK(selector_of("NVIDIA H200") == "h200");
  CHECK(selector_of("GeForce GTX 780") == "gtx780");
  CHECK(selector_of("NVIDIA GeForce GTX 780 Ti") == "gtx780ti");
  CHECK(selector_of("NVIDIA GeForce RTX 4090") == "rtx4090");
  CHECK(selector_of("Tesla V100-SXM2-16GB") == "v100");
  CHECK(selector_of("NVIDIA A100-SXM4-40GB MIG 1g.5gb") == "a100");
  CHECK(selector_of("NVIDIA H100 80GB HBM3") == "h100");
  CHECK(selector_of("NVIDIA H100 PCIe") == "h100");
  CHECK(selector_of("NVIDIA GH200 480GB") == "gh200");
  CHECK(selector_of("NVIDIA RTX 6000 Ada Generation") == "rtx6000ada");
}

TEST_CASE("a carve-out is a percentage for which the driver chooses the capacity meant") {
  constexpr std::uint64_t kKib = 1024;
  // The capacity that an H200's driver was seen to choose for a percentage (driver 580.159.04, 2026-11-21).
  const auto chosen = [](int percent) {
    const std::vector<std::pair<int, int>> steps = {{3, 8}, {7, 16}, {14, 32}, {27, 64}, {35, 100}, {50, 132}, {60, 164}};
    for (const auto& [last, kib] : steps) {
      if (percent <= last) return kib;
    }
    return percent < 80 ? 196 : 228;
  };
  for (const int kib : {8, 16, 32, 64, 100, 132, 228}) {
    CAPTURE(kib);
    CHECK(chosen(carveout_percent(9, 0, 228 * kKib, static_cast<std::uint64_t>(kib) * kKib)) == kib);
    CHECK(chosen(carveout_percent(9, 0, 228 * kKib, static_cast<std::uint64_t>(kib) * kKib - 512)) == kib);
  }
  CHECK(carveout_percent(99, 0, 200 * kKib, 3 * kKib) == 2);  // capacities not known: never too little
}

TEST_CASE("the kernel driver's version is found in /proc's text") {
  CHECK(driver_version_in(
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (x)\nGCC version: 12.2.0\n") ==
        "580.95.05");
  CHECK(driver_version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 14:37:44 UTC 2024\n") ==
        "470.256.02");
  CHECK(driver_version_in("").empty());
  CHECK(driver_version_in("no version here\n1.2.3\n").empty());
}

TEST_CASE("links are packed only when they fill a stretch, each byte once") {
  const std::vector<std::uint64_t> values = {10, 20, 30};
  const auto packed = pack(std::vector<std::int64_t>{16, 8, 12}, values, 4);
  REQUIRE(packed);
  CHECK(packed->first == 8);
  CHECK(packed->bytes ==
        std::vector<std::byte>{std::byte{20}, {}, {}, {}, std::byte{30}, {}, {}, {}, std::byte{10}, {}, {}, {}});
  CHECK_FALSE(pack(std::vector<std::int64_t>{0, 4, 12}, values, 4));  // a gap
  CHECK_FALSE(pack(std::vector<std::int64_t>{0, 8, 8}, values, 4));   // one twice
  CHECK_FALSE(pack(std::vector<std::int64_t>{0, 3, 8}, values, 4));   // across
  CHECK_FALSE(pack({}, {}, 4));
}
