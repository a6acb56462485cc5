// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcuda: GPUs whose memory is the host's. FAKE_CUDA names what goes wrong, words separated by commas (see the
// tests). A kernel's first parameter says how it ends: 0 well, otherwise with that CUresult; kNeverEnds never. The kernels scatter4
// and scatter8 do their work. gexp's own kernel is taken for each.cu: every access takes 100 cycles, and the point whose timed
// steps are N faults, hangs or kills its process by fault_at=N, hang_at=N, die_at=N; slow=N: a launch takes N us. threads=N: of a block, unless the kernel says of how many they are. memory=BYTES and gpus=N say how many there are.
// Built once with FAKE_TOO_OLD: without cuFuncSetAttribute, as before CUDA 9.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "compiler/codegen/emit.h"
#include "compiler/plan/calibrate.h"

#include "runtime/cuda/driver.h"
#include "tests/cuda/fake/fake_cuda.h"

using namespace gexp::cuda;

namespace {

/// What follows `what` in one of the script's words; null when none begins so.
const char* scripted_word(std::string_view what) {
  const char* script = std::getenv("FAKE_CUDA");
  for (const char* at = script; at != nullptr && *at != '\0'; at = std::strchr(at, ',') ? std::strchr(at, ',') + 1 : nullptr) {
    if (std::string_view(at).starts_with(what)) return at + what.size();
  }
  return nullptr;
}
bool scripted(std::string_view what) {
  const char* rest = scripted_word(what);
  return rest != nullptr && (*rest == '\0' || *rest == ',');
}
std::size_t scripted_number(std::string_view what, std::size_t otherwise) {
  const char* rest = scripted_word(what);
  return rest != nullptr ? std::strtoull(rest, nullptr, 10) : otherwise;
}

int fault = 0;  // of the living context: sticky
bool never_ends = false;
int contexts_made = 0;
int set_values[16];
std::map<DeviceAddress, std::size_t> allocated;
std::set<void*> pinned;
int opened_device = 0;
int peer_marker = 0;          // what the context of a second device points to
bool peer_current = false, peer_enabled = false;
std::set<DeviceAddress> managed, on_peer;
std::string kernel_name, bounded_name;                 // modules, the second of a text with .maxntid
std::set<std::string> plain_names, bounded_names;      // of their functions, which are these texts

unsigned bounded_to = 0;  // by that text, the last one

/// By the registers of its threads, which a text with .maxntid bounds.
unsigned most_threads(FunctionHandle function) {
  const auto* name = reinterpret_cast<const char*>(function);
  const auto found = bounded_names.find(name);
  return found != bounded_names.end() && found->c_str() == name ? bounded_to : static_cast<unsigned>(scripted_number("threads=", 1024));
}

template <class T>
T argument(void** arguments, int index) {
  T value;
  std::memcpy(&value, arguments[index], sizeof value);
  return value;
}

/// A kernel that a file of an experiment brings: (to, from, n, step, float scale) writes from[0] + i * step * scale to to[i].
void count_up(void** arguments) {
  if (scripted("fault")) {
    fault = 700;
    return;
  }
  auto* to = reinterpret_cast<std::uint32_t*>(argument<std::uint64_t>(arguments, 0));
  const auto* from = reinterpret_cast<const std::uint32_t*>(argument<std::uint64_t>(arguments, 1));
  const auto step = argument<std::uint8_t>(arguments, 3);
  for (std::uint32_t i = 0; i < argument<std::uint32_t>(arguments, 2); ++i) {
    to[i] = from[0] + static_cast<std::uint32_t>(static_cast<float>(i * step) * argument<float>(arguments, 4));
  }
}

void scatter(void** arguments, std::size_t width) {
  const auto base = argument<std::uint64_t>(arguments, 0);
  const auto* offsets = reinterpret_cast<const std::int64_t*>(argument<std::uint64_t>(arguments, 1));
  const auto* values = reinterpret_cast<const std::uint64_t*>(argument<std::uint64_t>(arguments, 2));
  const auto count = argument<std::uint32_t>(arguments, 3);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::memcpy(reinterpret_cast<char*>(base + static_cast<std::uint64_t>(offsets[i])), &values[i], width);
  }
}

