// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/system.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>

namespace gexp::cuda {
namespace {

struct NvmlDevice;

/// Opened once and kept: NVML counts its initialisations, and unloading it in a process that uses CUDA gains nothing.
struct Nvml {
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*handle_by_uuid)(const char*, NvmlDevice**) = nullptr;
  int (*mig_mode)(NvmlDevice*, unsigned*, unsigned*) = nullptr;

  Nvml() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
    if (init == nullptr || init() != 0) return;
    driver_version = reinterpret_cast<decltype(driver_version)>(dlsym(library, "nvmlSystemGetDriverVersion"));
    handle_by_uuid = reinterpret_cast<decltype(handle_by_uuid)>(dlsym(library, "nvmlDeviceGetHandleByUUID"));
    mig_mode = reinterpret_cast<decltype(mig_mode)>(dlsym(library, "nvmlDeviceGetMigMode"));
  }
};

}  // namespace

std::string driver_version_in(std::string_view text) {
  // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build": the first word of digits and dots.
  const auto first_line = text.substr(0, text.find('\n'));
  for (std::size_t at = 0; at < first_line.size();) {
    const auto end = std::min(first_line.find_first_of(" \t", at), first_line.size());
    const auto word = first_line.substr(at, end - at);
    const bool digits = std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
    if (digits && word.find('.') != std::string_view::npos && word.size() >= 5) return std::string(word);
    at = end + 1;
  }
  return {};
}

SystemFacts ask_system(const std::string& gpu_uuid) {
  static const Nvml nvml;
  SystemFacts facts;
  std::array<char, 96> version{};
  if (nvml.driver_version != nullptr && nvml.driver_version(version.data(), static_cast<unsigned>(version.size()) - 1) == 0) {
    facts.driver = version.data();
  }
  NvmlDevice* device = nullptr;
  unsigned current = 0, pending = 0;
  if (nvml.handle_by_uuid != nullptr && nvml.mig_mode != nullptr && nvml.handle_by_uuid(gpu_uuid.c_str(), &device) == 0 &&
      nvml.mig_mode(device, &current, &pending) == 0) {
    facts.mig = current != 0;
  }
  if (facts.driver.empty()) {
    std::ifstream file("/proc/driver/nvidia/version");
    facts.driver = driver_version_in(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return facts;
}

}  // namespace gexp::cuda
