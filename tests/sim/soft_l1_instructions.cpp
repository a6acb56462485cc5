// SPDX-License-Identifier: Apache-2.0
// Instructions of the applications of experiments/soft_l1, with the cache and without (S-L1 section 4.4, Figure 11).
#include "runtime/sim/observed.h"

#include <functional>

#include "tests/sim/soft_l1_application.h"

using namespace sim_test;

namespace {

/// What threads executed; what warps issued, each time that they had to do it again included.
struct Instructions {
  double executed = 0, issued = 0;
  std::uint32_t registers = 0;
};

Instructions counted(Application& app) {
  const auto& c = gexp::sim::counted(app.device().backend());
  const auto again = c.replays.bank + c.replays.coalescing + c.replays.constant + c.replays.atomic;
  return {static_cast<double>(c.executed), static_cast<double>(c.issued + again), app.registers()};
}

/// How many times as many the timed kernel of an application takes with lines of 16 B.
struct Ratio {
  std::string name;
  double executed = 0, issued = 0;
  std::uint32_t registers_before = 0, registers_after = 0;
};

using Launches = std::vector<std::pair<std::string, std::vector<Argument>>>;

/// The last launch is the one that is given a cache; the others fill memories.
Ratio ratio(const std::string& name, const std::function<Launches(Application&)>& launches, std::uint32_t shared = 0) {
  Instructions of[2];
  for (const bool cached : {false, true}) {
    Application app(text_of_application(name + ".cu"));
    const Launches all = launches(app);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) app.run(all[i].first, all[i].second);
    gexp::sim::observe(app.device().backend(), 0);
    app.run(all.back().first, all.back().second, cached ? 16 : 0, shared, 16);
    of[cached] = counted(app);
  }
  const Ratio made{name, of[1].executed / of[0].executed, of[1].issued / of[0].issued, of[0].registers, of[1].registers};
  MESSAGE(made.name, ": executed ", made.executed, ", issued ", made.issued, ", registers ", made.registers_before, " and ", made.registers_after);
  return made;
}

constexpr std::uint32_t kText = 384;  // bytes of each thread

std::vector<Ratio> all_ratios() {
  const std::uint32_t bytes = kThreads * kText, pieces = kText / 32, slots = 4096;
  const auto memory = [](Application& app, std::uint64_t size) {
    const Argument made{app.memory(size), 8};
    app.device().write(made.bits, std::vector<std::uint8_t>(size));
    return made;
  };
  const auto number = [](std::uint32_t n) { return Argument{n, 4}; };
  std::vector<Ratio> made;
  made.push_back(ratio("wc", [&](Application& app) -> Launches {
    const auto text = memory(app, bytes);
    return {{"write", {text, number(bytes)}}, {"wc", {text, number(kText), memory(app, kThreads * 4), memory(app, kThreads * 4)}}};
  }));
  made.push_back(ratio("upper", [&](Application& app) -> Launches {
    const auto text = memory(app, bytes);
    return {{"write", {text, number(bytes)}}, {"upper", {text, memory(app, bytes), number(kText)}}};
  }));
  made.push_back(ratio("dna_assembly", [&](Application& app) -> Launches {
    const auto text = memory(app, bytes), starts = memory(app, slots * 4);
    return {{"write", {text, number(bytes), number(32)}},
            {"index", {text, starts, number(kThreads * pieces), number(32), number(12)}},
            {"assemble", {text, starts, memory(app, kThreads * pieces * 4), number(32), number(pieces), number(12)}}};
  }));
  made.push_back(ratio("opinion_finder", [&](Application& app) -> Launches {
    const auto text = memory(app, bytes), keywords = memory(app, 256), lexicon = memory(app, 4096);
    return {{"write", {text, number(bytes)}},
            {"look_up", {keywords, lexicon}},
            {"opinions", {text, keywords, lexicon, memory(app, kThreads * pieces * 4), number(32), number(pieces)}}};
  }));
  made.push_back(ratio("inverted_index", [&](Application& app) -> Launches {
    const auto text = memory(app, bytes);
    return {{"write", {text, number(bytes)}}, {"invert", {text, memory(app, bytes / 2), memory(app, bytes / 2), number(kText)}}};
  }));
  made.push_back(ratio("page_view_count", [&](Application& app) -> Launches {
    const auto text = memory(app, bytes), pages = memory(app, slots * 4);
    return {{"write", {text, number(bytes)}}, {"index", {pages}}, {"views", {text, pages, memory(app, slots * 4), number(kText)}}};
  }));
  made.push_back(ratio("affinity", [&](Application& app) -> Launches {
    const auto text = memory(app, bytes), customers = memory(app, 8192);
    return {{"write", {text, number(bytes)}},
            {"mark", {text, customers, number(bytes / 16), number(0)}},
            {"affinity", {text, customers, memory(app, 4000), number(kText)}}};
  }));
  made.push_back(ratio("matrix_multiply", [&](Application& app) -> Launches {
    const auto a = memory(app, kThreads * 4 * 32), b = memory(app, 32 * 32 * 4);
    return {{"write", {a, number(kThreads * 32)}},
            {"write", {b, number(32 * 32)}},
            {"multiply", {a, b, memory(app, kThreads * 4 * 32), number(kThreads), number(32), number(32)}}};
  }));
  made.push_back(ratio("grep", [&](Application& app) -> Launches {
    const auto text = memory(app, bytes);
    return {{"write", {text, number(bytes)}}, {"grep", {text, memory(app, kThreads * 4), memory(app, kThreads * 4), number(kText)}}};
  }));
  return made;
}

}  // namespace

TEST_CASE("needs NVRTC: a cache in software executes many instructions more, and issues few more" * doctest::skip(no_nvrtc())) {
  const auto all = all_ratios();
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
