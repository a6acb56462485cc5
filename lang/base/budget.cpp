// SPDX-License-Identifier: Apache-2.0
#include "lang/base/budget.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <thread>

#include "lang/base/host_memory.h"
#include "lang/base/units.h"

namespace gexp {
namespace {

constexpr std::int64_t kLookEvery = 4096;       // steps: about half a millisecond
constexpr double kMemoryEvery = 0.002;          // seconds between two looks at the memory
constexpr std::uint64_t kUnitBytes = 48, kLarge = 1 << 20;
constexpr std::uint64_t kLeastMemory = 256u << 20;  // without which nothing can be done
constexpr const char* kOver = "E0721";

}  // namespace

constinit thread_local Budget::Thread Budget::thread_ = {nullptr, kLookEvery, kUncounted, 0, End::None, 0};

std::uint64_t resident_bytes() {
  static const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  std::array<char, 128> text{};
  const auto got = pread(file, text.data(), text.size(), 0);
  const char* const end = text.data() + std::max<ssize_t>(got, 0);
  const char* const pages = std::find<const char*>(text.data(), end, ' ');
  std::uint64_t resident = 0;
  if (pages != end) std::from_chars(pages + 1, end, resident);
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return resident * page;
}

std::uint64_t default_memory_budget() { return std::max(kLeastMemory, free_host_memory() / 2); }

Budget::Budget(Limits limits, const Budget* outer)
    : outer_(outer), seconds_(limits.seconds), memory_(limits.memory), threads_(limits.threads), interrupted_(std::move(limits.interrupted)), grace_(limits.grace) {
  if (memory_ == 0) memory_ = outer_ ? outer_->memory_ : default_memory_budget();
  if (threads_ == 0) threads_ = outer_ ? outer_->threads_ : std::max(1u, std::thread::hardware_concurrency());
  if (outer_) seconds_ = std::min(seconds_, std::max(outer_->seconds_left(), 0.0) + grace_);
}

double Budget::seconds_left() const { return seconds_ - watch_.seconds(); }

bool Budget::is_interrupted() const {
  if (interrupted_ && interrupted_()) return true;
  if (!outer_ || !outer_->is_interrupted()) return false;
  if (grace_ == 0) return true;
  const double now = watch_.seconds();
  double first = -1;
  return !ending_.compare_exchange_strong(first, now) && now > first + grace_;
}

Budget::End Budget::look() const {
  if (is_interrupted()) return End::Interrupted;
  const double now = watch_.seconds();
  if (now > seconds_) return End::Time;
  if (now - memory_seen_.load(std::memory_order_relaxed) > kMemoryEvery) {
    memory_seen_.store(now, std::memory_order_relaxed);
    memory_over_.store(resident_bytes() > memory_, std::memory_order_relaxed);
  }
  return memory_over_.load(std::memory_order_relaxed) ? End::Memory : End::None;
}

Budget::Use::Use(const Budget* budget) : outer_(thread_.own) { thread_.own = budget, thread_.until_look = kLookEvery; }
Budget::Use::~Use() { thread_.own = outer_, thread_.until_look = kLookEvery; }

Budget::Work::Work(std::int64_t units) : outer_(thread_.work_left), units_(std::min(units, outer_)) { thread_.work_left = units_; }
Budget::Work::~Work() { thread_.work_left = outer_ == kUncounted ? kUncounted : outer_ - (units_ - thread_.work_left); }
bool Budget::Work::exhausted() { return thread_.work_left <= 0; }

bool Budget::look_again() {
  thread_.until_look = kLookEvery;
  if (!thread_.own) return true;
  const auto over = thread_.own->look();
  if (over == End::None) return true;
  thread_.until_look = 0;  // whoever asks again is told so at once
  return refuse(over);
}

bool Budget::refuse(End why, std::uint64_t asked) {
  thread_.refused = why, thread_.asked = asked;
  ++thread_.refusals;
  return false;
}

void Budget::told_elsewhere() {
  const auto over = thread_.own ? thread_.own->look() : End::None;
  refuse(over == End::None ? End::Memory : over);  // time and interrupts stay: what may have passed since is a want of memory
}

bool Budget::spend(std::int64_t units) {
  if (thread_.work_left != kUncounted) {
    thread_.work_left = units >= thread_.work_left ? 0 : thread_.work_left - units;
    if (thread_.work_left == 0) return refuse(End::Work);
  }
  return tick(units);
}

bool Budget::spend_bytes(std::uint64_t bytes) {
  if (!spend(static_cast<std::int64_t>(std::min<std::uint64_t>(bytes / kUnitBytes, 1u << 30)) + 1)) return false;
  if (bytes < kLarge || !thread_.own || resident_bytes() + bytes <= thread_.own->memory_) return true;
  return refuse(End::Memory, bytes);
}

Diagnostic Budget::exceeded(Span span) {
  switch (thread_.refused) {
    case End::Memory: {
      const auto most = show(static_cast<double>(thread_.own ? thread_.own->memory_ : 0), kBytes);
      return failure("E0722", span, thread_.asked > 0 ? fmt::format("this needs {} more, and gexp may hold {} of the host's memory", show(static_cast<double>(thread_.asked), kBytes), most)
                                                       : fmt::format("this needs more than the {} of the host's memory that gexp may hold", most),
                     "make lists, patterns and memories smaller; --memory-limit gives more");
    }
    case End::Time: return failure(kOver, span, "the time is used up");
    case End::Interrupted: return failure(kOver, span, "interrupted");
    default: return failure("E0444", span, "this file takes too much work to compile", "make its lists, patterns and sweeps shorter, or take it apart into several files");
  }
}

bool Budget::ends_run(const Diagnostic& diagnostic) { return diagnostic.code == kOver; }

}  // namespace gexp
