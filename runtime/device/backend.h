// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/base/result.h"
#include "runtime/device/condition.h"
#include "runtime/device/outcome.h"

/// The seam between gexp and whatever executes kernels: a GPU through the driver (runtime/cuda) or a simulated one
/// (runtime/sim). Nothing above it knows which. Nothing that crosses it tells the structure of a simulated memory.
namespace gexp::device {

/// What a device says of itself. Facts for provenance and for choosing a target; never evidence for a finding.
struct DeviceInfo {
  std::string kind;  ///< "cuda" or "simulated"
  std::string id;    ///< "cuda:0", "sim:gtx780", "sim:path/to/model.toml"
  std::string selector;  ///< what `expect … on SEL` compares: "gtx780" (model name) or "h200" (normalised GPU name)
  std::string name;  ///< "NVIDIA H200", "GeForce GTX 780"
  int compute_major = 0, compute_minor = 0;
  int sms = 0;
  double sm_clock_hz = 0, memory_clock_hz = 0;
  std::uint64_t memory_bytes = 0;
  double memory_peak = 0;                ///< bytes a second: two transfers of the bus a memory clock; 0: not told
  std::uint64_t l2_bytes = 0;            ///< as the API reports it
  std::uint64_t shared_per_block = 0;    ///< most dynamic shared memory a block can ask for, bytes
  std::uint64_t shared_per_sm = 0;
  std::string driver;                    ///< "580.159.04"; empty when simulated
  std::string uuid;
  bool ecc = false, mig = false, persistence = false;
  std::string model_sha256;              ///< simulated: of the model file's bytes
};

/// What NVRTC should produce for this device.
struct Target {
  enum class Form { Ptx, Cubin };
  Form form = Form::Ptx;
  int major = 0, minor = 0;  ///< 0.0: the oldest architecture that the NVRTC at hand can target
};

struct KernelImage {
  Target::Form form = Target::Form::Ptx;
  std::string bytes;
  std::string entry;  ///< the extern "C" name of the kernel
};

/// One kernel argument, already in the kernel's own width.
struct Argument {
  std::uint64_t bits = 0;
  std::uint8_t size = 8;  ///< 4 or 8; kTileBytes: `bits` is what `tiles` gave
};
inline constexpr std::uint8_t kTileBytes = 128;  ///< of what a kernel is told of tiles (CUtensorMap)

/// Tiles of a memory that is seen as rows of `pitch` bytes: each has so many bytes of so many rows. All bytes are multiples of 16.
struct Tiles {
  std::uint64_t address = 0, bytes = 0, pitch = 0;
  std::uint32_t row_bytes = 0, rows = 0;
  friend bool operator==(const Tiles&, const Tiles&) = default;
};
/// An address in the device's memory.
inline Argument pointer(std::uint64_t address) { return {address, 8}; }

/// Whose memory an allocation is in. The host's is pinned, and the device reaches it over the bus. Managed: pages are where they were
/// touched last. Peer: another GPU's, over the link to it.
enum class Where : std::uint8_t { Device, Host, Managed, Peer };

/// Blocks of a grid, or threads of a block, along x, y and z.
struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;
  constexpr Extent(std::uint32_t along_x = 1, std::uint32_t along_y = 1, std::uint32_t along_z = 1) : x(along_x), y(along_y), z(along_z) {}
  /// Without overflow as long as y and z are below 2^16.
  [[nodiscard]] constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct LaunchShape {
  Extent grid = 1;
  Extent block = 1;
  std::uint32_t cluster = 1;       ///< blocks of a cluster, along x; 1: what the kernel itself says
  std::uint32_t shared_bytes = 0;  ///< dynamic shared memory
  /// Shared memory the SM must set aside, bytes; the rest of a unified L1 is cache. Negative: as little as `shared_bytes` needs.
  std::int64_t carveout_bytes = -1;
  std::uint32_t bank_bytes = 0;    ///< shared-memory bank width asked for (4 or 8); 0: the device's default
  std::uint32_t registers = 0;     ///< that a thread must have, no more and no fewer; 0: what the kernel was compiled to
  double limit = 0;                ///< seconds of the device's time after which the launch has hung; 0: no such limit
};

/// What an experiment needs of a device, found before anything starts.
struct Requirement {
  enum class Kind { LoadPath, BankWidth, SharedBytes, MemoryBytes, Threads, Blocks, Space, Flush, Cluster, Place };
  Kind kind;
  std::string path;         ///< LoadPath: "ca" "cg" "cv" "nc" "tex"; Space: "constant" …; Flush: "l1" "l2" "tlb" "managed"; Place: "sm" …
  std::uint64_t amount = 0; ///< BankWidth, SharedBytes, MemoryBytes: bytes; Threads: per block; Blocks: per grid; Cluster: blocks; Place: 1 beside another stage
  Span span;                ///< the statement that needs it
};

using KernelId = std::uint32_t;

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual const DeviceInfo& device() const = 0;
  [[nodiscard]] virtual Target target() const = 0;
  /// The diagnostic (E0501, at the requirement's span) names the missing capability.
  virtual Result<> accepts(const Requirement& requirement) const = 0;
  /// The same device as it was when opened, with nothing in its memory and caches, independent of this one (another thread may
  /// use it). What chance decides on it (replacement, noise) follows from `number` alone. Null where there is but one, a GPU.
  [[nodiscard]] virtual std::unique_ptr<Backend> another(std::uint64_t number) const {
    (void)number;
    return nullptr;
  }

