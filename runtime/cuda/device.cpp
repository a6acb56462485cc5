// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <vector>

#include "runtime/cuda/system.h"

namespace gexp::cuda {
namespace {

std::string uuid_text(const Uuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

/// What an SM can set aside as shared memory, KiB: CUDA C++ Programming Guide, "Compute Capabilities", shared memory of each.
std::span<const int> capacities_kib(int major, int minor) {
  static constexpr std::array<int, 6> k70 = {0, 8, 16, 32, 64, 96};
  static constexpr std::array<int, 2> k75 = {32, 64};
  static constexpr std::array<int, 8> k80 = {0, 8, 16, 32, 64, 100, 132, 164};
  static constexpr std::array<int, 6> k86 = {0, 8, 16, 32, 64, 100};
  static constexpr std::array<int, 10> k90 = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  if (major == 7) return minor >= 5 ? std::span<const int>(k75) : k70;
  if (major == 8) return minor == 6 || minor == 9 ? std::span<const int>(k86) : k80;
  if (major == 9 || major == 10 || major == 11) return k90;
  if (major == 12) return k86;
  return {};
}

bool is_dropped(const std::string& word) {
  static constexpr std::array kWords = {"nvidia",     "geforce", "tesla", "quadro", "graphics", "gpu",
                                        "generation", "pcie",    "hbm2",  "hbm2e",  "hbm3",     "hbm3e"};
  if (std::find(kWords.begin(), kWords.end(), word) != kWords.end()) return true;
  if (word.starts_with("sxm") && word.size() <= 4) return true;
  return word.size() > 2 && word.ends_with("gb") &&
         std::all_of(word.begin(), word.end() - 2, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::string selector_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const unsigned char c : name) {
    if (std::isalnum(c) != 0) {
      words.back() += static_cast<char>(std::tolower(c));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  std::string selector;
  for (const auto& word : words) {
    if (word == "mig") break;  // "NVIDIA A100-SXM4-40GB MIG 1g.5gb": a slice of the same chip
    if (!is_dropped(word)) selector += word;
  }
  return selector;
}

int carveout_percent(int compute_major, int compute_minor, std::uint64_t per_sm, std::uint64_t bytes) {
  if (per_sm == 0) return 0;
  if (bytes >= per_sm) return 100;
  // The driver rounds a percentage up to a capacity, but not where the percentages say: on an H200 (driver 580.159.04) 28 % of
  // 228 KiB gives 100 KiB, not 64, and 40 % gives 132. A quarter of the way from the capacity below is inside every step seen.
  std::uint64_t below = 0;
  for (const auto kib : capacities_kib(compute_major, compute_minor)) {
    const auto capacity = static_cast<std::uint64_t>(kib) * 1024;
    if (capacity >= bytes && capacity <= per_sm) return static_cast<int>((3 * below + capacity) * 100 / (4 * per_sm));
    below = capacity;
  }
  return static_cast<int>((bytes * 100 + per_sm - 1) / per_sm);
}

// fact: CUDA C++ Programming Guide, "Technical Specifications".
std::uint32_t registers_per_thread(int compute_major, int compute_minor) {
  if (compute_major < 2) return 128;
  return compute_major * 10 + compute_minor < 32 ? 63 : 255;
}

Result<Device> query_device(const Driver& driver, int ordinal) {
  int count = 0;
  if (const int status = driver.device_count(&count); status != kSuccess && status != kNoDevice) {
    return failure("E0707", fmt::format("the NVIDIA driver does not list its GPUs: {}", driver.text(status)));
  }
  if (count == 0)
    return failure("E0705", "the NVIDIA driver sees no GPU",
                   "check nvidia-smi and CUDA_VISIBLE_DEVICES; --device sim:NAME needs no GPU");
  if (ordinal < 0 || ordinal >= count) {
    return failure(
        "E0705", fmt::format("there is no device cuda:{}", ordinal),
        count == 1 ? "this machine has one GPU, cuda:0" : fmt::format("this machine has cuda:0 to cuda:{}", count - 1));
  }
  Device device;
  auto& info = device.info;
  int status = driver.device_get(&device.handle, ordinal);
  const auto attribute = [&](Attribute which) {
    int value = 0;
    if (status == kSuccess) status = driver.device_attribute(&value, which, device.handle);
    return static_cast<std::uint64_t>(std::max(value, 0));
  };
  // Attributes that older drivers do not know: absent is 0.
  const auto optional_attribute = [&](Attribute which) {
    int value = 0;
    return driver.device_attribute(&value, which, device.handle) == kSuccess ? static_cast<std::uint64_t>(std::max(value, 0))
                                                                             : 0;
  };
  std::array<char, 256> name{};
  Uuid uuid{};
  std::size_t memory = 0;
  if (status == kSuccess) status = driver.device_name(name.data(), static_cast<int>(name.size()) - 1, device.handle);
  if (status == kSuccess) status = driver.device_uuid(&uuid, device.handle);
  if (status == kSuccess) status = driver.device_total_memory(&memory, device.handle);
  info.kind = "cuda";
  info.id = fmt::format("cuda:{}", ordinal);
  info.name = name.data();
  info.selector = selector_of(info.name);
  info.uuid = uuid_text(uuid);
  info.memory_bytes = memory;
  info.compute_major = static_cast<int>(attribute(Attribute::ComputeMajor));
  info.compute_minor = static_cast<int>(attribute(Attribute::ComputeMinor));
  info.sms = static_cast<int>(attribute(Attribute::Multiprocessors));
  info.l2_bytes = attribute(Attribute::L2Bytes);
  info.shared_per_sm = attribute(Attribute::SharedPerMultiprocessor);
  device.maps_host_memory = attribute(Attribute::MapsHostMemory) != 0;
  device.manages_memory = optional_attribute(Attribute::ManagedMemory) != 0;
  device.moves_pages = optional_attribute(Attribute::ConcurrentManagedAccess) != 0;
  device.shared_without_optin = attribute(Attribute::SharedPerBlock);
  device.max_threads_per_block = attribute(Attribute::MaxThreadsPerBlock);
  device.max_blocks = attribute(Attribute::MaxGridX);
  if (status != kSuccess) {
    return failure("E0707", fmt::format("the NVIDIA driver does not describe cuda:{}: {}", ordinal, driver.text(status)),
                   "check nvidia-smi and dmesg");
  }
  info.sm_clock_hz = 1e3 * static_cast<double>(optional_attribute(Attribute::ClockKhz));
  info.memory_clock_hz = 1e3 * static_cast<double>(optional_attribute(Attribute::MemoryClockKhz));
  info.memory_peak = 2 * info.memory_clock_hz * static_cast<double>(optional_attribute(Attribute::MemoryBusBits)) / 8;
  info.ecc = optional_attribute(Attribute::Ecc) != 0;
  info.shared_per_block = std::max(device.shared_without_optin, optional_attribute(Attribute::SharedPerBlockOptin));
  device.shared_reserved_per_block = optional_attribute(Attribute::SharedReservedPerBlock);
  const auto system = ask_system(info.uuid);
  info.driver =
      !system.driver.empty() ? system.driver : fmt::format("CUDA {}.{}", driver.version / 1000, driver.version % 1000 / 10);
  info.persistence = system.persistence;
  info.mig = system.mig || info.name.find(" MIG ") != std::string::npos;
  return device;
}

}  // namespace gexp::cuda
