// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace gexp::cuda {
namespace {

/// CUDA 11.0; older drivers cannot load what any NVRTC that gexp takes produces.
constexpr int kOldestVersion = 11000;
constexpr const char* kSimulate = "--device sim:NAME needs no GPU";

/// The first symbol that was missing, if any.
struct Binder {
  void* library;
  std::string missing;

  template <class Call>
  void operator()(Call& call, const char* symbol) {
    call = reinterpret_cast<Call>(dlsym(library, symbol));
    if (call == nullptr && missing.empty()) missing = symbol;
  }
  template <class Call>
  void optional(Call& call, const char* symbol) {
    call = reinterpret_cast<Call>(dlsym(library, symbol));
  }
};

void bind_all(Driver& d, Binder& bind) {
  bind(d.init, "cuInit");
  bind(d.driver_version, "cuDriverGetVersion");
  bind(d.error_name, "cuGetErrorName");
  bind(d.error_string, "cuGetErrorString");
  bind(d.device_count, "cuDeviceGetCount");
  bind(d.device_get, "cuDeviceGet");
  bind(d.device_name, "cuDeviceGetName");
  bind(d.device_uuid, "cuDeviceGetUuid");
  bind(d.device_total_memory, "cuDeviceTotalMem_v2");
  bind(d.device_attribute, "cuDeviceGetAttribute");
  bind(d.context_create, "cuCtxCreate_v2");  // cuda.h of CUDA 13 means _v4 by cuCtxCreate; drivers keep _v2
  bind(d.context_destroy, "cuCtxDestroy_v2");
  bind(d.context_set_current, "cuCtxSetCurrent");
  bind(d.context_synchronize, "cuCtxSynchronize");
  bind(d.can_access_peer, "cuDeviceCanAccessPeer");
  bind(d.enable_peer_access, "cuCtxEnablePeerAccess");
  bind(d.memory_info, "cuMemGetInfo_v2");
  bind(d.memory_allocate, "cuMemAlloc_v2");
  bind(d.memory_free, "cuMemFree_v2");
  bind(d.host_allocate, "cuMemHostAlloc");
  bind(d.host_address, "cuMemHostGetDevicePointer_v2");
  bind(d.host_free, "cuMemFreeHost");
  bind(d.managed_allocate, "cuMemAllocManaged");
  bind(d.copy_to_device, "cuMemcpyHtoD_v2");
  bind(d.copy_to_host, "cuMemcpyDtoH_v2");
  bind(d.memory_set, "cuMemsetD8_v2");
  bind(d.module_global, "cuModuleGetGlobal_v2");
  bind(d.texture_create, "cuTexObjectCreate");
  bind(d.module_load, "cuModuleLoadDataEx");
  bind(d.module_function, "cuModuleGetFunction");
  bind(d.function_get, "cuFuncGetAttribute");
  bind(d.function_set, "cuFuncSetAttribute");
  bind(d.launch, "cuLaunchKernel");
  bind(d.stream_create, "cuStreamCreate");
  bind(d.stream_query, "cuStreamQuery");
  bind(d.event_create, "cuEventCreate");
  bind(d.event_record, "cuEventRecord");
  bind(d.event_query, "cuEventQuery");
  bind(d.event_elapsed, "cuEventElapsedTime");
  bind.optional(d.function_bank_width, "cuFuncSetSharedMemConfig");
  bind.optional(d.function_cache_config, "cuFuncSetCacheConfig");
  bind.optional(d.prefetch, "cuMemPrefetchAsync");  // cuda.h of CUDA 13 means _v2 by it; drivers keep this one
  bind.optional(d.tensor_map, "cuTensorMapEncodeTiled");
  bind.optional(d.launch_with, "cuLaunchKernelEx");
}

Diagnostic not_initialised(const Driver& driver, int status) {
  switch (status) {
    case kNoDevice:
    case kInvalidDevice:
      return failure("E0705", "the NVIDIA driver sees no GPU",
                     fmt::format("check nvidia-smi, CUDA_VISIBLE_DEVICES and the permissions of /dev/nvidia*; {}", kSimulate));
    case kSystemDriverMismatch:
    case kCompatNotSupported:
      return failure("E0704",
                     fmt::format("the NVIDIA driver library and the kernel module do not match: {}", driver.text(status)),
                     "restart the machine after a driver update, or give a container the host's driver");
    case kStubLibrary:
      return failure("E0703", fmt::format("{} is a stub for linking, not a driver", driver.path),
                     "take the stubs folder out of LD_LIBRARY_PATH");
    default:
      return failure("E0707", fmt::format("the NVIDIA driver does not start: {}", driver.text(status)),
                     "check nvidia-smi and dmesg");
  }
}

}  // namespace

std::string Driver::text(int status) const {
  const char* name = nullptr;
  const char* what = nullptr;
  if (error_name(status, &name) != kSuccess || name == nullptr) return fmt::format("CUDA error {}", status);
  if (error_string(status, &what) != kSuccess || what == nullptr) return fmt::format("{} ({})", name, status);
  return fmt::format("{} ({}): {}", name, status, what);
}

Result<std::shared_ptr<const Driver>> load_driver() {
  auto driver = std::make_shared<Driver>();
  const char* chosen = std::getenv("GEXP_LIBCUDA");
  driver->path = chosen != nullptr && *chosen != '\0' ? chosen : "libcuda.so.1";
  void* library = dlopen(driver->path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return failure("E0703", fmt::format("no NVIDIA driver: {}", why != nullptr ? why : driver->path),
                   fmt::format("install NVIDIA's driver (libcuda.so.1), or set GEXP_LIBCUDA to its path; {}", kSimulate));
  }
  Binder bind{library, {}};
  bind_all(*driver, bind);
  if (!bind.missing.empty()) {
    return failure("E0704", fmt::format("the NVIDIA driver {} is too old: it has no {}", driver->path, bind.missing),
                   "update the NVIDIA driver to 450 or newer");
  }
  if (const int status = driver->init(0); status != kSuccess) return not_initialised(*driver, status);
  if (const int status = driver->driver_version(&driver->version); status != kSuccess) return not_initialised(*driver, status);
  if (driver->version < kOldestVersion) {
    return failure("E0704",
                   fmt::format("the NVIDIA driver is too old: it speaks CUDA {}.{}, 11.0 is the oldest that gexp can use",
                               driver->version / 1000, driver->version % 1000 / 10),
                   "update the NVIDIA driver to 450 or newer");
  }
  return std::shared_ptr<const Driver>(std::move(driver));
}

}  // namespace gexp::cuda
