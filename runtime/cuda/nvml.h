// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "runtime/device/condition.h"

/// NVIDIA's management library through our own declarations, opened at run time (GEXP_NVML, else libnvidia-ml.so.1). All of it may
/// be missing: a container without it, a virtual GPU that tells little.
namespace gexp::cuda {

struct NvmlDevice;

struct NvmlProcess {
  unsigned pid;
  unsigned long long bytes;  ///< all ones: not told
  unsigned gpu_instance, compute_instance;
};
struct NvmlUtilisation {
  unsigned gpu, memory;
};

/// Each is null where the library does not have it.
struct Nvml {
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*handle_by_uuid)(const char*, NvmlDevice**) = nullptr;
  int (*mig_mode)(NvmlDevice*, unsigned*, unsigned*) = nullptr;
  int (*persistence_mode)(NvmlDevice*, int*) = nullptr;
  int (*clock)(NvmlDevice*, int, unsigned*) = nullptr;      ///< MHz
  int (*max_clock)(NvmlDevice*, int, unsigned*) = nullptr;  ///< MHz
  int (*slowed_by)(NvmlDevice*, unsigned long long*) = nullptr;
  int (*temperature)(NvmlDevice*, int, unsigned*) = nullptr;
  int (*utilisation)(NvmlDevice*, NvmlUtilisation*) = nullptr;
  int (*processes)(NvmlDevice*, unsigned*, NvmlProcess*) = nullptr;
};

/// Opened at the first call and kept: NVML counts its initialisations, and unloading it in a process that uses CUDA gains nothing.
const Nvml& nvml();

/// One GPU as NVML sees it.
class Monitor {
 public:
  /// `uuid`: "GPU-00112233-…". A GPU that NVML does not know tells nothing.
  explicit Monitor(const std::string& uuid);
  [[nodiscard]] bool works() const { return device_ != nullptr; }
  [[nodiscard]] bool persistence() const;
  [[nodiscard]] bool mig() const;
  [[nodiscard]] std::vector<device::Condition::Process> processes() const;
  /// All but `others`; `brief`: clocks and what holds them down, which costs least.
  [[nodiscard]] device::Condition condition(bool brief) const;

 private:
  NvmlDevice* device_ = nullptr;
};

}  // namespace gexp::cuda
