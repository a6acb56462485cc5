// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/gpu.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "lang/base/tpc.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/scatter.h"

namespace gexp::cuda {
namespace {

using device::Outcome;
using device::Requirement;
using device::Target;

constexpr unsigned kInOrder = 0;  // CU_STREAM_DEFAULT: kernels wait for the copies and the flush before them, which the default stream runs
constexpr double kScatterLimit = 60;  // seconds; it takes milliseconds
constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;

Diagnostic not_met(const Requirement& requirement, std::string message, std::string hint = {}) {
  auto problem = failure("E0501", std::move(message), std::move(hint));
  problem.span = requirement.span;
  return problem;
}

}  // namespace

Result<std::unique_ptr<device::Backend>> open(int ordinal) { return Gpu::open(ordinal); }

Result<std::vector<device::DeviceInfo>> devices() {
  auto driver = load_driver();
  if (!driver) return driver.error();
  std::vector<device::DeviceInfo> list;
  int count = 1;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    auto device = query_device(**driver, ordinal);  // says E0705 itself when there is none
    if (!device) return device.error();
    list.push_back(device->info);
    if (ordinal == 0) (*driver)->device_count(&count);
  }
  return list;
}

Result<std::unique_ptr<device::Backend>> Gpu::open(int ordinal) {
  auto driver = load_driver();
  if (!driver) return driver.error();
  auto device = query_device(**driver, ordinal);
  if (!device) return device.error();
  auto gpu = std::make_unique<Gpu>(*driver, *device);
  const auto before = gpu->monitor_.processes();
  if (auto made = gpu->create_context(); !made) return made.error();
  gpu->find_own_pid(before);
  return std::unique_ptr<device::Backend>(std::move(gpu));
}

void Gpu::find_own_pid(const std::vector<device::Condition::Process>& before) {
  own_pid_ = static_cast<std::uint32_t>(getpid());
  const auto now = monitor_.processes();
  const auto in = [](const auto& list, std::uint32_t pid) { return std::any_of(list.begin(), list.end(), [&](const auto& process) { return process.pid == pid; }); };
  if (in(now, own_pid_)) return;
  for (const auto& process : now) {
    if (!in(before, process.pid)) own_pid_ = process.pid;
  }
}

std::optional<device::Condition> Gpu::condition(bool brief) {
  if (!monitor_.works()) return std::nullopt;
  auto now = monitor_.condition(brief);
  if (brief) return now;
  for (const auto& process : monitor_.processes()) {
    if (process.pid != own_pid_) now.others.push_back(process);
  }
  return now;
}

Gpu::~Gpu() {
  // A context whose kernel never ends cannot be destroyed; the process's end takes it.
  if (context_ != nullptr && lost_.empty()) driver_->context_destroy(context_);
  if (peer_context_ != nullptr && lost_.empty()) driver_->context_destroy(peer_context_);
}

Result<> Gpu::create_context() {
  int status = driver_->context_create(&context_, 0, device_.handle);
  if (status != kSuccess) context_ = nullptr;
  if (status == kDeviceUnavailable) {
    return failure(
        "E0705", fmt::format("{} is taken by another process or closed to compute: {}", device_.info.id, driver_->text(status)),
        "see the compute mode in nvidia-smi -q -d COMPUTE");
  }
  if (status == kSuccess) status = driver_->context_set_current(context_);
  if (status == kSuccess) status = driver_->stream_create(&stream_, kInOrder);
  if (status == kSuccess) status = driver_->event_create(&begin_, 0);
  if (status == kSuccess) status = driver_->event_create(&end_, 0);
  if (status != kSuccess) return failed("E0707", fmt::format("cannot open {}", device_.info.id), status);
  return Ok{};
}

void Gpu::replace_context() {
  driver_->context_destroy(context_);  // answers with the fault; what matters is that it is gone
  if (peer_context_ != nullptr) driver_->context_destroy(peer_context_);
  context_ = peer_context_ = nullptr;
  ++losses_;
  allocations_.clear();
  kernels_.clear();
  scatter4_ = scatter8_ = {};
  staged_offsets_ = staged_values_ = sweeper_ = 0;
  if (auto made = create_context(); !made) {
    lost_ = fmt::format("after a fault the driver gives this process no new context ({}); only a new process can go on",
                        made.error().message);
    lost_status_ = Outcome::Status::Fault;
  }
}

