// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/nvml.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

namespace gexp::cuda {
namespace {

using device::Condition;

constexpr int kOk = 0, kTooSmall = 7;                 // nvmlReturn_t
constexpr int kSmClock = 1, kMemoryClock = 2;         // nvmlClockType_t
constexpr unsigned long long kNotTold = ~0ull;

/// nvmlClocksEventReasons. Left out: an idle device (1), clocks that somebody set (2, 0x100), a group that boosts as one (0x10).
constexpr std::pair<unsigned long long, const char*> kSlowing[] = {
    {0x4, "power cap"}, {0x8, "hardware slowdown"}, {0x20, "thermal slowdown"}, {0x40, "hardware thermal slowdown"}, {0x80, "power brake"}};

Nvml load() {
  Nvml n;
  const char* named = std::getenv("GEXP_NVML");
  void* library = dlopen(named && *named ? named : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return n;
  const auto bind = [&](auto& call, const char* symbol, const char* older = nullptr) {
    using Call = std::remove_reference_t<decltype(call)>;
    call = reinterpret_cast<Call>(dlsym(library, symbol));
    if (call == nullptr && older != nullptr) call = reinterpret_cast<Call>(dlsym(library, older));
  };
  int (*init)() = nullptr;
  bind(init, "nvmlInit_v2");
  if (init == nullptr || init() != kOk) return n;
  bind(n.driver_version, "nvmlSystemGetDriverVersion");
  bind(n.handle_by_uuid, "nvmlDeviceGetHandleByUUID");
  bind(n.mig_mode, "nvmlDeviceGetMigMode");
  bind(n.persistence_mode, "nvmlDeviceGetPersistenceMode");
  bind(n.clock, "nvmlDeviceGetClockInfo");
  bind(n.max_clock, "nvmlDeviceGetMaxClockInfo");
  bind(n.slowed_by, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons");
  bind(n.temperature, "nvmlDeviceGetTemperature");
  bind(n.utilisation, "nvmlDeviceGetUtilizationRates");
  bind(n.processes, "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2");
  return n;
}

}  // namespace

const Nvml& nvml() {
  static const Nvml opened = load();
  return opened;
}

Monitor::Monitor(const std::string& uuid) {
  if (nvml().handle_by_uuid == nullptr || nvml().handle_by_uuid(uuid.c_str(), &device_) != kOk) device_ = nullptr;
}

bool Monitor::persistence() const {
  int on = 0;
  return works() && nvml().persistence_mode && nvml().persistence_mode(device_, &on) == kOk && on != 0;
}

bool Monitor::mig() const {
  unsigned current = 0, pending = 0;
  return works() && nvml().mig_mode && nvml().mig_mode(device_, &current, &pending) == kOk && current != 0;
}

std::vector<Condition::Process> Monitor::processes() const {
  std::vector<NvmlProcess> list(16);
  unsigned count = 0;
  int status = kTooSmall;
  for (int i = 0; works() && nvml().processes && status == kTooSmall && i < 4; ++i) {  // more may have come meanwhile
    if (count > list.size()) list.resize(2 * count);
    count = static_cast<unsigned>(list.size());
    status = nvml().processes(device_, &count, list.data());
  }
  std::vector<Condition::Process> found;
  for (unsigned i = 0; status == kOk && i < count; ++i) found.push_back({list[i].pid, list[i].bytes == kNotTold ? 0 : list[i].bytes});
  return found;
}

Condition Monitor::condition(bool brief) const {
  Condition now;
  if (!works()) return now;
  const auto clock = [&](auto call, int which) {
    unsigned mhz = 0;
    return call != nullptr && call(device_, which, &mhz) == kOk ? mhz * 1e6 : 0.0;
  };
  now.sm_clock_hz = clock(nvml().clock, kSmClock);
  unsigned long long reasons = 0;
  if (nvml().slowed_by && nvml().slowed_by(device_, &reasons) == kOk) {
    for (const auto& [bit, word] : kSlowing) {
      if (reasons & bit) now.slowed.emplace_back(word);
    }
  }
  if (brief) return now;
  now.memory_clock_hz = clock(nvml().clock, kMemoryClock);
  now.sm_clock_max_hz = clock(nvml().max_clock, kSmClock);
  unsigned degrees = 0;
  if (nvml().temperature && nvml().temperature(device_, 0, &degrees) == kOk) now.temperature = static_cast<int>(degrees);
  NvmlUtilisation busy{};
  if (nvml().utilisation && nvml().utilisation(device_, &busy) == kOk) now.busy = static_cast<int>(busy.gpu);
  return now;
}

}  // namespace gexp::cuda
