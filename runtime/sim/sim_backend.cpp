// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "lang/base/budget.h"
#include "lang/base/embedded.h"
#include "lang/base/files.h"
#include "lang/base/sha256.h"
#include "lang/base/units.h"
#include "lang/base/tpc.h"
#include "ptx/tree.h"
#include "runtime/sim/device_memory.h"
#include "runtime/sim/hierarchy.h"
#include "runtime/sim/interpreter.h"
#include "runtime/sim/model_reader.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/ptx_parse.h"
#include "runtime/sim/sim.h"

namespace gexp::sim {
namespace {

std::atomic<bool> interrupt{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

using device::Requirement;

/// What a device and those made from it share: the kernels as they have parsed them, each text once, and the host's pages.
struct Common {
  std::shared_ptr<HostPages> pages = std::make_shared<HostPages>();
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Kernel>> by_text;

  Result<std::shared_ptr<const Kernel>> parsed(const device::KernelImage& image) {
    const std::lock_guard lock(mutex);
    auto& kernel = by_text[image.entry + '\n' + image.bytes];
    if (kernel) return kernel;
    auto parsed = parse_ptx(image.bytes, image.entry);
    if (!parsed) return parsed.error();
    return kernel = std::make_shared<const Kernel>(std::move(*parsed));
  }
};

class SimBackend final : public device::Backend {
 public:
  SimBackend(DeviceModel model, const std::string& id, const std::string& sha, std::uint64_t seed, std::uint64_t chance = 0,
             std::shared_ptr<Common> common = std::make_shared<Common>())
      : model_(std::move(model)), seed_(seed), common_(std::move(common)), memory_(model_.memory_bytes, common_->pages), hierarchy_(model_, mix(model_.seed) ^ seed, chance) {
    info_.kind = "simulated";
    info_.id = id;
    info_.selector = model_.name;
    info_.name = model_.title;
    info_.compute_major = model_.compute_major, info_.compute_minor = model_.compute_minor;
    info_.sms = model_.sms;
    info_.sm_clock_hz = model_.sm_clock_hz, info_.memory_clock_hz = model_.memory_clock_hz;
    info_.memory_bytes = model_.memory_bytes;
    info_.memory_peak = model_.memory_peak, info_.l2_bytes = model_.l2_bytes;
    info_.shared_per_block = model_.shared.per_block, info_.shared_per_sm = model_.shared.per_sm;
    info_.model_sha256 = sha;
  }

  const device::DeviceInfo& device() const override { return info_; }
  device::Target target() const override { return {}; }

  std::unique_ptr<device::Backend> another(std::uint64_t number) const override {
    auto made = std::make_unique<SimBackend>(model_, info_.id, info_.model_sha256, seed_, mix(number), common_);
    made->most_spans_ = most_spans_;
    return made;
  }

  Result<> accepts(const Requirement& r) const override {
    const auto refuse = [&](std::string message, std::string hint = {}) {
      Diagnostic d = failure("E0501", std::move(message), std::move(hint));
      d.span = r.span;
      return d;
    };
    switch (r.kind) {
      case Requirement::Kind::LoadPath: {
        const auto path = load_path(r.path);
        if (path && model_.paths[static_cast<std::size_t>(*path)].present) return Ok{};
        return refuse(fmt::format("the simulated {} has no load path '{}'", model_.name, r.path));
      }
      case Requirement::Kind::BankWidth:
        if (std::find(model_.shared.modes.begin(), model_.shared.modes.end(), r.amount) != model_.shared.modes.end()) return Ok{};
        return refuse(fmt::format("the simulated {} has no mode with shared-memory banks of {} B", model_.name, r.amount));
      case Requirement::Kind::SharedBytes:
        if (r.amount <= model_.shared.per_block) return Ok{};
        return refuse(fmt::format("a block of the simulated {} has at most {} B of shared memory, not {}", model_.name, model_.shared.per_block, r.amount));
      case Requirement::Kind::MemoryBytes:
        if (r.amount <= model_.memory_bytes) return Ok{};
        return refuse(fmt::format("the simulated {} has {} B of memory, not {}", model_.name, model_.memory_bytes, r.amount));
      case Requirement::Kind::Threads:
        if (r.amount <= model_.limits.threads_per_block) return Ok{};
        return refuse(fmt::format("a block of the simulated {} has at most {} threads, not {}", model_.name, model_.limits.threads_per_block, r.amount));
      case Requirement::Kind::Blocks: return Ok{};
      case Requirement::Kind::Space:
        if (const auto table = missing_table(model_, r.path); !table.empty()) return refuse(fmt::format("the model of the simulated {} does not say what an access to memory in {} takes", model_.name, r.path), "it has no table " + table);
        if (r.path != "texture" || model_.paths[static_cast<std::size_t>(LoadPath::Texture)].present) return Ok{};
        return refuse(fmt::format("the simulated {} models no texture memory", model_.name));
      case Requirement::Kind::Flush: return Ok{};
      case Requirement::Kind::Cluster:
        if (r.amount <= std::max(1u, model_.clusters.blocks)) return Ok{};
        return refuse(fmt::format("a cluster of the simulated {} has at most {} blocks, not {}", model_.name, std::max(1u, model_.clusters.blocks), r.amount), "[clusters] of a model says how many");
      case Requirement::Kind::Place:
        if (r.amount == 1 && multiprocessors_of_tpc(10 * model_.compute_major + model_.compute_minor) > 0) return Ok{};
        if (r.amount == 1) return refuse(fmt::format("which multiprocessors of the simulated {} make a TPC is not known", model_.name));
        return refuse(fmt::format("this simulator cannot place blocks on one {}", r.path));
    }
    return Ok{};
  }

  Result<> flush(const std::string& level) override {
    hierarchy_.flush(level);
    return Ok{};
  }
  std::uint64_t bind(const Texture& texture) {
    textures_.push_back(texture);
    return kFirstTexture + textures_.size() - 1;
  }
  Result<std::uint64_t> texture(std::uint64_t address, std::uint64_t bytes, std::uint64_t pitch) override {
    if (pitch == 0) return bind({.address = address, .bytes = bytes});
    return bind({.address = address, .bytes = bytes, .size = {static_cast<std::uint32_t>(pitch / 4), static_cast<std::uint32_t>(bytes / pitch), 1}});
  }
  Result<std::uint64_t> tiles(const device::Tiles& tiles) override {
    const auto at = static_cast<std::size_t>(std::find(tiles_.begin(), tiles_.end(), tiles) - tiles_.begin());
    if (at == tiles_.size()) tiles_.push_back(tiles);
    return at;
  }
  Result<std::uint64_t> constant(device::KernelId id, const std::string& name) override {
    const Loaded& loaded = kernels_[id];
    for (std::size_t i = 0; i < loaded.kernel->globals.size(); ++i)
      if (loaded.kernel->globals[i].name == name) return loaded.globals[i];
    return failure("E0801", fmt::format("the kernel has no array {}", name));
  }

  Result<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t align, device::Where where) override {
    auto address = memory_.allocate(bytes, align, where);
    if (address && where == device::Where::Managed) hierarchy_.send_back(*address, bytes);
    return address;
  }
  void release(std::uint64_t address) override { memory_.release(address); }

  Result<> write(std::uint64_t address, std::span<const std::byte> bytes) override {
    if (bytes.empty()) return Ok{};
    std::byte* const host = memory_.find(address, bytes.size());
    if (!host) return outside("write", address, bytes.size());
    std::memcpy(host, bytes.data(), bytes.size());
    return Ok{};
  }
  Result<> read(std::uint64_t address, std::span<std::byte> bytes) override {
    if (bytes.empty()) return Ok{};
    const std::byte* const host = memory_.find(address, bytes.size());
    if (!host) return outside("read", address, bytes.size());
    std::memcpy(bytes.data(), host, bytes.size());
    return Ok{};
  }
  Result<> scatter(std::uint64_t address, std::span<const std::int64_t> offsets, std::span<const std::uint64_t> values, int width) override {
    GEXP_CHECK(offsets.size() == values.size() && (width == 4 || width == 8));
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (!Budget::tick()) return Budget::exceeded({});
      const std::uint64_t at = address + static_cast<std::uint64_t>(offsets[i]);
      std::byte* const host = memory_.find(at, static_cast<std::uint64_t>(width));
      if (!host) return outside("write", at, static_cast<std::uint64_t>(width));
      std::memcpy(host, &values[i], static_cast<std::size_t>(width));
    }
    return Ok{};
  }

