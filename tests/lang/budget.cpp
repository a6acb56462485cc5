// SPDX-License-Identifier: Apache-2.0
// What ends a loop that a spec decides: time, an interrupt, memory, and, while a text is compiled, work.
#include "lang/base/budget.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace gexp;

namespace {

/// Steps until the thread is told to end; more than a minute's worth: it was not.
double seconds_of_loop() {
  const Stopwatch watch;
  while (Budget::tick() && watch.seconds() < 60) {}
  return watch.seconds();
}

std::string code_of_end() { return Budget::exceeded({}).code; }

}  // namespace

TEST_CASE("without a budget nothing is limited") {
  CHECK(Budget::tick(std::int64_t{1} << 40));
  CHECK(Budget::spend(std::int64_t{1} << 40));
  CHECK(Budget::spend_bytes(std::uint64_t{1} << 50));
}

TEST_CASE("a loop ends when the time is over, and an inner budget never has more than the outer one") {
  const Budget outer({.seconds = 0.1});
  const Budget::Use use(outer);
  const Budget inner({.seconds = 1000});
  CHECK(inner.seconds_left() <= 0.1);
  const Budget::Use use_inner(inner);
  CHECK(seconds_of_loop() < 10);
  CHECK(inner.look() == Budget::End::Time);
  CHECK(Budget::ends_run(Budget::exceeded({})));
  CHECK_FALSE(Budget::tick());  // once over, always
}

TEST_CASE("an interrupt ends it on every thread that works for it, and not what is apart") {
  std::atomic<bool> interrupted = false;
  const Budget budget({.interrupted = [&] { return interrupted.load(); }});
  const Budget::Use use(budget);
  const Budget ending({.grace = 0.3});
  std::vector<std::jthread> threads;
  std::atomic<int> ended = 0;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      const Budget::Use own(budget);
      ended += seconds_of_loop() < 30 ? 1 : 0;
    });
  }
  CHECK(Budget::go_on());
  interrupted = true;
  threads.clear();
  CHECK(ended == 2);
  CHECK_FALSE(Budget::go_on());
  CHECK(Budget::ends_run(Budget::exceeded({})));
  const Budget::Use use_ending(ending);
  CHECK(Budget::go_on());
}

TEST_CASE("memory that would be too much is refused before it is filled, and seen where it was filled unasked") {
  const auto now = resident_bytes();
  REQUIRE(now > 0);
  const Budget budget({.memory = now + (std::uint64_t{64} << 20)});
  const Budget::Use use(budget);
  CHECK(Budget::spend_bytes(std::uint64_t{1} << 20));
  CHECK_FALSE(Budget::spend_bytes(std::uint64_t{1} << 30));
  CHECK(code_of_end() == "E0722");
  CHECK_FALSE(Budget::ends_run(Budget::exceeded({})));
  const std::vector<char> filled(std::size_t{256} << 20, 1);
  CHECK(seconds_of_loop() < 10);
  CHECK(code_of_end() == "E0722");
}

TEST_CASE("work is counted where somebody counts it, from the outer count too") {
  const Budget::Work outer(1000);
  {
    const Budget::Work inner(100);
    CHECK(Budget::spend(50));
    CHECK_FALSE(Budget::spend(60));
    CHECK(Budget::Work::exhausted());
    CHECK(code_of_end() == "E0444");
  }
  CHECK_FALSE(Budget::Work::exhausted());
  CHECK_FALSE(Budget::spend(901));
}

TEST_CASE("the memory of a command is a part of what is free") {
  CHECK(default_memory_budget() >= std::uint64_t{256} << 20);
  CHECK(default_memory_budget() < std::uint64_t{1} << 50);
}

TEST_CASE("who needs what another thread was told to leave says why, though it was never asked itself") {
  std::atomic<bool> over{false};
  const Budget budget({.interrupted = [&] { return over.load(); }});
  const Budget::Use use(budget);
  {
    const Budget::Work none(1);
    CHECK_FALSE(Budget::spend(2));  // a refusal of before must not be told again
  }
  over = true;
  Budget::told_elsewhere();
  CHECK(Budget::ends_run(Budget::exceeded({})));
  over = false;
  Budget::told_elsewhere();
  CHECK(Budget::exceeded({}).code == "E0722");
}