std::size_t free_memory() {
  auto free = scripted_number("memory=", std::size_t{1} << 29);
  for (const auto& [address, bytes] : allocated) free -= bytes;
  return free;
}

constexpr std::size_t kNone = ~std::size_t{0};

/// each.cu with every access a hit of 100 cycles, in a region that costs 8.
void run_each(void** arguments) {
  const auto steps = argument<std::uint32_t>(arguments, 5);
  if (const auto microseconds = scripted_number("slow=", 0)) usleep(static_cast<useconds_t>(microseconds));
  if (steps == scripted_number("die_at=", kNone)) kill(getpid(), SIGKILL);
  if (steps == scripted_number("hang_at=", kNone) || scripted("hang")) never_ends = true;
  if (steps == scripted_number("fault_at=", kNone) || scripted("fault")) fault = 700;
  auto* ticks = reinterpret_cast<std::uint32_t*>(argument<std::uint64_t>(arguments, 6));
  for (std::uint32_t i = 0; i < steps; ++i) ticks[i] = 108 + 10 * static_cast<std::uint32_t>(scripted("uneven") ? opened_device : 0);
  auto* overhead = reinterpret_cast<std::uint32_t*>(argument<std::uint64_t>(arguments, 8));
  using namespace gexp::compiler;
  for (int i = 0; i < kCalibrationWords; ++i) overhead[i] = i < kChainTimes ? 160 : i < 2 * kChainTimes ? 800 : 48;
}

}  // namespace

extern "C" {

int fake_last_set(int attribute) { return set_values[attribute]; }
int fake_contexts_made() { return contexts_made; }
int fake_allocations() { return static_cast<int>(allocated.size() + pinned.size() + on_peer.size()); }
void fake_reset() {
  fault = 0;
  never_ends = false;
}

int cuInit(unsigned) {
  return scripted("no_device") ? 100 : scripted("mismatch") ? 803 : scripted("stub") ? 34 : scripted("broken") ? 999 : 0;
}
int cuDriverGetVersion(int* version) {
  *version = scripted("old") ? 9020 : 13000;
  return 0;
}
int cuGetErrorName(int status, const char** text) {
  *text = status == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_FAKE";
  return status == 998 ? 1 : 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "as scripted";
  return 0;
}
int cuMemsetD8_v2(DeviceAddress at, unsigned char value, std::size_t bytes) {
  std::memset(reinterpret_cast<void*>(at), value, bytes);
  return 0;
}
int cuModuleGetGlobal_v2(DeviceAddress*, std::size_t*, ModuleHandle, const char*) { return 500; }
int cuTexObjectCreate(unsigned long long* handle, const ResourceDescription*, const TextureDescription*, const void*) {
  *handle = 1;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = scripted("empty") ? 0 : static_cast<int>(scripted_number("gpus=", 1));
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "NVIDIA H200", static_cast<std::size_t>(size));
  return scripted("nameless") ? 999 : 0;
}
int cuDeviceGetUuid(Uuid* uuid, int device) {
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(i * 17 + device);
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{1} << 30;
  return 0;
}
int cuDeviceGetAttribute(int* value, Attribute which, int) {
  const bool kepler = scripted("kepler");
  switch (which) {
    case Attribute::MaxThreadsPerBlock: *value = 1024; break;
    case Attribute::MaxGridX: *value = 2147483647; break;
    case Attribute::SharedPerBlock: *value = 49152; break;
    case Attribute::ClockKhz: *value = 1980000; break;
    case Attribute::Multiprocessors: *value = 132; break;
    case Attribute::MapsHostMemory: *value = scripted("no_host_memory") ? 0 : 1; break;
    case Attribute::ManagedMemory: *value = scripted("no_managed") ? 0 : 1; break;
    case Attribute::ConcurrentManagedAccess: *value = scripted("no_concurrent") ? 0 : 1; break;
    case Attribute::Ecc: *value = 1; break;
    case Attribute::MemoryBusBits: *value = 6144; break;
    case Attribute::MemoryClockKhz: *value = 3201000; break;
    case Attribute::L2Bytes: *value = 62914560; break;
    case Attribute::ComputeMajor: *value = kepler ? 3 : 9; break;
    case Attribute::ComputeMinor: *value = kepler ? 5 : 0; break;
    case Attribute::SharedPerMultiprocessor: *value = kepler ? 49152 : 233472; break;
    case Attribute::SharedPerBlockOptin: *value = kepler ? 49152 : 232448; break;
    case Attribute::SharedReservedPerBlock: *value = kepler ? 0 : 1024; break;
  }
  return 0;
}

