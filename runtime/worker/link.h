// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "runtime/worker/channel.h"
#include "runtime/worker/message.h"
#include "runtime/worker/process.h"
#include "runtime/worker/worker.h"

namespace gexp::worker {

/// A worker and what to do when it is gone: the next question starts another.
class Link {
 public:
  explicit Link(Options options) : options_(std::move(options)) {}
  ~Link();

  enum class End { Answered, Died, TimedOut, Interrupted, NoWorker };
  struct Heard {
    End end;
    Result<Reader> answer;  ///< anything but Answered is an error too: E0803, E0708, or what opening the device says
  };
  /// Asks and waits up to `seconds` for the answer.
  Heard ask(const Writer& call, double seconds);
  /// ask(), where how it ended makes no difference.
  Result<Reader> answer(const Writer& call) { return ask(call, kLongestCall).answer; }

  /// Starts a worker; E07xx.
  Result<> start();
  /// `bytes` bytes that the worker will see too, for the next call. E0708.
  Result<std::span<std::byte>> room(std::size_t bytes);
  [[nodiscard]] bool running() const { return process_.running(); }
  [[nodiscard]] const device::DeviceInfo& device() const { return device_; }
  [[nodiscard]] device::Target target() const { return target_; }
  [[nodiscard]] std::uint64_t losses() const { return losses_ + worker_losses_; }
  [[nodiscard]] bool usable() const { return lost_.empty(); }
  [[nodiscard]] bool interrupted() const { return options_.interrupted && options_.interrupted(); }
  [[nodiscard]] double grace() const { return options_.grace; }

  static constexpr double kLongestCall = 90;  ///< seconds, of a call that is no launch: more than the backend itself gives a scatter

 private:
  /// Starts a worker where none runs.
  Result<> be_there();
  Heard ask_running(const Writer& call, double seconds);
  /// Ends the worker, and with it everything on its device; says how it ended.
  std::string lose(double patience);

  Options options_;
  Process process_;
  Channel channel_;
  device::DeviceInfo device_;
  device::Target target_;
  std::uint64_t losses_ = 0, worker_losses_ = 0;  ///< of the workers before, of this one
  std::string lost_;                              ///< why no worker can be started any more; empty: one can
};

}  // namespace gexp::worker
