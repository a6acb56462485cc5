// SPDX-License-Identifier: Apache-2.0
// Which words a kernel writes, against the same spec read by hand: random loops, unrolled ones, branches and offsets, by a warp.
// Also that the rehearsal of the timed region touches nothing.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <random>
#include <set>

#include "runtime/sim/sim.h"
#include "tests/loop/forwarding.h"
#include "tests/loop/loop.h"

using namespace gexp;

namespace {

constexpr std::uint64_t kBytes = 65536;  // of the memory under test: no buffer of the session's is as large

/// The simulator, but the memory under test begins as ones and is kept when it is given back.
class Keeping final : public test::Forwarding {
 public:
  using Forwarding::Forwarding;
  std::vector<std::uint32_t> words;

  Result<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t align, device::Where where) override {
    auto address = Forwarding::allocate(bytes, align, where);
    if (address && bytes == kBytes) {
      address_ = *address;
      const std::vector<std::uint32_t> ones(kBytes / 4, 0xffffffffu);
      CHECK(write(address_, std::as_bytes(std::span(ones))).ok());
    }
    return address;
  }
  void release(std::uint64_t address) override {
    if (address == address_) {
      words.resize(kBytes / 4);
      CHECK(read(address, std::as_writable_bytes(std::span(words))).ok());
    }
    Forwarding::release(address);
  }

 private:
  std::uint64_t address_ = 0;
};

struct Names {
  int tid = 0;
  std::map<std::string, int> rounds;
};
using Offset = std::function<int(const Names&)>;

/// A random body as text, and what it writes.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}
  std::set<int> written;

  std::string make() {
    std::vector<Names> threads(32);
    for (int tid = 0; tid < 32; ++tid) threads[static_cast<std::size_t>(tid)].tid = tid;
    std::string text;
    for (int i = 0; i < 2; ++i) text += op(3, threads, {});
    return text;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::pair<std::string, Offset> expression(int depth, const std::vector<std::string>& loops) {
    if (depth == 0 || pick(3) == 0) {
      const int which = pick(3 + static_cast<int>(loops.size()));
      if (which == 0) return {"tid", [](const Names& n) { return n.tid; }};
      if (which == 1) return {"lane", [](const Names& n) { return n.tid; }};
      if (which == 2) {
        const int value = pick(7);
        return {std::to_string(value), [value](const Names&) { return value; }};
      }
      const auto name = loops[static_cast<std::size_t>(which - 3)];
      return {name, [name](const Names& n) { return n.rounds.at(name); }};
    }
    const auto [a, fa] = expression(depth - 1, loops);
    const auto [b, fb] = expression(depth - 1, loops);
    const int by = 1 + pick(6);
    switch (pick(5)) {
      case 0: return {"(" + a + " + " + b + ")", [fa, fb](const Names& n) { return fa(n) + fb(n); }};
      case 1: return {"(" + a + " * " + std::to_string(by) + ")", [fa, by](const Names& n) { return fa(n) * by; }};
      case 2: return {"(" + a + " div " + std::to_string(by) + ")", [fa, by](const Names& n) { return fa(n) / by; }};
      case 3: return {"(" + a + " mod " + std::to_string(by) + ")", [fa, by](const Names& n) { return fa(n) % by; }};
      default: return {"max(" + a + ", " + b + ")", [fa, fb](const Names& n) { return std::max(fa(n), fb(n)); }};
    }
  }

  std::string op(int depth, const std::vector<Names>& threads, const std::vector<std::string>& loops) {
    const int kind = depth == 0 ? 0 : pick(4);
    if (kind == 0) {
      const auto [text, value] = expression(2, loops);
      for (const auto& thread : threads) written.insert(value(thread) % 4096);
      return fmt::format("store A at (({}) mod 4096) * 4B ", text);
    }
    if (kind == 3) {
      const int below = 1 + pick(31);
      std::vector<Names> some;
      for (const auto& thread : threads) {
        if (thread.tid < below) some.push_back(thread);
      }
      return fmt::format("branch lane < {} {{ {} }} ", below, op(depth - 1, some, loops));
    }
    const auto name = fmt::format("{}{}", kind == 1 ? "p" : "j", next_++);
    const int from = pick(3), to = from + pick(4) - 1;  // sometimes no round at all
    std::vector<Names> rounds;
    for (const auto& thread : threads) {
      for (int round = from; round <= to; ++round) {
        rounds.push_back(thread);
        rounds.back().rounds[name] = round;
      }
    }
    auto inner = loops;
    inner.push_back(name);
    const auto body = op(depth - 1, rounds, inner) + (pick(2) ? op(depth - 1, rounds, inner) : "");
    return fmt::format("{} {} in {}..{} {{ {} }} ", kind == 1 ? "loop" : "unroll", name, from, to, body);
  }

  std::mt19937 random_;
  int next_ = 0;
};

std::set<int> written_by(const std::string& body) {
  auto opened = sim::open("gtx780", {});
  REQUIRE(opened.ok());
  Keeping backend(std::move(*opened));
  test::run_on("gexp 1\nexperiment t\nmemory A: u32[64KiB] in global\nstage s {\nlaunch grid 1 block 32\ntimed t total { " + body +
                   "}\nrepeat 1\nfind f: list = clusters(t)\n}\n",
               backend);
  std::set<int> words;
  for (std::size_t i = 0; i < backend.words.size(); ++i) {
    if (backend.words[i] != 0xffffffffu) words.insert(static_cast<int>(i));
  }
  return words;
}

}  // namespace

TEST_CASE("kernels write what the spec says, and nothing else") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Maker maker(seed);
    const auto body = maker.make();
    CAPTURE(body);
    CHECK(written_by(body) == maker.written);
  }
}