int cuCtxCreate_v2(ContextHandle* context, unsigned, int device) {
  if (scripted("taken")) return 46;
  if (device != opened_device && contexts_made > 0 && !scripted("uneven")) {  // beside the one that there is
    *context = reinterpret_cast<ContextHandle>(&peer_marker);
    peer_current = true;
    return scripted("peer_taken") ? 46 : 0;
  }
  if (scripted("no_second_context") && contexts_made > 0) return fault;
  ++contexts_made;
  opened_device = device;
  fault = 0;
  *context = reinterpret_cast<ContextHandle>(&fault);
  return 0;
}
int cuCtxDestroy_v2(ContextHandle context) {
  if (context == reinterpret_cast<ContextHandle>(&peer_marker)) {
    for (const auto address : on_peer) std::free(reinterpret_cast<void*>(address));
    on_peer.clear();
    peer_enabled = peer_current = false;
    return 0;
  }
  for (const auto& [address, bytes] : allocated) std::free(reinterpret_cast<void*>(address));
  for (void* host : pinned) std::free(host);
  allocated.clear();
  pinned.clear();
  managed.clear();
  return fault;
}
int cuCtxSetCurrent(ContextHandle context) {
  peer_current = context == reinterpret_cast<ContextHandle>(&peer_marker);
  return 0;
}
int cuCtxSynchronize() {
  set_values[kFakePeerCopies] += peer_current ? 1 : 0;
  return 0;
}
int cuDeviceCanAccessPeer(int* can, int, int) {
  *can = scripted("far_apart") ? 0 : 1;
  return 0;
}
int cuCtxEnablePeerAccess(ContextHandle context, unsigned flags) {
  peer_enabled = !peer_current && context == reinterpret_cast<ContextHandle>(&peer_marker) && flags == 0;
  return peer_enabled ? 0 : 1;
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *free = free_memory();
  *total = std::size_t{1} << 30;
  return fault;
}
int cuMemAlloc_v2(DeviceAddress* address, std::size_t bytes) {
  if (peer_current) {
    if (!peer_enabled || bytes > scripted_number("peer_memory=", std::size_t{1} << 29)) return peer_enabled ? 2 : 1;
    *address = reinterpret_cast<DeviceAddress>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    on_peer.insert(*address);
    return 0;
  }
  if (bytes > free_memory()) return 2;
  *address = reinterpret_cast<DeviceAddress>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  allocated[*address] = bytes;
  return fault;
}
int cuMemHostAlloc(void** host, std::size_t bytes, unsigned flags) {
  if (flags != 2 || bytes > free_memory()) return flags != 2 ? 1 : 2;
  *host = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  pinned.insert(*host);
  return fault;
}
int cuMemHostGetDevicePointer_v2(DeviceAddress* address, void* host, unsigned) {
  *address = reinterpret_cast<DeviceAddress>(host);
  return scripted("no_host_address") ? 1 : 0;
}
int cuMemFreeHost(void* host) {
  if (pinned.erase(host) == 0) return 1;
  std::free(host);
  return fault;
}
int cuMemAllocManaged(DeviceAddress* address, std::size_t bytes, unsigned flags) {
  if (flags != 1) return 1;
  const int status = cuMemAlloc_v2(address, bytes);
  managed.insert(*address);
  return status;
}
int cuMemPrefetchAsync(DeviceAddress address, std::size_t bytes, int device, StreamHandle) {
  if (!managed.contains(address) || bytes > allocated[address] || device != -1) return 1;
  ++set_values[kFakePages];
  return fault;
}
int cuMemFree_v2(DeviceAddress address) {
  if (peer_current) {
    if (on_peer.erase(address) == 0) return 1;
    std::free(reinterpret_cast<void*>(address));
    return 0;
  }
  managed.erase(address);
  if (allocated.erase(address) == 0) return 1;
  std::free(reinterpret_cast<void*>(address));
  return fault;
}
int cuMemcpyHtoD_v2(DeviceAddress to, const void* from, std::size_t bytes) {
  if (to < 4096) return 1;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return fault;
}
int cuMemcpyDtoH_v2(void* to, DeviceAddress from, std::size_t bytes) {
  if (from < 4096) return 1;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return fault;
}

