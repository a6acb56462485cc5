// SPDX-License-Identifier: Apache-2.0
// The second family of drawn devices: what the first leaves out. The first stays what it is, number by number.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lang/base/sha256.h"
#include "runtime/sim/sim.h"

using namespace gexp;

namespace {

std::string text(const std::string& family, int number, const char* noise = "") {
  const auto device = sim::drawn_device(fmt::format("{}{}{}", family, number, noise));
  REQUIRE(device);
  Diagnostics diagnostics;
  CHECK_MESSAGE(sim::check_model(*device, diagnostics), family << number << noise);
  return device->text();
}

/// How many of a hundred devices have it.
int having(const std::string& family, const std::string& part, const char* noise = "") {
  int count = 0;
  for (int number = 1; number <= 100; ++number) count += text(family, number, noise).find(part) != std::string::npos;
  return count;
}

}  // namespace

TEST_CASE("wide devices are valid, and differ in what the usual ones leave out") {
  for (const char* part : {"[tlbs.t3]", "sector = 16", "page = 4096\n", "page = 65536\n", "replacement = \"fifo\"\nprefetch", "\"lip\"", "\"bip\"", "\"nrf\"", "\"rrip\"", "holds = \"victims\"", "frames = ", "\nlines = ", "\"hashed\""}) {
    CHECK_MESSAGE(having("drawn-wide-", part) > 3, part);
    CHECK_MESSAGE(having("drawn-", part) == 0, part);
  }
  CHECK(having("drawn-wide-", "tail_probability = 0.5000", "-noisy") > 3);
  CHECK(having("drawn-wide-", "tail_probability = 0.5000", "-harsh") > 3);
  CHECK(having("drawn-", "tail_probability = 0.5000", "-noisy") == 0);
}

TEST_CASE("a usual device is what it was before there were wide ones, and caches of constants") {
  std::string all;
  const auto before_constants = [](const std::string& model) { return model.substr(0, model.find("\n[caches.k1]")); };
  for (int number = 1; number <= 50; ++number) all += before_constants(text("drawn-", number)) + before_constants(text("drawn-", number, "-noisy"));
  CHECK(sha256_hex(all) ==
        "3a4cf7577fbb5c36e58ee768319bc7a5e16a4e05494c90f4a3ec6fc413666c67");
}

TEST_CASE("no device without a number") {
  for (const char* name : {"drawn-wide-", "drawn-wide", "drawn-wide-x", "drawn-wide-1-loud"}) CHECK_FALSE(sim::drawn_device(name));
}
