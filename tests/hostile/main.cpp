// SPDX-License-Identifier: Apache-2.0
// The hostile corpus: results and models made from seeds, read in this process. hostile FOLDER [RESULTS MODELS [FIRST]]
// A case that crashes, or takes longer than kLimit, ends the program; what it says last is the seed.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "lang/base/files.h"
#include "runtime/sim/sim.h"
#include "tests/fuzz/try_device.h"
#include "tests/hostile/mutate.h"
#include "tests/hostile/targets.h"

namespace {

using namespace gexp;

constexpr unsigned kLimit = 30;                  // seconds of one case: what it measures is small
constexpr long kMostMemory = 1'500'000;          // KiB of the whole program, the sanitizers' own included

/// A line that is overwritten by the next; the last one stays where a case ends the program.
void begin(const char* what, std::uint64_t seed) {
  static char text[64];
  const int length = std::snprintf(text, sizeof text, "\r%s %llu ", what, static_cast<unsigned long long>(seed));
  (void)!write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  alarm(kLimit);
}

struct Count {
  std::size_t all = 0, taken = 0;
};

Count results(const std::vector<std::string>& bases, std::uint64_t first, std::uint64_t count) {
  Count counted;
  for (auto seed = first; seed < first + count; ++seed) {
    begin("result", seed);
    ++counted.all;
    counted.taken += hostile::try_result(hostile::mutated_json(bases[seed % bases.size()], seed)) ? 1 : 0;
  }
  return counted;
}

Count models(std::uint64_t first, std::uint64_t count) {
  const auto names = sim::names();
  Count counted;
  for (auto seed = first; seed < first + count; ++seed) {
    begin("model", seed);
    const Source model("hostile.toml", hostile::mutated_model(sim::read_model(names[seed % names.size()])->text(), seed));
    ++counted.all;
    Diagnostics diagnostics;
    counted.taken += sim::check_model(model, diagnostics) ? 1 : 0;
    try_model(model);
  }
  return counted;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto number = [&](int at, std::uint64_t otherwise) { return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise; };
  std::vector<std::string> bases;
  for (const char* name : {"sizes", "totals"}) {
    auto text = read_regular_file(std::string(argv[1]) + "/" + name + ".json");
    if (!text || !hostile::try_result(*text)) {
      std::fprintf(stderr, "%s.json is not taken as it is\n", name);
      return 1;
    }
    bases.push_back(std::move(*text));
  }
  const auto first = number(4, 1);
  const auto of_results = results(bases, first, number(2, 30)), of_models = models(first, number(3, 30));
  alarm(0);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::fprintf(stderr, "\r");
  std::printf("%zu results, %zu of them taken; %zu models, %zu of them taken; %ld MiB\n", of_results.all, of_results.taken, of_models.all, of_models.taken, usage.ru_maxrss >> 10);
  if (usage.ru_maxrss > kMostMemory) {
    std::fprintf(stderr, "that is more than %ld MiB\n", kMostMemory >> 10);
    return 1;
  }
  return 0;
}