int cuModuleLoadDataEx(ModuleHandle* module, const void* image, unsigned, int*, void** values) {
  if (std::strncmp(static_cast<const char*>(image), "bad", 3) == 0) {
    std::strcpy(static_cast<char*>(values[0]), "ptxas: it is bad");
    return 209;
  }
  const char* bounded = std::strstr(static_cast<const char*>(image), ".maxntid ");
  if (bounded) bounded_to = static_cast<unsigned>(std::strtoul(bounded + 9, nullptr, 10));
  *module = reinterpret_cast<ModuleHandle>(bounded ? &bounded_name : &kernel_name);
  return fault;
}
int cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  if (std::strcmp(name, "missing") == 0) return 500;
  auto& names = module == reinterpret_cast<ModuleHandle>(&bounded_name) ? bounded_names : plain_names;
  *function = reinterpret_cast<FunctionHandle>(const_cast<char*>(names.insert(name).first->c_str()));
  return fault;
}
int cuFuncGetAttribute(int* value, FunctionAttribute which, FunctionHandle function) {
  *value = which == FunctionAttribute::MaxThreads ? static_cast<int>(most_threads(function)) : 0;
  return fault;
}
#ifndef FAKE_TOO_OLD
int cuFuncSetAttribute(FunctionHandle, FunctionAttribute which, int value) {
  if (which == FunctionAttribute::MaxDynamicShared && value > 232448) return 1;
  set_values[static_cast<int>(which)] = value;
  return fault;
}
#endif
int cuFuncSetSharedMemConfig(FunctionHandle, int value) {
  set_values[kFakeBankConfig] = value;
  return fault;
}
int cuFuncSetCacheConfig(FunctionHandle, int value) {
  set_values[kFakeCacheConfig] = value;
  return fault;
}
int cuLaunchKernel(FunctionHandle function, unsigned, unsigned, unsigned, unsigned block, unsigned, unsigned, unsigned,
                   StreamHandle, void** arguments, void**) {
  const std::string name = reinterpret_cast<const char*>(function);
  if (block > 1024) return 1;
  if (block > most_threads(function)) return 701;
  if (name == "scatter4") scatter(arguments, 4);
  if (name == "scatter8") scatter(arguments, 8);
  if (name.starts_with("scatter")) return fault;
  if (name == gexp::compiler::kEntry) {
    run_each(arguments);
    return 0;
  }
  if (name == "count_up") {
    count_up(arguments);
    return 0;
  }
  const auto end = argument<std::uint32_t>(arguments, 0);
  if (end == kFakeNeverEnds) {
    never_ends = true;
  } else if (end != 0) {
    fault = static_cast<int>(end);
  }
  return 0;
}

int cuLaunchKernelEx(const LaunchConfig* with, FunctionHandle function, void** arguments, void** extra) {
  if (with->count != 1 || with->attributes->id != 4) return 1;
  set_values[kFakeCluster] = static_cast<int>(with->attributes->cluster[0]);
  return cuLaunchKernel(function, with->grid[0], with->grid[1], with->grid[2], with->block[0], with->block[1], with->block[2], with->shared_bytes, with->stream, arguments, extra);
}

int cuStreamCreate(StreamHandle* stream, unsigned flags) {
  set_values[kFakeStreamFlags] = static_cast<int>(flags);
  *stream = reinterpret_cast<StreamHandle>(&fault);
  return fault;
}
int cuStreamQuery(StreamHandle) { return fault != 0 ? fault : never_ends ? 600 : 0; }
int cuEventCreate(EventHandle* event, unsigned) {
  *event = reinterpret_cast<EventHandle>(&fault);
  return fault;
}
int cuEventRecord(EventHandle, StreamHandle) { return 0; }
int cuEventQuery(EventHandle) { return fault != 0 ? fault : never_ends ? 600 : 0; }
int cuEventElapsedTime(float* milliseconds, EventHandle, EventHandle) {
  *milliseconds = 1.5F;
  return fault;
}
}
