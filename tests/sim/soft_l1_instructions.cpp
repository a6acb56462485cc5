// SPDX-License-Identifier: Apache-2.0
// Instructions of the applications of experiments/soft_l1, with the cache and without (S-L1 section 4.4, Figure 11).
#include "runtime/sim/observed.h"

#include <functional>

#include "tests/sim/soft_l1_application.h"

using namespace sim_test;

namespace {

/// What threads executed; of that, loads and stores of global memory, of a kernel as it stands; what warps issued, each time that they had
/// to do it again included.
struct Instructions {
  double executed = 0, accesses = 0, issued = 0;
  std::uint32_t registers = 0;
};

/// Loads and stores that threads executed, by the lines of the text that was loaded.
double accesses(Application& app) {
  const auto module = gexp::ptx::parse(app.ptx());
  if (!module) FAIL(module.error().message);
  std::vector<std::string> lines;
  std::istringstream text(gexp::ptx::print(*module));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  double sum = 0;
  for (const auto& [line, work] : gexp::sim::observed(app.device().backend()).back().lines) {
    if (line == 0 || line > lines.size()) continue;
    const std::string& at = lines[line - 1];
    if (at.find("ld.global") != std::string::npos || at.find("st.global") != std::string::npos) sum += static_cast<double>(work.executed);
  }
  return sum;
}

Instructions counted(Application& app) {
  const auto& c = gexp::sim::counted(app.device().backend());
  const auto again = c.replays.bank + c.replays.coalescing + c.replays.constant + c.replays.atomic;
  return {static_cast<double>(c.executed), accesses(app), static_cast<double>(c.issued + again), app.registers()};
}

/// How many times as many the timed kernel of an application takes with lines of 16 B; how many more it executes, beside
/// how many accesses.
struct Ratio {
  std::string name;
  double executed = 0, issued = 0, more = 0, accesses = 0;
  std::uint32_t registers_before = 0, registers_after = 0;
};

using Launches = std::vector<std::pair<std::string, std::vector<Argument>>>;

enum class Holds : std::uint8_t { Lines, Nothing };  // Nothing: a block takes all shared memory but 8 B a thread

/// The last launch is the one that is given a cache; the others fill memories.
Ratio ratio(const std::string& name, Holds holds, const std::function<Launches(Application&)>& launches, std::uint32_t shared = 0) {
  Instructions of[2];
  for (const bool cached : {false, true}) {
    Application app(text_of_application(name + ".cu"));
    const Launches all = launches(app);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) app.run(all[i].first, all[i].second);
    gexp::sim::observe(app.device().backend(), 0);
    if (holds == Holds::Nothing) app.taken = kShared - kBlock * 8;
    app.run(all.back().first, all.back().second, cached ? 16 : 0, shared, holds == Holds::Nothing ? 0 : 16);
    of[cached] = counted(app);
  }
  const Ratio made{name, of[1].executed / of[0].executed, of[1].issued / of[0].issued, of[1].executed - of[0].executed, of[0].accesses,
                   of[0].registers, of[1].registers};
  MESSAGE(made.name, ": executed ", made.executed, ", issued ", made.issued, ", registers ", made.registers_before, " and ", made.registers_after);
  return made;
}

