// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/soft_l1_application.h"

std::unique_ptr<gexp::device::Backend> sim_test::open_device_of_applications() {
  auto opened = gexp::sim::open(*gexp::sim::read_model("titanblack"), "sim:titanblack", {});
  if (!opened) FAIL(opened.error().message);
  return std::move(*opened);
}