Diagnostic Gpu::failed(const char* code, const std::string& what, int status) const {
  return failure(code, fmt::format("{}: {}", what, driver_->text(status)));
}

Result<> Gpu::ready() const {
  if (!lost_.empty()) return failure("E0803", fmt::format("{} cannot be used any more: {}", device_.info.id, lost_));
  if (const int status = driver_->context_set_current(context_); status != kSuccess)
    return failed("E0803", "the GPU's context is gone", status);
  return Ok{};
}

Target Gpu::target() const { return {Target::Form::Cubin, device_.info.compute_major, device_.info.compute_minor}; }

Result<> Gpu::accepts(const Requirement& requirement) const {
  const auto& info = device_.info;
  const auto amount = requirement.amount;
  switch (requirement.kind) {
    case Requirement::Kind::LoadPath:
      return Ok{};
    case Requirement::Kind::BankWidth:
      if (amount == 4 || (amount == 8 && info.compute_major == 3 && driver_->function_bank_width != nullptr)) return Ok{};
      return not_met(
          requirement,
          fmt::format("{} cannot have shared-memory banks {} B wide: this device has fixed 4-byte banks", info.name, amount),
          "only GPUs of compute capability 3.x can choose");
    case Requirement::Kind::SharedBytes:
      if (amount <= info.shared_per_block) return Ok{};
      return not_met(requirement, fmt::format("a block can have at most {} B of shared memory on {}, {} B are asked for",
                                              info.shared_per_block, info.name, amount));
    case Requirement::Kind::Threads:
      if (amount <= device_.max_threads_per_block) return Ok{};
      return not_met(requirement, fmt::format("a block can have at most {} threads on {}, {} are asked for",
                                              device_.max_threads_per_block, info.name, amount));
    case Requirement::Kind::Blocks:
      if (amount <= device_.max_blocks) return Ok{};
      return not_met(requirement, fmt::format("a grid can have at most {} blocks on {}, {} are asked for", device_.max_blocks,
                                              info.name, amount));
    case Requirement::Kind::Space:
      if (requirement.path == "host" && !device_.maps_host_memory)
        return not_met(requirement, fmt::format("the driver lets no kernel on {} access the host's memory", info.name));
      if (requirement.path == "managed" && !device_.manages_memory)
        return not_met(requirement, fmt::format("the driver moves no pages between {} and the host", info.name));
      if (requirement.path == "peer" && !peer())
        return not_met(requirement, fmt::format("{} reaches the memory of no other GPU of this machine", info.id), "nvidia-smi topo -p2p r shows which GPUs reach which");
      return Ok{};
    case Requirement::Kind::Flush:
      if (requirement.path == "managed" && !(device_.moves_pages && driver_->prefetch != nullptr))
        return not_met(requirement, fmt::format("the driver sends no pages of {} back to the host before they are touched there", info.name));
      if (requirement.path != "tlb") return Ok{};
      return not_met(requirement, fmt::format("{} gives no way to empty its TLBs", info.name), "chase more pages than they hold instead");
    case Requirement::Kind::Cluster:
      if (amount <= 1 || (info.compute_major >= 9 && amount <= 8 && driver_->launch_with != nullptr)) return Ok{};
      return not_met(requirement, fmt::format("{} cannot launch clusters of {} blocks", info.name, amount),
                     "GPUs of compute capability 9.0 and above can, up to 8 blocks each, with a driver of CUDA 11.8 or newer");
    case Requirement::Kind::Place:
      if (amount == 1) {  // beside another block
        if (multiprocessors_of_tpc(10 * info.compute_major + info.compute_minor) > 0) return Ok{};
        return not_met(requirement, fmt::format("which multiprocessors of {} make a TPC is not known", info.name), "on GPUs of compute capability 6.0 and above two that follow each other do");
      }
      return not_met(requirement, fmt::format("blocks cannot be placed on one {} of {}", requirement.path, info.name), "leave `place` out");
    case Requirement::Kind::MemoryBytes: {
      if (auto usable = ready(); !usable) return usable;
      // What is free now is another question: where it is less, the points that fit are measured.
      if (amount <= info.memory_bytes) return Ok{};
      return not_met(requirement, fmt::format("{} has {} B of memory, {} B are asked for", info.name, info.memory_bytes, amount));
    }
  }
  GEXP_CHECK(false);
  return Ok{};
}