  Result<device::KernelId> load(const device::KernelImage& image) override {
    if (image.form != device::Target::Form::Ptx) return failure("E0801", "the simulator executes PTX, not machine code");
    auto parsed = common_->parsed(image);
    if (!parsed) return parsed.error();
    const auto& kernel = **parsed;
    std::vector<std::uint64_t> globals;
    for (const GlobalVariable& variable : kernel.globals) {
      const auto address = memory_.allocate(std::max<std::uint64_t>(variable.bytes, 1), variable.align);
      if (!address) return address.error();
      if (std::byte* host = memory_.find(*address, 1); host && !variable.initial.empty())
        std::memcpy(host, variable.initial.data(), std::min<std::size_t>(variable.initial.size(), variable.bytes));
      globals.push_back(*address);
    }
    for (std::size_t k = 0; k < globals.size(); ++k) {
      for (const Relocation& r : kernel.globals[k].relocations) {
        const std::uint64_t value = globals[r.variable] + static_cast<std::uint64_t>(r.offset);
        if (std::byte* host = memory_.find(globals[k] + r.at, r.bytes); host && r.at + r.bytes <= kernel.globals[k].bytes) std::memcpy(host, &value, r.bytes);
      }
    }
    kernels_.push_back({*parsed, std::move(globals)});
    return static_cast<device::KernelId>(kernels_.size() - 1);
  }

