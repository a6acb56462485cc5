// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>

#include "runtime/measure/point_runner.h"

namespace gexp::measure {

/// Where points are measured. Of a simulated device there are as many as are wanted, so each batch of a point's repetitions gets
/// one of its own and no point depends on which ran before it, or beside it. A GPU is one device, and all share it.
class DevicePool {
 public:
  /// `jobs`: how many batches may be measured at once, where each has a device of its own; 0: as many as the machine has cores.
  /// `give_up`: whether to wait no longer for a kernel's compile.
  DevicePool(const compiler::Program& program, const compiler::Scope& scope, device::Backend& backend, Kernels& kernels, std::size_t jobs, GiveUp give_up);

  /// How many threads may call use() at once.
  [[nodiscard]] std::size_t workers() const { return workers_; }
  /// Whether all points are measured on one device.
  [[nodiscard]] bool shared() const { return shared_.has_value(); }
  /// Kernels that are loaded already count as new to the stage that begins.
  void begin_stage() {
    if (shared_) shared_->begin_stage();
  }
  /// How the shared device does, in brief.
  [[nodiscard]] std::optional<device::Condition> condition() { return backend_.condition(true); }
  /// `number`: of the batch; what chance decides on the device follows from it.
  void use(std::uint64_t number, const std::function<void(PointRunner&)>& measure);

 private:
  const compiler::Program& program_;
  const compiler::Scope& scope_;
  device::Backend& backend_;
  Kernels& kernels_;
  GiveUp give_up_;
  std::size_t workers_ = 1;
  std::optional<PointRunner> shared_;
};

/// The number of a batch of repetitions: of what is measured, not of when.
std::uint64_t batch_number(const compiler::Stage& stage, const compiler::Coordinates& at, std::size_t first_run);

}  // namespace gexp::measure