Result<> Gpu::flush(const std::string& level) {
  if (level == "managed") return send_pages_back();
  if (level != "l2") return Ok{};  // an SM's own caches are empty when a kernel starts
  if (auto usable = ready(); !usable) return usable;
  const std::size_t bytes = 2 * device_.info.l2_bytes;
  int status = sweeper_ != 0 ? kSuccess : driver_->memory_allocate(&sweeper_, bytes);
  if (status != kSuccess) return failed("E0802", fmt::format("cannot allocate the {} B whose writing empties the L2", bytes), status);
  status = driver_->memory_set(sweeper_, 0, bytes);
  return status == kSuccess ? Result<>(Ok{}) : failed("E0803", "the L2 cannot be emptied", status);
}

Result<std::uint64_t> Gpu::texture(std::uint64_t address, std::uint64_t bytes, std::uint64_t pitch) {
  if (auto usable = ready(); !usable) return usable.error();
  ResourceDescription resource;
  resource.address = address;
  resource.bytes = bytes / 4 * 4;
  if (pitch > 0) resource.type = kPitch2d, resource.bytes = pitch / 4, resource.height = bytes / pitch, resource.pitch = pitch;
  const TextureDescription form;
  unsigned long long handle = 0;
  const int status = driver_->texture_create(&handle, &resource, &form, nullptr);
  if (status != kSuccess) return failed("E0802", fmt::format("cannot make a texture of {} B", bytes), status);
  return std::uint64_t{handle};
}

Result<std::uint64_t> Gpu::tiles(const device::Tiles& tiles) {
  if (auto usable = ready(); !usable) return usable.error();
  if (driver_->tensor_map == nullptr) return failure("E0802", fmt::format("the driver of {} makes no tensor maps", device_.info.name), "update the NVIDIA driver to 525 or newer");
  constexpr int kWords = 2, kPlain = 0;  // CU_TENSOR_MAP_DATA_TYPE_UINT32; no interleave, no swizzle, no promotion, zeros outside
  const std::uint64_t sides[] = {tiles.pitch / 4, tiles.bytes / tiles.pitch}, strides[] = {tiles.pitch};
  const unsigned box[] = {tiles.row_bytes / 4, tiles.rows}, steps[] = {1, 1};
  const auto same = std::find_if(tensor_maps_.begin(), tensor_maps_.end(), [&](const TensorMap& map) { return map.of == tiles; });
  if (same != tensor_maps_.end()) return static_cast<std::uint64_t>(same - tensor_maps_.begin());
  TensorMap map{{}, tiles};
  void* const address = reinterpret_cast<void*>(tiles.address);  // NOLINT(performance-no-int-to-ptr): an address of the device
  const int status = driver_->tensor_map(&map, kWords, 2, address, sides, strides, box, steps, kPlain, kPlain, kPlain, kPlain);
  if (status != kSuccess) return failed("E0802", fmt::format("cannot make a map of tiles of {} rows of {} B", tiles.rows, tiles.row_bytes), status);
  tensor_maps_.push_back(map);
  return std::uint64_t{tensor_maps_.size() - 1};
}

Result<std::uint64_t> Gpu::constant(device::KernelId kernel, const std::string& name) {
  if (auto usable = ready(); !usable) return usable.error();
  DeviceAddress address = 0;
  std::size_t bytes = 0;
  const int status = driver_->module_global(&address, &bytes, kernels_.at(kernel).module, name.c_str());
  if (status != kSuccess) return failed("E0801", fmt::format("the kernel has no array {}", name), status);
  return std::uint64_t{address};
}

