// SPDX-License-Identifier: Apache-2.0
// Our declarations of the driver API against NVIDIA's own, where a toolkit's headers are found (nothing to run). The names with
// a version are the ones that runtime/cuda/driver.cpp binds.
#if __has_include(<cudaTypedefs.h>)
#include <cuda.h>
#include <cudaTypedefs.h>

#include "runtime/cuda/driver.h"
#include "runtime/device/backend.h"
#include "tests/jit/same_shape.h"

namespace gexp::cuda {
using tests::same_shape;

static_assert(same_shape<decltype(Driver::init), PFN_cuInit_v2000>);
static_assert(same_shape<decltype(Driver::driver_version), PFN_cuDriverGetVersion_v2020>);
static_assert(same_shape<decltype(Driver::error_name), PFN_cuGetErrorName_v6000>);
static_assert(same_shape<decltype(Driver::error_string), PFN_cuGetErrorString_v6000>);
static_assert(same_shape<decltype(Driver::device_count), PFN_cuDeviceGetCount_v2000>);
static_assert(same_shape<decltype(Driver::device_get), PFN_cuDeviceGet_v2000>);
static_assert(same_shape<decltype(Driver::device_name), PFN_cuDeviceGetName_v2000>);
static_assert(same_shape<decltype(Driver::device_uuid), PFN_cuDeviceGetUuid_v9020>);
static_assert(same_shape<decltype(Driver::device_total_memory), PFN_cuDeviceTotalMem_v3020>);
static_assert(same_shape<decltype(Driver::device_attribute), PFN_cuDeviceGetAttribute_v2000>);
static_assert(same_shape<decltype(Driver::context_create), PFN_cuCtxCreate_v3020>);
static_assert(same_shape<decltype(Driver::context_destroy), PFN_cuCtxDestroy_v4000>);
static_assert(same_shape<decltype(Driver::context_set_current), PFN_cuCtxSetCurrent_v4000>);
static_assert(same_shape<decltype(Driver::context_synchronize), PFN_cuCtxSynchronize_v2000>);
static_assert(same_shape<decltype(Driver::can_access_peer), PFN_cuDeviceCanAccessPeer_v4000>);
static_assert(same_shape<decltype(Driver::enable_peer_access), PFN_cuCtxEnablePeerAccess_v4000>);
static_assert(same_shape<decltype(Driver::managed_allocate), PFN_cuMemAllocManaged_v6000>);
static_assert(same_shape<decltype(Driver::prefetch), PFN_cuMemPrefetchAsync_v8000>);
static_assert(same_shape<decltype(Driver::memory_info), PFN_cuMemGetInfo_v3020>);
static_assert(same_shape<decltype(Driver::memory_allocate), PFN_cuMemAlloc_v3020>);
static_assert(same_shape<decltype(Driver::memory_free), PFN_cuMemFree_v3020>);
static_assert(same_shape<decltype(Driver::host_allocate), PFN_cuMemHostAlloc_v2020>);
static_assert(same_shape<decltype(Driver::host_address), PFN_cuMemHostGetDevicePointer_v3020>);
static_assert(same_shape<decltype(Driver::host_free), PFN_cuMemFreeHost_v2000>);
static_assert(same_shape<decltype(Driver::copy_to_device), PFN_cuMemcpyHtoD_v3020>);
static_assert(same_shape<decltype(Driver::copy_to_host), PFN_cuMemcpyDtoH_v3020>);
static_assert(same_shape<decltype(Driver::memory_set), PFN_cuMemsetD8_v3020>);
static_assert(same_shape<decltype(Driver::module_global), PFN_cuModuleGetGlobal_v3020>);
static_assert(sizeof(ResourceDescription) == sizeof(CUDA_RESOURCE_DESC) && offsetof(ResourceDescription, address) == offsetof(CUDA_RESOURCE_DESC, res));
static_assert(offsetof(ResourceDescription, bytes) == offsetof(CUDA_RESOURCE_DESC, res.linear.sizeInBytes));
static_assert(offsetof(ResourceDescription, flags) == offsetof(CUDA_RESOURCE_DESC, flags));
static_assert(sizeof(TextureDescription) == sizeof(CUDA_TEXTURE_DESC) && offsetof(TextureDescription, flags) == offsetof(CUDA_TEXTURE_DESC, flags));
static_assert(ResourceDescription{}.type == CU_RESOURCE_TYPE_LINEAR && ResourceDescription{}.format == CU_AD_FORMAT_UNSIGNED_INT32);
static_assert(TextureDescription{}.flags == CU_TRSF_READ_AS_INTEGER && TextureDescription{}.address_mode[0] == CU_TR_ADDRESS_MODE_CLAMP);
static_assert(same_shape<decltype(Driver::module_load), PFN_cuModuleLoadDataEx_v2010>);
static_assert(same_shape<decltype(Driver::module_function), PFN_cuModuleGetFunction_v2000>);
static_assert(same_shape<decltype(Driver::function_get), PFN_cuFuncGetAttribute_v2020>);
static_assert(same_shape<decltype(Driver::function_set), PFN_cuFuncSetAttribute_v9000>);
static_assert(same_shape<decltype(Driver::launch_with), PFN_cuLaunchKernelEx_v11060>);
static_assert(same_shape<decltype(Driver::tensor_map), PFN_cuTensorMapEncodeTiled_v12000>);
static_assert(sizeof(CUtensorMap) == gexp::device::kTileBytes && CU_TENSOR_MAP_DATA_TYPE_UINT32 == 2);
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute) && offsetof(LaunchAttribute, cluster) == offsetof(CUlaunchAttribute, value));
static_assert(LaunchAttribute{}.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig) && offsetof(LaunchConfig, block) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(LaunchConfig, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes) && offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs) && offsetof(LaunchConfig, count) == offsetof(CUlaunchConfig, numAttrs));
static_assert(same_shape<decltype(Driver::launch), PFN_cuLaunchKernel_v4000>);
static_assert(same_shape<decltype(Driver::stream_create), PFN_cuStreamCreate_v2000>);
static_assert(same_shape<decltype(Driver::stream_query), PFN_cuStreamQuery_v2000>);
static_assert(same_shape<decltype(Driver::event_create), PFN_cuEventCreate_v2000>);
static_assert(same_shape<decltype(Driver::event_record), PFN_cuEventRecord_v2000>);
static_assert(same_shape<decltype(Driver::event_query), PFN_cuEventQuery_v2000>);
static_assert(same_shape<decltype(Driver::event_elapsed), PFN_cuEventElapsedTime_v2000>);
static_assert(same_shape<decltype(Driver::function_bank_width), PFN_cuFuncSetSharedMemConfig_v4020>);
static_assert(same_shape<decltype(Driver::function_cache_config), PFN_cuFuncSetCacheConfig_v3000>);

