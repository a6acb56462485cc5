// SPDX-License-Identifier: Apache-2.0
#include "lang/base/in_order.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

using gexp::in_order;

TEST_CASE("items are taken once each, in their order, by the thread that asked") {
  for (const std::size_t workers : {0, 1, 2, 5, 64}) {
    CAPTURE(workers);
    std::vector<std::atomic<int>> worked(100);
    std::vector<std::size_t> taken;
    const auto self = std::this_thread::get_id();
    in_order(100, workers, 100, [&](std::size_t i) {
      if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));  // later ones end before it
      ++worked[i];
    }, [&](std::size_t i) {
      CHECK(std::this_thread::get_id() == self);
      CHECK(worked[i] == 1);
      taken.push_back(i);
      return true;
    });
    std::vector<std::size_t> all(100);
    std::iota(all.begin(), all.end(), 0);
    CHECK(taken == all);
  }
}

TEST_CASE("nothing is taken after a stop, and little is worked on in vain") {
  for (const std::size_t ahead : {1, 3, 100}) {
    CAPTURE(ahead);
    std::atomic<std::size_t> worked{0};
    std::size_t taken = 0;
    in_order(100, 4, ahead, [&](std::size_t) { ++worked; }, [&](std::size_t i) { return ++taken, i < 9; });
    CHECK(taken == 10);
    CHECK(worked >= 10);
    CHECK(worked <= 10 + ahead - 1);
  }
}

TEST_CASE("several items are worked on at once") {
  std::atomic<int> waiting{0};
  std::atomic<bool> met{false};
  in_order(2, 2, 2, [&](std::size_t) {
    ++waiting;
    for (int i = 0; i < 5000 && waiting < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (waiting == 2) met = true;
  }, [](std::size_t) { return true; });
  CHECK(met);
}

TEST_CASE("no items") {
  in_order(0, 4, 4, [](std::size_t) { FAIL("nothing to work on"); }, [](std::size_t) { return true; });
}