  device::Outcome launch(device::KernelId id, const device::LaunchShape& shape, std::span<const device::Argument> arguments,
                          double time_limit) override {
    GEXP_CHECK(id < kernels_.size());
    const Loaded& loaded = kernels_[id];
    if (auto other = device::other_registers(loaded.kernel->registers, shape.registers, model_.limits.registers_per_thread)) return std::move(*other);
    if (auto why = refused(*loaded.kernel, shape, arguments); !why.empty()) {
      device::Outcome outcome;
      outcome.status = device::Outcome::Status::Fault, outcome.what = std::move(why);
      return outcome;
    }
    std::vector<std::byte> parameters(loaded.kernel->parameter_bytes);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Parameter& p = loaded.kernel->parameters[i];
      if (p.bytes == device::kTileBytes) std::memcpy(parameters.data() + p.offset, &tiles_.at(arguments[i].bits), sizeof(device::Tiles));
      else std::memcpy(parameters.data() + p.offset, &arguments[i].bits, p.bytes);
    }
    const std::uint64_t shared = static_cast<std::uint64_t>(loaded.kernel->shared_bytes) + shape.shared_bytes;
    const std::uint64_t carved = carveout(shape, shared);
    hierarchy_.begin_launch(carved);
    LaunchContext context{model_,         *loaded.kernel,
                          memory_,        hierarchy_,
                          loaded.globals, textures_,
                          shape,          std::move(parameters),
                          carved,         kFirstCode + (static_cast<std::uint64_t>(id) << 24),
                          time_limit,     &interrupt};
    std::optional<Observer> observer;
    if (most_spans_) {
      hierarchy_.count_anew();
      std::size_t spans = *most_spans_;
      for (const Observed& launch : observed_) spans -= launch.timeline.size();
      context.observer = &observer.emplace(*loaded.kernel, cycle_, model_.pipeline.issue, spans);
    }
    LaunchResult result = interpret(context, cycle_);
    if (observer) note(observer->take(result.cycles));
    result.outcome.elapsed_seconds = static_cast<double>(result.cycles - cycle_) / model_.sm_clock_hz;
    cycle_ = result.cycles;
    return std::move(result.outcome);
  }

  void observe(std::size_t most_spans) { most_spans_ = most_spans, counted_ = {}, observed_.clear(); }
  [[nodiscard]] const Counters& counted() const { return counted_; }
  [[nodiscard]] const std::vector<Observed>& observed() const { return observed_; }

 private:
  struct Loaded {
    std::shared_ptr<const Kernel> kernel;
    std::vector<std::uint64_t> globals;
  };

