// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cuda/device.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvml.h"
#include "runtime/cuda/wait.h"
#include "runtime/device/backend.h"

namespace gexp::cuda {

/// One GPU and one context on it. See cuda.h for what a fault and a kernel that never ends do to it.
class Gpu final : public device::Backend {
 public:
  static Result<std::unique_ptr<device::Backend>> open(int ordinal);
  Gpu(std::shared_ptr<const Driver> driver, Device device) : driver_(std::move(driver)), device_(std::move(device)), monitor_(device_.info.uuid) {}
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu() override;

  [[nodiscard]] const device::DeviceInfo& device() const override { return device_.info; }
  [[nodiscard]] device::Target target() const override;
  Result<> accepts(const device::Requirement& requirement) const override;

  Result<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t align, device::Where where) override;
  void release(std::uint64_t address) override;
  Result<> write(std::uint64_t address, std::span<const std::byte> bytes) override;
  Result<> read(std::uint64_t address, std::span<std::byte> bytes) override;
  Result<> scatter(std::uint64_t address, std::span<const std::int64_t> offsets, std::span<const std::uint64_t> values,
                   int width) override;

  Result<> flush(const std::string& level) override;
  Result<std::uint64_t> texture(std::uint64_t address, std::uint64_t bytes, std::uint64_t pitch) override;
  Result<std::uint64_t> tiles(const device::Tiles& tiles) override;
  Result<std::uint64_t> constant(device::KernelId kernel, const std::string& name) override;

  Result<device::KernelId> load(const device::KernelImage& image) override;
  [[nodiscard]] std::optional<std::uint32_t> most_threads(device::KernelId kernel) override;
  device::Outcome launch(device::KernelId kernel, const device::LaunchShape& shape,
                          std::span<const device::Argument> arguments, double time_limit) override;
  [[nodiscard]] std::optional<device::Condition> condition(bool brief) override;
  [[nodiscard]] std::uint64_t losses() const override { return losses_; }
  [[nodiscard]] bool usable() const override { return lost_.empty(); }

 private:
  struct Kernel {
    FunctionHandle function = nullptr;
    ModuleHandle module = nullptr;
    std::uint64_t static_shared = 0;
    int registers = 0;  ///< of a thread
    int most_threads = 0;  ///< of a block
    int dynamic_limit = -1, carveout = -1, bank_config = -1;  ///< as last set; -1: never
  };

  struct Allocation {
    DeviceAddress base = 0;  ///< the driver's own
    void* host = nullptr;    ///< of pinned memory; null: it is no such
    device::Where where = device::Where::Device;
    std::uint64_t bytes = 0;
  };

  /// Which of the processes on the device this one is: inside a container NVML's numbers are others.
  void find_own_pid(const std::vector<device::Condition::Process>& before);
  /// E0707; also E0705 when the device is taken (compute mode).
  Result<> create_context();
  /// A context that faulted answers every call with its fault; only a new one helps, where the driver gives one (cuda.h).
  void replace_context();
  /// The context is this thread's; E0803 when the device cannot be used any more.
  Result<> ready() const;
  [[nodiscard]] Diagnostic failed(const char* code, const std::string& what, int status) const;

  Result<Kernel> load_function(const void* image, const char* entry);
  int set_limits(Kernel& kernel, const device::LaunchShape& shape);
  /// Starts and waits; does not judge the shape.
  device::Outcome start(const Kernel& kernel, const device::LaunchShape& shape, void** arguments, double time_limit, bool interruptible);
  device::Outcome ended(WaitEnd end, int status, double time_limit);
  device::Outcome refused(const std::string& what, int status);
  Result<> prepare_scatter();
  int allocate_in(device::Where where, std::uint64_t bytes, Allocation& made);
  [[nodiscard]] Diagnostic no_memory(device::Where where, std::uint64_t bytes, int status) const;
  /// Handle of the first other GPU whose memory this one reaches; nothing where there is none.
  [[nodiscard]] std::optional<int> peer() const;
  /// Makes the context current that the peer's memory is allocated in; this device's own can access it.
  int enter_peer();
  [[nodiscard]] bool on_peer(std::uint64_t address) const;
  /// What `copy` says, which copies to or from that address, in the context of its memory.
  template <class Copy>
  int copied(std::uint64_t address, const Copy& copy);
  /// All managed memory, before the next kernel starts.
  Result<> send_pages_back();

  std::shared_ptr<const Driver> driver_;
  Device device_;
  Monitor monitor_;
  std::uint32_t own_pid_ = 0;  ///< as NVML numbers processes
  ContextHandle context_ = nullptr, peer_context_ = nullptr;
  StreamHandle stream_ = nullptr;
  EventHandle begin_ = nullptr, end_ = nullptr;

  std::map<std::uint64_t, Allocation> allocations_;  ///< by the address given out
  std::map<device::KernelId, Kernel> kernels_;
  struct alignas(128) TensorMap {
    std::array<std::uint64_t, device::kTileBytes / 8> words;
    device::Tiles of;
  };
  std::deque<TensorMap> tensor_maps_;  ///< by what `tiles` gave
  device::KernelId next_kernel_ = 0;  ///< ids are never used again, so one from before a fault is known as such
  Kernel scatter4_, scatter8_;
  DeviceAddress staged_offsets_ = 0, staged_values_ = 0;
  DeviceAddress sweeper_ = 0;  ///< memory whose writing drives everything else out of the L2

  std::uint64_t losses_ = 0;  ///< contexts
  device::Outcome::Status lost_status_ = device::Outcome::Status::Fault;
  std::string lost_;  ///< why the device cannot be used by this process any more; empty: it can
};

}  // namespace gexp::cuda
