// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk and cp.reduce.async.bulk from shared to global memory.
#include <algorithm>
#include <functional>

#include "tests/sim/support.h"

using namespace sim_test;

namespace {

constexpr std::uint32_t kWords = 1024;

struct Stored {
  std::vector<std::uint32_t> words;
  std::uint32_t read = 0, done = 0;  ///< cycles until what is in shared memory has been read, and until all is stored
  Outcome outcome;
};

/// One thread stores `bytes` of a block's shared memory, words s[k], by `instruction` to byte `to` of `there`.
Stored stored(const std::string& instruction, const std::vector<std::uint32_t>& there, const std::vector<std::uint32_t>& shared, std::uint32_t bytes, std::uint32_t to = 0,
              Device device = Device("h200")) {
  const std::uint64_t array = device.allocate(kWords * 4), given = device.allocate(kWords * 4), out = device.allocate(8);
  device.write(array, there), device.write(given, shared);
  const auto kernel = device.load(module_of(".param .u64 a, .param .u64 given, .param .u64 out, .param .u32 to, .param .u32 bytes", fmt::format(R"(
    .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [given]; ld.param.u64 %rd3, [out]; ld.param.u32 %r1, [to]; ld.param.u32 %r2, [bytes];
    mov.u32 %r3, s; mov.u32 %r4, %tid.x; cvt.u64.u32 %rd4, %r1; add.u64 %rd1, %rd1, %rd4; mov.u32 %r5, %r4;
    FILL: mad.wide.u32 %rd5, %r5, 4, %rd2; ld.global.u32 %r6, [%rd5]; mad.lo.u32 %r7, %r5, 4, %r3; st.shared.u32 [%r7], %r6;
    add.u32 %r5, %r5, 32; setp.lt.u32 %p1, %r5, {}; @%p1 bra FILL;
    bar.sync 0; fence.proxy.async.shared::cta; setp.ne.u32 %p2, %r4, 0; @%p2 bra END;
    fence.sc.gpu; mov.u32 %r8, %clock;
    {} [%rd1], [%r3], %r2;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; mov.u32 %r9, %clock; cp.async.bulk.wait_group 0; mov.u32 %r10, %clock;
    sub.u32 %r9, %r9, %r8; sub.u32 %r10, %r10, %r8; st.global.u32 [%rd3], %r9; st.global.u32 [%rd3+4], %r10;
    END: ret;)", kWords, instruction), ".shared .align 16 .b8 s[4096];"));
  Stored made;
  made.outcome = device.launch(kernel, {{array, 8}, {given, 8}, {out, 8}, {to, 4}, {bytes, 4}}, {.block = 32});
  made.words = device.read<std::uint32_t>(array, kWords);
  const auto times = device.read<std::uint32_t>(out, 2);
  made.read = times[0], made.done = times[1];
  return made;
}

constexpr const char* kStore = "cp.async.bulk.global.shared::cta.bulk_group";

std::vector<std::uint32_t> words(const std::function<std::uint32_t(std::uint32_t)>& value) {
  std::vector<std::uint32_t> all(kWords);
  for (std::uint32_t k = 0; k < kWords; ++k) all[k] = value(k);
  return all;
}

/// Numbers without a pattern, of which many are the same.
std::uint32_t mixed(std::uint32_t k) { return (k * 2654435761u >> 7) ^ (k % 3 == 0 ? 0x80000000u : 0); }
std::uint32_t other(std::uint32_t k) { return (k + 77) * 2246822519u >> (k % 4 * 7); }

/// What the reduction does to elements of T, and what the host makes of them.
template <class T> void check_reduction(const std::string& operation, const std::function<T(T, T)>& host) {
  const auto there = words(mixed), shared = words(other);
  const auto made = stored(fmt::format("cp.reduce.async.bulk.global.shared::cta.bulk_group.{}", operation), there, shared, kWords * 4 - 64, 32);
  REQUIRE_MESSAGE(made.outcome.done(), made.outcome.what);
  std::vector<std::uint32_t> expected = there;
  std::vector<T> a(kWords * 4 / sizeof(T)), b = a;
  std::memcpy(a.data(), there.data(), kWords * 4), std::memcpy(b.data(), shared.data(), kWords * 4);
  for (std::size_t k = 0; k < (kWords * 4 - 64) / sizeof(T); ++k) a[k + 32 / sizeof(T)] = host(a[k + 32 / sizeof(T)], b[k]);
  std::memcpy(expected.data(), a.data(), kWords * 4);
  CHECK_MESSAGE(made.words == expected, operation);
}

}  // namespace

TEST_CASE("a bulk store writes what shared memory holds, and nothing else") {
  const auto there = words([](std::uint32_t k) { return 1000000 + k; }), shared = words([](std::uint32_t k) { return 3 * k; });
  for (const auto& [bytes, to] : {std::pair{4096u, 0u}, std::pair{16u, 4080u}, std::pair{2064u, 48u}}) {
    const auto made = stored(kStore, there, shared, bytes, to);
    REQUIRE_MESSAGE(made.outcome.done(), made.outcome.what);
    auto expected = there;
    std::copy_n(shared.begin(), bytes / 4, expected.begin() + to / 4);
    CHECK(made.words == expected);
  }
}

TEST_CASE("a group of bulk stores is awaited as stores are; what it reads is read at once") {
  const auto zeros = words([](std::uint32_t) { return 0; });
  const auto one = stored(kStore, zeros, zeros, 16), all = stored(kStore, zeros, zeros, 4096);
  CHECK(one.read < 100);
  CHECK(one.done > one.read + 200);  // to the L2 and back
  CHECK(all.done > one.done + 100);  // 4 KiB take 128 cycles at 32 B a cycle
  const auto slow = stored(kStore, zeros, zeros, 4096, 0, Device(edited("h200", "sm = \"192.8 GB/s\"", "sm = \"9.64 GB/s\"")));
  CHECK(slow.done > all.done + 300);
}

TEST_CASE("bulk reductions compute what the host computes, element by element") {
  using U = std::uint32_t;
  using S = std::int32_t;
  using V = std::uint64_t;
  using W = std::int64_t;
  check_reduction<U>("add.u32", [](U a, U b) { return a + b; });
  check_reduction<U>("add.s32", [](U a, U b) { return a + b; });
  check_reduction<V>("add.u64", [](V a, V b) { return a + b; });
  check_reduction<U>("min.u32", [](U a, U b) { return std::min(a, b); });
  check_reduction<S>("min.s32", [](S a, S b) { return std::min(a, b); });
  check_reduction<V>("max.u64", [](V a, V b) { return std::max(a, b); });
  check_reduction<W>("max.s64", [](W a, W b) { return std::max(a, b); });
  check_reduction<U>("and.b32", [](U a, U b) { return a & b; });
  check_reduction<V>("or.b64", [](V a, V b) { return a | b; });
  check_reduction<V>("xor.b64", [](V a, V b) { return a ^ b; });
  check_reduction<U>("inc.u32", [](U a, U b) { return a >= b ? 0 : a + 1; });
  check_reduction<U>("dec.u32", [](U a, U b) { return a == 0 || a > b ? b : a - 1; });
}

TEST_CASE("bulk reductions of floats add and round once") {
  const std::string reduce = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.";
  const auto sum = [&](const std::string& types, std::uint32_t a, std::uint32_t b) {
    const auto made = stored(reduce + types, words([=](std::uint32_t) { return a; }), words([=](std::uint32_t) { return b; }), 4096);
    REQUIRE_MESSAGE(made.outcome.done(), made.outcome.what);
    CHECK(made.words[0] == made.words[kWords - 1]);
    return made.words[5];
  };
  CHECK(sum("f32", 0x3f800000, 0x40000000) == 0x40400000);      // 1 + 2
  CHECK(sum("f32", 0x3f800000, 0x33800000) == 0x3f800000);      // 1 + 2^-24: to even
  CHECK(sum("f32", 0x00000001, 0x00000001) == 0);               // subnormals count as zeros
  CHECK(sum("noftz.f16", 0x3c004000, 0x3c003c00) == 0x40004200);  // 1 + 1, 2 + 1
  CHECK(sum("noftz.f16", 0x00010001, 0x00010003) == 0x00020004);  // subnormals of halves stay
  CHECK(sum("noftz.bf16", 0x3f804000, 0x3f803f80) == 0x40004040);
  const auto doubles = stored(reduce + "f64", words([](std::uint32_t k) { return k % 2 == 0 ? 0u : 0x3ff00000u; }), words([](std::uint32_t k) { return k % 2 == 0 ? 0u : 0x40080000u; }), 4096);
  CHECK(doubles.words[6] == 0);
  CHECK(doubles.words[7] == 0x40100000);  // 1 + 3
}

TEST_CASE("a bulk store that cannot be is a fault that says why") {
  const auto zeros = words([](std::uint32_t) { return 0; });
  const auto why = [&](std::uint32_t bytes, std::uint32_t to) { return stored(kStore, zeros, zeros, bytes, to).outcome.what; };
  CHECK(why(24, 0).find("no whole number of 16 B") != std::string::npos);
  CHECK(why(16, 4).find("no whole number of 16 B") != std::string::npos);
  CHECK(why(0, 0).find("no whole number of 16 B") != std::string::npos);
  CHECK(why(32, 4080).find("outside every allocation") != std::string::npos);
  CHECK(why(8192, 0).find("outside the block's shared memory") != std::string::npos);
}
