// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "lang/base/result.h"

/// The CUDA driver API through our own declarations, opened at run time. tests/cuda compares them with <cuda.h> where there is
/// one. Where the driver keeps several versions of a call, the member is bound to the one its declaration fits (driver.cpp).
namespace gexp::cuda {

struct ContextOpaque;
struct ModuleOpaque;
struct FunctionOpaque;
struct EventOpaque;
struct StreamOpaque;
using ContextHandle = ContextOpaque*;
using ModuleHandle = ModuleOpaque*;
using FunctionHandle = FunctionOpaque*;
using EventHandle = EventOpaque*;
using StreamHandle = StreamOpaque*;
using DeviceAddress = unsigned long long;
struct Uuid {
  char bytes[16];
};

/// CUresult: 0 is success.
inline constexpr int kSuccess = 0;
inline constexpr int kInvalidValue = 1;
inline constexpr int kOutOfMemory = 2;
inline constexpr int kStubLibrary = 34;
inline constexpr int kDeviceUnavailable = 46;
inline constexpr int kNoDevice = 100;
inline constexpr int kInvalidDevice = 101;
inline constexpr int kNoBinaryForGpu = 209;
inline constexpr int kUnsupportedPtxVersion = 222;
inline constexpr int kNotReady = 600;
inline constexpr int kSystemDriverMismatch = 803;
inline constexpr int kCompatNotSupported = 804;

/// CUdevice_attribute.
enum class Attribute : int {
  MaxThreadsPerBlock = 1,
  MaxGridX = 5,
  SharedPerBlock = 8,
  ClockKhz = 13,
  Multiprocessors = 16,
  MapsHostMemory = 19,
  Ecc = 32,
  MemoryClockKhz = 36,
  MemoryBusBits = 37,
  L2Bytes = 38,
  ComputeMajor = 75,
  ComputeMinor = 76,
  SharedPerMultiprocessor = 81,
  SharedPerBlockOptin = 97,
  ManagedMemory = 83,
  ConcurrentManagedAccess = 89,
  SharedReservedPerBlock = 111,
};

/// CUfunction_attribute.
enum class FunctionAttribute : int { MaxThreads = 0, StaticShared = 1, Registers = 4, MaxDynamicShared = 8, CarveoutPercent = 9 };

inline constexpr int kPitch2d = 3;  ///< CU_RESOURCE_TYPE_PITCH2D
/// CUDA_RESOURCE_DESC of linear memory (CU_RESOURCE_TYPE_LINEAR), or of rows, and CUDA_TEXTURE_DESC, as the driver lays them out.
struct ResourceDescription {
  int type = 2;             ///< linear memory
  DeviceAddress address = 0;
  int format = 3;           ///< CU_AD_FORMAT_UNSIGNED_INT32
  unsigned channels = 1;
  std::size_t bytes = 0;              ///< of rows: elements of one
  std::size_t height = 0, pitch = 0;  ///< rows, and bytes of one; of linear memory nothing
  char rest[128 - 5 * 8] = {};        ///< of the union's other members
  unsigned flags = 0;
};
struct TextureDescription {
  int address_mode[3] = {1, 1, 1};  ///< clamp
  int filter_mode = 0;              ///< point
  unsigned flags = 1;               ///< CU_TRSF_READ_AS_INTEGER
  char rest[84] = {};
};

/// CUlaunchConfig with the one attribute that gexp sets (CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).
struct LaunchAttribute {
  int id = 4;
  char gap[4] = {};
  unsigned cluster[3] = {1, 1, 1};
  char rest[64 - 3 * 4] = {};  ///< of the union's other members
};
struct LaunchConfig {
  unsigned grid[3], block[3];
  unsigned shared_bytes = 0;
  StreamHandle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned count = 0;
};

struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*error_name)(int, const char**) = nullptr;
  int (*error_string)(int, const char**) = nullptr;

  int (*device_count)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_uuid)(Uuid*, int) = nullptr;
  int (*device_total_memory)(std::size_t*, int) = nullptr;
  int (*device_attribute)(int*, Attribute, int) = nullptr;

  int (*context_create)(ContextHandle*, unsigned, int) = nullptr;
  int (*context_destroy)(ContextHandle) = nullptr;
  int (*context_set_current)(ContextHandle) = nullptr;
  int (*context_synchronize)() = nullptr;
  int (*can_access_peer)(int*, int, int) = nullptr;
  int (*enable_peer_access)(ContextHandle, unsigned) = nullptr;

  int (*memory_info)(std::size_t*, std::size_t*) = nullptr;
  int (*memory_allocate)(DeviceAddress*, std::size_t) = nullptr;
  int (*memory_free)(DeviceAddress) = nullptr;
  int (*host_allocate)(void**, std::size_t, unsigned) = nullptr;
  int (*host_address)(DeviceAddress*, void*, unsigned) = nullptr;
  int (*host_free)(void*) = nullptr;
  int (*managed_allocate)(DeviceAddress*, std::size_t, unsigned) = nullptr;
  int (*copy_to_device)(DeviceAddress, const void*, std::size_t) = nullptr;
  int (*copy_to_host)(void*, DeviceAddress, std::size_t) = nullptr;

  int (*module_load)(ModuleHandle*, const void*, unsigned, int*, void**) = nullptr;
  int (*module_function)(FunctionHandle*, ModuleHandle, const char*) = nullptr;
  int (*function_get)(int*, FunctionAttribute, FunctionHandle) = nullptr;
  int (*function_set)(FunctionHandle, FunctionAttribute, int) = nullptr;
  int (*launch)(FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle, void**,
                void**) = nullptr;

  int (*stream_create)(StreamHandle*, unsigned) = nullptr;
  int (*stream_query)(StreamHandle) = nullptr;
  int (*event_create)(EventHandle*, unsigned) = nullptr;
  int (*event_record)(EventHandle, StreamHandle) = nullptr;
  int (*event_query)(EventHandle) = nullptr;
  int (*event_elapsed)(float*, EventHandle, EventHandle) = nullptr;

  int (*memory_set)(DeviceAddress, unsigned char, std::size_t) = nullptr;
  int (*module_global)(DeviceAddress*, std::size_t*, ModuleHandle, const char*) = nullptr;
  int (*texture_create)(unsigned long long*, const ResourceDescription*, const TextureDescription*, const void*) = nullptr;

  // Only some drivers have these; null otherwise.
  int (*function_bank_width)(FunctionHandle, int) = nullptr;    ///< compute capability 3.x
  int (*function_cache_config)(FunctionHandle, int) = nullptr;  ///< before 7.0
  int (*prefetch)(DeviceAddress, std::size_t, int, StreamHandle) = nullptr;  ///< of managed memory, to a device; -1: to the host
  int (*launch_with)(const LaunchConfig*, FunctionHandle, void**, void**) = nullptr;  ///< from CUDA 11.8 on

  /// From CUDA 12.0 on: map, type, rank, address, dimensions, strides, box, steps, interleave, swizzle, promotion, fill.
  int (*tensor_map)(void*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*, const unsigned*, const unsigned*, int, int, int, int) = nullptr;

  std::string path;
  int version = 0;  ///< of CUDA that the driver speaks: 13000 for 13.0

  /// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
  [[nodiscard]] std::string text(int status) const;
};

/// Opens libcuda (GEXP_LIBCUDA, else libcuda.so.1) and initialises it. E0703 there is none, E0704 too old or not matching the
/// kernel module, E0705 no device, E0707 anything else.
Result<std::shared_ptr<const Driver>> load_driver();

}  // namespace gexp::cuda