  /// What the launch that has just ended did.
  void note(Observed launch) {
    const Hierarchy::Tallies& tallies = hierarchy_.tallies();
    std::vector<bool> takes_stores(model_.caches.size());
    const auto lines_of = [&](std::size_t k) {
      return model_.caches[k].storage_of < 0 ? k : static_cast<std::size_t>(model_.caches[k].storage_of);
    };
    for (const int k : model_.stores.caches) takes_stores[lines_of(static_cast<std::size_t>(k))] = true;
    const auto add = [&](const CacheModel& model, std::uint64_t sector, bool stores, const Hierarchy::Tally& n) {
      launch.counters.levels.push_back({model.name, sector, stores, n.lookups, n.hits, n.stores, n.store_hits});
    };
    for (std::size_t k = 0; k < model_.caches.size(); ++k) {
      if (lines_of(k) == k)
        add(model_.caches[k], model_.caches[k].sector, takes_stores[k],
            tallies.caches[k]);  // else it is counted where its lines are
    }
    for (std::size_t k = 0; k < model_.tlbs.size(); ++k) add(model_.tlbs[k], 0, false, tallies.tlbs[k]);
    launch.counters.dram = {static_cast<std::uint64_t>(tallies.dram_read), static_cast<std::uint64_t>(tallies.dram_written)};
    counted_ += launch.counters;
    if (*most_spans_ > 0) {
      for (const CacheModel& cache : model_.caches) launch.caches.push_back(cache.name);
    }
    // With no room for spans left, the counters of the last launch are all that is kept of it.
    if (!observed_.empty() && observed_.back().timeline.empty()) observed_.pop_back();
    observed_.push_back(std::move(launch));
  }

  /// Instructions lie, among the addresses that caches see, where nothing else does.
  static constexpr std::uint64_t kFirstCode = 1ull << 52;

  /// The least shared memory that an SM can set aside and that holds what a launch asks for, or `shared` bytes.
  std::uint64_t carveout(const device::LaunchShape& shape, std::uint64_t shared) const {
    const auto bytes = shape.carveout_bytes < 0 ? shared : static_cast<std::uint64_t>(shape.carveout_bytes);
    const auto& choices = model_.shared.carveouts;
    const auto fits = std::find_if(choices.begin(), choices.end(), [&](std::uint64_t choice) { return choice >= bytes; });
    return fits != choices.end() ? *fits : model_.shared.per_sm;
  }

  static Diagnostic outside(const char* what, std::uint64_t address, std::uint64_t bytes) {
    return failure("E0803", fmt::format("{} of {} B at 0x{:x} is outside every allocation", what, bytes, address));
  }
  /// Why a launch cannot start; empty when it can. `accepts` says the same before anything runs.
  std::string refused(const Kernel& kernel, const device::LaunchShape& shape, std::span<const device::Argument> arguments) const {
    constexpr std::uint32_t kMostAlongYZ = 65535, kMostThreadsAlongZ = 64;  // of every GPU so far
    if (const auto blocks = std::max(shape.grid.y, shape.grid.z); blocks > kMostAlongYZ)
      return fmt::format("{} blocks along y or z are more than the {} of a grid", blocks, kMostAlongYZ);
    if (shape.block.y > kMostAlongYZ || shape.block.z > kMostThreadsAlongZ) return fmt::format("a block has at most {} threads along z", kMostThreadsAlongZ);
    const std::uint64_t threads = shape.block.count();
    if (shape.grid.count() == 0 || threads == 0) return "a launch without threads";
    if (const auto cluster = cluster_size(kernel, shape); cluster > std::max(1u, model_.clusters.blocks))
      return fmt::format("a cluster of {} blocks, and this device has clusters of {} at most", cluster, std::max(1u, model_.clusters.blocks));
    else if (shape.grid.x % cluster != 0) return fmt::format("{} blocks along x cannot be cut into clusters of {}", shape.grid.x, cluster);
    if (threads > model_.limits.threads_per_block) return fmt::format("{} threads are more than the {} of a block", threads, model_.limits.threads_per_block);
    if (arguments.size() != kernel.parameters.size())
      return fmt::format("'{}' takes {} arguments, {} were given", kernel.name, kernel.parameters.size(), arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].size != kernel.parameters[i].bytes) return fmt::format("argument {} of '{}' has {} B, {} were given", i, kernel.name, kernel.parameters[i].bytes, arguments[i].size);
    const std::uint64_t shared = static_cast<std::uint64_t>(kernel.shared_bytes) + shape.shared_bytes;
    if (shared > model_.shared.per_block) return fmt::format("{} B of shared memory are more than the {} B of a block", shared, model_.shared.per_block);
    if (shape.carveout_bytes >= 0) {
      const auto carveout = static_cast<std::uint64_t>(shape.carveout_bytes);
      if (carveout > model_.shared.per_sm) return fmt::format("{} B of shared memory are more than the {} B of an SM", carveout, model_.shared.per_sm);
      if (carveout < shared) return fmt::format("{} B of shared memory do not fit into a carve-out of {} B", shared, carveout);
    }
    if (shape.bank_bytes != 0 && std::find(model_.shared.modes.begin(), model_.shared.modes.end(), shape.bank_bytes) == model_.shared.modes.end())
      return fmt::format("no mode with shared-memory banks of {} B", shape.bank_bytes);
    const std::uint64_t resident = blocks_per_sm(model_, kernel, shape, carveout(shape, shared));
    if (resident == 0) return fmt::format("a block of {} threads, with {} B of shared memory{}, needs more than an SM has", threads, shared, kernel.takes_all() ? fmt::format(" and {} registers a thread", kernel.registers) : "");
    if (const auto most = resident * static_cast<std::uint64_t>(model_.sms); kernel.grid_meets && shape.grid.count() > most)
      return fmt::format("the blocks of its grid meet, and of {} blocks {} run at once", shape.grid.count(), most);
    return {};
  }

  DeviceModel model_;
  std::uint64_t seed_;
  device::DeviceInfo info_;
  std::shared_ptr<Common> common_;
  DeviceMemory memory_;
  Hierarchy hierarchy_;
  std::vector<Loaded> kernels_;
  std::vector<Texture> textures_;
  std::vector<device::Tiles> tiles_;
  std::optional<std::size_t> most_spans_;  ///< where launches are observed
  Counters counted_;
  std::vector<Observed> observed_;
  std::uint64_t cycle_ = 1'000'000;  // clocks of a device that has run for a while
};

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const auto& file : embedded::sim_models()) list.push_back(file.name.substr(0, file.name.rfind('.')));
  std::sort(list.begin(), list.end());
  return list;
}