static_assert(kInvalidValue == CUDA_ERROR_INVALID_VALUE && kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY &&
              kStubLibrary == CUDA_ERROR_STUB_LIBRARY);
static_assert(kDeviceUnavailable == CUDA_ERROR_DEVICE_UNAVAILABLE && kNoDevice == CUDA_ERROR_NO_DEVICE &&
              kInvalidDevice == CUDA_ERROR_INVALID_DEVICE);
static_assert(kNoBinaryForGpu == CUDA_ERROR_NO_BINARY_FOR_GPU && kUnsupportedPtxVersion == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
static_assert(kNotReady == CUDA_ERROR_NOT_READY && kSystemDriverMismatch == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
static_assert(kCompatNotSupported == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE && sizeof(Uuid) == sizeof(CUuuid));

constexpr bool is(Attribute ours, CUdevice_attribute theirs) { return static_cast<int>(ours) == static_cast<int>(theirs); }
static_assert(is(Attribute::MaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(is(Attribute::MaxGridX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X));
static_assert(is(Attribute::SharedPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
static_assert(is(Attribute::ClockKhz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
static_assert(is(Attribute::Multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
static_assert(is(Attribute::Ecc, CU_DEVICE_ATTRIBUTE_ECC_ENABLED));
static_assert(is(Attribute::MemoryClockKhz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
static_assert(is(Attribute::MemoryBusBits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
static_assert(is(Attribute::L2Bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
static_assert(is(Attribute::ComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
static_assert(is(Attribute::ComputeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
static_assert(is(Attribute::SharedPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
static_assert(is(Attribute::SharedPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
static_assert(is(Attribute::SharedReservedPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));

constexpr bool is(FunctionAttribute ours, CUfunction_attribute theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}
static_assert(is(FunctionAttribute::MaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(is(FunctionAttribute::StaticShared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
static_assert(is(FunctionAttribute::MaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
static_assert(is(FunctionAttribute::CarveoutPercent, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT));

}  // namespace gexp::cuda
#endif