Result<Gpu::Kernel> Gpu::load_function(const void* image, const char* entry) {
  std::array<char, 4096> log{};
  std::array<int, 2> options = {kJitErrorLog, kJitErrorLogBytes};
  std::array<void*, 2> option_values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  ModuleHandle module = nullptr;
  int status = driver_->module_load(&module, image, 2, options.data(), option_values.data());
  if (status != kSuccess) {
    auto problem = failed("E0801", fmt::format("{} does not take the kernel {}", device_.info.name, entry), status);
    if (log[0] != '\0') problem.notes.push_back({{}, log.data()});
    if (status == kNoBinaryForGpu || status == kUnsupportedPtxVersion) {
      problem.hint = "the driver may be older than NVRTC: update it, or set GEXP_NVRTC to an older one";
    }
    return problem;
  }
  Kernel kernel;
  kernel.module = module;
  int shared = 0;
  status = driver_->module_function(&kernel.function, module, entry);
  if (status != kSuccess) return failed("E0801", fmt::format("the compiled text has no kernel {}", entry), status);
  status = driver_->function_get(&shared, FunctionAttribute::StaticShared, kernel.function);
  if (status == kSuccess) status = driver_->function_get(&kernel.registers, FunctionAttribute::Registers, kernel.function);
  if (status == kSuccess) status = driver_->function_get(&kernel.most_threads, FunctionAttribute::MaxThreads, kernel.function);
  if (status != kSuccess) return failed("E0801", fmt::format("the driver does not describe the kernel {}", entry), status);
  kernel.static_shared = static_cast<std::uint64_t>(shared);
  return kernel;
}

Result<device::KernelId> Gpu::load(const device::KernelImage& image) {
  if (auto usable = ready(); !usable) return usable.error();
  auto kernel = load_function(image.bytes.c_str(), image.entry.c_str());
  if (!kernel) return kernel.error();
  kernels_[next_kernel_] = *kernel;
  return next_kernel_++;
}

std::optional<std::uint32_t> Gpu::most_threads(device::KernelId kernel) {
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end() || found->second.most_threads <= 0) return std::nullopt;
  return static_cast<std::uint32_t>(found->second.most_threads);
}

Result<> Gpu::prepare_scatter() {
  if (staged_values_ != 0) return Ok{};
  for (auto [kernel, width] : {std::pair{&scatter4_, 4}, std::pair{&scatter8_, 8}}) {
    auto loaded = load_function(scatter_ptx(width).c_str(), fmt::format("scatter{}", width).c_str());
    if (!loaded) return loaded.error();
    *kernel = *loaded;
  }
  for (auto* staged : {&staged_offsets_, &staged_values_}) {
    if (*staged != 0) continue;
    if (const int status = driver_->memory_allocate(staged, kScatterChunk * 8); status != kSuccess) {
      return failed("E0802", fmt::format("cannot allocate {} B to stage links", kScatterChunk * 8), status);
    }
  }
  return Ok{};
}

Result<> Gpu::scatter(std::uint64_t address, std::span<const std::int64_t> offsets, std::span<const std::uint64_t> values,
                      int width) {
  GEXP_CHECK(offsets.size() == values.size() && (width == 4 || width == 8));
  if (auto usable = ready(); !usable) return usable;
  if (offsets.empty()) return Ok{};
  if (const auto packed = pack(offsets, values, width))
    return write(address + static_cast<std::uint64_t>(packed->first), packed->bytes);
  if (auto prepared = prepare_scatter(); !prepared) return prepared;
  for (std::size_t first = 0; first < offsets.size(); first += kScatterChunk) {
    const auto count = std::min(kScatterChunk, offsets.size() - first);
    if (auto done = write(staged_offsets_, std::as_bytes(offsets.subspan(first, count))); !done) return done;
    if (auto done = write(staged_values_, std::as_bytes(values.subspan(first, count))); !done) return done;
    auto base = address;
    auto threads = static_cast<std::uint32_t>(count);
    std::array<void*, 4> arguments = {&base, &staged_offsets_, &staged_values_, &threads};
    const device::LaunchShape shape{.grid = (threads + kScatterBlock - 1) / kScatterBlock, .block = kScatterBlock};
    const auto outcome = start(width == 4 ? scatter4_ : scatter8_, shape, arguments.data(), kScatterLimit, false);
    if (!outcome.done())
      return failure("E0803", fmt::format("cannot store {} links at 0x{:x}: {}", offsets.size(), address, outcome.what));
  }
  return Ok{};
}

}  // namespace gexp::cuda