/// `size`: bytes of each thread.
std::vector<Ratio> all_ratios(Holds holds, std::uint32_t size) {
  const std::uint32_t bytes = kThreads * size, pieces = size / 32, inner = size / 12, slots = 4096;
  const auto memory = [](Application& app, std::uint64_t length) {
    const Argument made{app.memory(length), 8};
    app.device().write(made.bits, std::vector<std::uint8_t>(length));
    return made;
  };
  const auto number = [](std::uint32_t n) { return Argument{n, 4}; };
  std::vector<Ratio> made;
  made.push_back(ratio("wc", holds, [&](Application& app) -> Launches {
    const auto text = memory(app, bytes);
    return {{"write", {text, number(bytes)}}, {"wc", {text, number(size), memory(app, kThreads * 4), memory(app, kThreads * 4)}}};
  }));
  made.push_back(ratio("upper", holds, [&](Application& app) -> Launches {
    const auto text = memory(app, bytes);
    return {{"write", {text, number(bytes)}}, {"upper", {text, memory(app, bytes), number(size)}}};
  }));
  made.push_back(ratio("dna_assembly", holds, [&](Application& app) -> Launches {
    const auto text = memory(app, bytes), starts = memory(app, slots * 4);
    return {{"write", {text, number(bytes), number(32)}},
            {"index", {text, starts, number(kThreads * pieces), number(32), number(12)}},
            {"assemble", {text, starts, memory(app, kThreads * pieces * 4), number(32), number(pieces), number(12)}}};
  }));
  made.push_back(ratio("opinion_finder", holds, [&](Application& app) -> Launches {
    const auto text = memory(app, bytes), keywords = memory(app, 256), lexicon = memory(app, 4096);
    return {{"write", {text, number(bytes)}},
            {"look_up", {keywords, lexicon}},
            {"opinions", {text, keywords, lexicon, memory(app, kThreads * pieces * 4), number(32), number(pieces)}}};
  }));
  made.push_back(ratio("inverted_index", holds, [&](Application& app) -> Launches {
    const auto text = memory(app, bytes);
    return {{"write", {text, number(bytes)}}, {"invert", {text, memory(app, bytes / 2), memory(app, bytes / 2), number(size)}}};
  }));
  made.push_back(ratio("page_view_count", holds, [&](Application& app) -> Launches {
    const auto text = memory(app, bytes), pages = memory(app, slots * 4);
    return {{"write", {text, number(bytes)}}, {"index", {pages}}, {"views", {text, pages, memory(app, slots * 4), number(size)}}};
  }));
  made.push_back(ratio("affinity", holds, [&](Application& app) -> Launches {
    const auto text = memory(app, bytes), customers = memory(app, 8192);
    return {{"write", {text, number(bytes)}},
            {"mark", {text, customers, number(bytes / 16), number(0)}},
            {"affinity", {text, customers, memory(app, 4000), number(size)}}};
  }));
  made.push_back(ratio("matrix_multiply", holds, [&](Application& app) -> Launches {
    const auto a = memory(app, kThreads * 4 * inner), b = memory(app, inner * 32 * 4);
    return {{"write", {a, number(kThreads * inner)}},
            {"write", {b, number(inner * 32)}},
            {"multiply", {a, b, memory(app, kThreads * 4 * 32), number(kThreads), number(inner), number(32)}}};
  }));
  made.push_back(ratio("grep", holds, [&](Application& app) -> Launches {
    const auto text = memory(app, bytes);
    return {{"write", {text, number(bytes)}}, {"grep", {text, memory(app, kThreads * 4), memory(app, kThreads * 4), number(size)}}};
  }));
  return made;
}

constexpr std::uint32_t kText = 384;

}  // namespace

TEST_CASE("needs NVRTC: a cache in software executes many instructions more, and issues few more" * doctest::skip(no_nvrtc())) {
  const auto all = all_ratios(Holds::Lines, kText);
  double executed = 0, issued = 0;
  for (const Ratio& each : all) {
    CAPTURE(each.name);
    CHECK(each.executed > 1.2);
    CHECK(each.registers_after > each.registers_before);
    CHECK(each.registers_after <= each.registers_before + 56);
    executed += each.executed / static_cast<double>(all.size()), issued += each.issued / static_cast<double>(all.size());
  }
  MESSAGE("mean: executed ", executed, ", issued ", issued);
  CHECK(executed > 1.5);
  CHECK(issued < executed - 0.5);
}

TEST_CASE("needs NVRTC: where nothing is held each access takes one instruction more, a predicated one two" * doctest::skip(no_nvrtc())) {
  std::vector<Ratio> of[2];  // of inputs twice as long too: what a thread executes once is no part of the difference
  for (const bool twice : {false, true}) {
    const std::uint32_t size = twice ? 2 * kText : kText, points = size / 16, clusters = 4;
    of[twice] = all_ratios(Holds::Nothing, size);
    of[twice].push_back(ratio("kmeans", Holds::Nothing, [&](Application& app) -> Launches {
      const Argument at{app.memory(kThreads * points * 16), 8}, means{app.memory(clusters * 16), 8};
      const Argument nearest{app.memory(kThreads * points * 4), 8};
      return {{"write", {at, {kThreads * points * 4, 4}}}, {"kmeans", {at, means, nearest, {points, 4}, {clusters, 4}}}};
    }, clusters * 16));
  }
  double mean = 0;
  for (std::size_t i = 0; i < of[0].size(); ++i) {
    const Ratio &once = of[0][i], &twice = of[1][i];
    const double more = (twice.more - once.more) / (twice.accesses - once.accesses);
    MESSAGE(once.name, ": of ", once.accesses / kThreads, " and ", twice.accesses / kThreads, " accesses each takes ", more,
            " instructions more, a thread ", (once.more - more * once.accesses) / kThreads, " once");
    CAPTURE(once.name);
    CHECK(more >= 1);
    CHECK(more <= 2);
    mean += more / static_cast<double>(of[0].size());
  }
  MESSAGE("mean: an access takes ", mean, " instructions more");
}