  /// Address, for the device, of `bytes` bytes, aligned to `align` (a power of two; 0: the device's choice). Contents undefined.
  virtual Result<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t align = 0, Where where = Where::Device) = 0;
  virtual void release(std::uint64_t address) = 0;
  virtual Result<> write(std::uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual Result<> read(std::uint64_t address, std::span<std::byte> bytes) = 0;
  /// For every i: the `width` (4 or 8) low bytes of values[i] at address + offsets[i]. How a chase's links reach a sparse array.
  virtual Result<> scatter(std::uint64_t address, std::span<const std::int64_t> offsets,
                           std::span<const std::uint64_t> values, int width) = 0;

  /// Empties a level that `accepts` took: "l1" "l2" "tlb"; "managed": the pages of managed memory go back to the host.
  virtual Result<> flush(const std::string& level) = 0;
  /// A texture of 4-byte elements over memory of this backend; the handle that a fetch takes. `pitch`: it has two dimensions, and rows of so
  /// many bytes, one behind the other; 0: it has one.
  virtual Result<std::uint64_t> texture(std::uint64_t address, std::uint64_t bytes, std::uint64_t pitch) = 0;
  /// What a kernel is told of such tiles, by a parameter of kTileBytes: the `bits` of that argument.
  virtual Result<std::uint64_t> tiles(const Tiles& tiles) = 0;
  /// Where the constant array `name` of a loaded kernel is, for `write`.
  virtual Result<std::uint64_t> constant(KernelId kernel, const std::string& name) = 0;

  virtual Result<KernelId> load(const KernelImage& image) = 0;
  /// Threads that a block of a loaded kernel may have, by the registers that each takes; nullopt: nothing is told.
  [[nodiscard]] virtual std::optional<std::uint32_t> most_threads(KernelId kernel) {
    (void)kernel;
    return std::nullopt;
  }
  /// Runs to the end, a fault, the time limit (seconds) or an interrupt. After a Fault or Timeout the backend has recovered, or
  /// is no longer `usable()`.
  virtual Outcome launch(KernelId kernel, const LaunchShape& shape, std::span<const Argument> arguments,
                         double time_limit) = 0;
  /// How the device does now, other processes on it included; nothing where nobody can tell. `brief`: clocks and what holds them
  /// down, for a look between launches.
  [[nodiscard]] virtual std::optional<Condition> condition(bool brief) {
    (void)brief;
    return std::nullopt;
  }
  /// How often everything on the device was lost: allocations, kernels and textures are valid as long as this is what it was when
  /// they were made. It may grow with any call.
  [[nodiscard]] virtual std::uint64_t losses() const { return 0; }
  /// False when only a new process could go on (a driver that gives no new context after a fault).
  [[nodiscard]] virtual bool usable() const { return true; }
};

}  // namespace gexp::device
