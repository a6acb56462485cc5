// SPDX-License-Identifier: Apache-2.0
// The applications of S-L1 on a real GPU, as they stand and with the software cache, against what the host computes: the cases of tests/sim.
// Exit code 77 and "SKIPPED: no GPU" where there is none.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>

#include "runtime/cuda/cuda.h"
#include "tests/sim/soft_l1_application.h"

std::unique_ptr<gexp::device::Backend> sim_test::open_device_of_applications() {
  auto opened = gexp::cuda::open(0);
  if (!opened) FAIL(opened.error().message);
  return std::move(*opened);
}

int main(int argc, char** argv) {
  const auto list = gexp::cuda::devices();
  if (!list) {
    std::printf("SKIPPED: no GPU (%s)\n", list.error().message.c_str());
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
