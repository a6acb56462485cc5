// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/findings.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>

#include "runtime/infer/infer.h"
#include "tests/bench/records.h"

// Every allocation of the program passes through here, so that what an answer takes besides the records is known to the byte. It is asked
// for only while records and answers are made: what else is measured is not to pay for it.
namespace {

std::atomic<bool> counts{false};

std::atomic<std::int64_t> held{0}, most{0};

void* counted(std::size_t bytes) {
  void* const memory = std::malloc(bytes ? bytes : 1);
  if (!memory) std::abort();
  if (!counts.load(std::memory_order_relaxed)) return memory;
  const auto now = held += static_cast<std::int64_t>(malloc_usable_size(memory));
  if (now > most) most = now;
  return memory;
}
void released(void* memory) {
  if (!memory) return;
  if (counts.load(std::memory_order_relaxed)) held -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { released(memory); }
void operator delete[](void* memory) noexcept { released(memory); }
void operator delete(void* memory, std::size_t) noexcept { released(memory); }
void operator delete[](void* memory, std::size_t) noexcept { released(memory); }

namespace gexp::bench {

void findings(const std::string& filter) {
  fmt::print("{:<34} {:>29} {:>27}\n{:<34} {:>7}{:>7}{:>7}{:>8} {:>6}{:>7}{:>7}{:>7}\n", "an answer from so many records", "seconds", "MB besides the records", "", "125k", "250k",
             "500k", "1M", "125k", "250k", "500k", "1M");
  counts = true;
  for (const auto& each : cases()) {
    if (each.name.find(filter) == std::string::npos) continue;
    std::string times, bytes, answered;
    double last = 0, before = 0;
    for (const std::size_t accesses : {125'000, 250'000, 500'000, 1'000'000}) {
      const auto table = each.records(accesses);
      const compiler::Names nothing;
      double best = INFINITY;
      std::int64_t extra = 0;
      for (int i = 0; i < (last > 1 ? 1 : 3); ++i) {
        const auto level = held.load();
        most = level;
        const auto start = std::chrono::steady_clock::now();
        const auto finding = infer::answer(each.program.stages[0].finds[0], table, each.program.stages[0], nothing);
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        extra = most - level;
        answered = finding.status == infer::Finding::Status::Found ? show(finding.value) : "undetermined: " + finding.why;
      }
      times += fmt::format("{:>7.3f}", best);
      bytes += fmt::format("{:>7.2f}", static_cast<double>(extra) / 1e6);
      before = std::exchange(last, best);
    }
    fmt::print("{:<34} {} {}  x{:.1f}  {}\n", each.name, times, bytes, last / before, answered.substr(0, 60));
    std::fflush(stdout);
  }
  counts = false;
}

}  // namespace gexp::bench
