// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/link.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lang/base/stopwatch.h"

namespace gexp::worker {
namespace {

constexpr double kLongestOpen = 120;    // seconds, of a driver that comes up; a machine of many GPUs takes its time
constexpr double kInterruptGrace = 0.3; // that a kernel still has after an interrupt
constexpr double kSlice = 0.05;         // between two looks for an interrupt
constexpr double kPatience = 0.5;       // for a worker whose link is already closed

}  // namespace

Link::~Link() {
  channel_.close();
  process_.end(interrupted() ? 0 : kPatience, interrupted() ? kInterruptGrace : Process::kLongestDeath);
}

std::string Link::lose(double patience) {
  losses_ = losses() + 1;
  worker_losses_ = 0;
  channel_.close();
  return process_.end(patience, interrupted() ? kInterruptGrace : Process::kLongestDeath);
}

Result<> Link::start() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return failure("E0708", fmt::format("no socket for a worker: {}", std::strerror(errno)));
  Descriptor own(ends[0]), other(ends[1]);
  auto memory = anonymous_file("gexp-worker-memory");
  if (!memory) return memory.error();
  if (auto started = process_.start(options_.command, other.get(), memory->get()); !started) return started;
  channel_.assign(std::move(own), std::move(*memory));
  other.close();
  auto heard = ask_running(Writer().put(Call::Open), kLongestOpen);
  if (!heard.answer) {
    if (process_.running()) lose(0);
    return heard.answer.error();
  }
  device_ = get_device(*heard.answer);
  target_.form = heard.answer->get<device::Target::Form>();
  target_.major = heard.answer->get<int>();
  target_.minor = heard.answer->get<int>();
  return Ok{};
}

Result<> Link::be_there() {
  if (process_.running()) return Ok{};
  if (lost_.empty()) {
    if (interrupted()) return failure("E0803", "interrupted");
    const auto started = start();
    if (started) return Ok{};
    lost_ = fmt::format("a new worker could not open it ({})", started.error().message);
  }
  return failure("E0803", fmt::format("{} cannot be used any more: {}", device_.id, lost_));
}

Result<std::span<std::byte>> Link::room(std::size_t bytes) {
  if (auto there = be_there(); !there) return there.error();
  const auto shared = channel_.bulk(bytes);
  if (shared.size() < bytes) return failure("E0708", fmt::format("the system has no {} B to share with the worker", bytes));
  return shared;
}

Link::Heard Link::ask(const Writer& call, double seconds) {
  if (auto there = be_there(); !there) return {interrupted() ? End::Interrupted : End::NoWorker, there.error()};
  return ask_running(call, seconds);
}

Link::Heard Link::ask_running(const Writer& call, double seconds) {
  const auto broken = [&](End end, const std::string& what) { return Heard{end, failure("E0803", what)}; };
  const Stopwatch watch;
  auto limit = seconds;
  bool stopping = false;
  std::string message;
  auto got = channel_.send(call.bytes()) ? Channel::Got::Nothing : Channel::Got::Closed;
  for (bool first = true; got == Channel::Got::Nothing; first = false) {
    const double left = limit - watch.seconds();
    if (left <= 0) break;
    got = channel_.receive(message, std::min(left, kSlice), first ? kSpin : 0);
    if (got == Channel::Got::Nothing && !stopping && interrupted()) {
      stopping = true;
      limit = std::min(limit, watch.seconds() + kInterruptGrace);
    }
  }
  if (got == Channel::Got::Nothing) {
    lose(0);
    if (stopping) return broken(End::Interrupted, "interrupted");
    return broken(End::TimedOut, fmt::format("the worker of {} did not answer within {:g} s", device_.id, seconds));
  }
  if (got == Channel::Got::Closed) return broken(End::Died, fmt::format("the worker of {} {}", device_.id.empty() ? "the device" : device_.id, lose(kPatience)));
  Reader answer(std::move(message));
  const bool usable = answer.get<bool>();
  worker_losses_ = answer.get<std::uint64_t>();
  const bool ok = answer.get<bool>();
  auto heard = ok ? Heard{End::Answered, std::move(answer)} : Heard{End::Answered, get_diagnostic(answer)};
  if (!usable) lose(0);
  return heard;
}

}  // namespace gexp::worker
