// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/system.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>

#include "runtime/cuda/nvml.h"

namespace gexp::cuda {

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
  SystemFacts facts;
  std::array<char, 96> version{};
  if (nvml().driver_version != nullptr && nvml().driver_version(version.data(), static_cast<unsigned>(version.size()) - 1) == 0) {
    facts.driver = version.data();
  }
  const Monitor monitor(gpu_uuid);
  facts.mig = monitor.mig();
  facts.persistence = monitor.persistence();
  if (facts.driver.empty()) {
    std::ifstream file("/proc/driver/nvidia/version");
    facts.driver = driver_version_in(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return facts;
}

}  // namespace gexp::cuda