Result<Source> read_model(const std::string& name_or_path) {
  if (name_or_path.ends_with(".toml")) {
    constexpr std::uint64_t kMostBytes = 4u << 20;
    auto text = read_regular_file(name_or_path, kMostBytes);
    if (!text) return failure("E0600", fmt::format("cannot read the device model {}: {}", name_or_path, text.error().message));
    return Source(name_or_path, std::move(*text));
  }
  for (const auto& file : embedded::sim_models()) {
    if (file.name == name_or_path + ".toml") return Source(file.name, file.text);
  }
  if (const auto drawn = drawn_device(name_or_path)) return *drawn;
  const std::vector<std::string> known = names();
  const auto near = nearest(name_or_path, {known.begin(), known.end()});
  return failure("E0600", fmt::format("no simulated device '{}'", name_or_path),
                 near ? fmt::format("did you mean '{}'?", *near) : "a name that 'gexp devices' lists, a path ending in .toml, or drawn-17, the seventeenth of the devices that chance makes");
}

bool check_model(const Source& model, Diagnostics& diagnostics) { return read_device_model(model, diagnostics).has_value(); }

Result<std::unique_ptr<device::Backend>> open(const Source& model, const std::string& id, const Options& options) {
  Diagnostics diagnostics;
  auto device = read_device_model(model, diagnostics);
  if (!device) {
    for (const Diagnostic& d : diagnostics.sorted()) {
      if (d.severity == Severity::Error) return d;
    }
  }
  GEXP_CHECK(device);
  return std::unique_ptr<device::Backend>(std::make_unique<SimBackend>(std::move(*device), id, sha256_hex(model.text()), options.seed));
}

Result<std::unique_ptr<device::Backend>> open(const std::string& name_or_path, const Options& options) {
  const auto model = read_model(name_or_path);
  if (!model) return model.error();
  auto opened = open(*model, "sim:" + name_or_path, options);
  if (opened) return opened;
  Diagnostic d = opened.error();
  const Position at = model->position(d.span.begin);
  d.message = fmt::format("{}:{}:{}: {}", model->path(), at.line, at.column, d.message);
  d.span = {};
  d.notes.clear();
  return d;
}

std::uint64_t bind(device::Backend& backend, const Texture& texture) { return dynamic_cast<SimBackend&>(backend).bind(texture); }
void observe(device::Backend& backend, std::size_t most_spans) { dynamic_cast<SimBackend&>(backend).observe(most_spans); }
const Counters& counted(const device::Backend& backend) { return dynamic_cast<const SimBackend&>(backend).counted(); }
const std::vector<Observed>& observed(const device::Backend& backend) {
  return dynamic_cast<const SimBackend&>(backend).observed();
}

void request_interrupt() { interrupt.store(true, std::memory_order_relaxed); }
void clear_interrupt() { interrupt.store(false, std::memory_order_relaxed); }

}  // namespace gexp::sim
