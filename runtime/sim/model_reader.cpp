// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/model_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "runtime/sim/model_parts.h"
#include "runtime/sim/ptx_forms.h"

namespace gexp::sim {
namespace {

constexpr std::size_t kMostOperations = 1000, kMostSteps = 64;
constexpr std::uint64_t kLeastFrame = 4096;  // bytes: no page is smaller

/// Runs `read` on a table inside another, if it is there; complains when it must be and is not.
template <class F> void section(ModelTable& outer, const char* key, const char* name, bool must, F read) {
  const TomlValue* value = must ? outer.required(key, TomlValue::Kind::Table) : outer.optional(key, TomlValue::Kind::Table);
  if (!value) return;
  ModelTable table(*value, outer.table().find(key)->key_span, name, outer.diagnostics());
  read(table);
  table.finish();
}

void read_device(ModelTable& t, DeviceModel& model, std::string& default_path) {
  const auto compute = t.wholes("compute", 0, 99);
  if (compute.size() == 2) {
    model.compute_major = static_cast<int>(compute[0]), model.compute_minor = static_cast<int>(compute[1]);
  } else if (t.has("compute")) {
    t.error("E0605", t.place("compute"), "'compute' of [device] is a major and a minor number", "compute = [3, 5]");
  }
  model.sms = static_cast<int>(t.whole("sms", 1, 4096));
  model.sms_per_tpc = static_cast<int>(t.whole_or("sms_per_tpc", 1, 1, 4096));
  if (model.sms % model.sms_per_tpc != 0) t.error("E0606", t.place("sms_per_tpc"), fmt::format("{} SMs are no whole number of clusters of {}", model.sms, model.sms_per_tpc));
  model.gpcs = static_cast<int>(t.whole_or("gpcs", 1, 1, 4096));
  if (model.gpcs > model.sms / model.sms_per_tpc) t.error("E0606", t.place("gpcs"), fmt::format("there are {} clusters of SMs, and each of {} GPCs has one at least", model.sms / model.sms_per_tpc, model.gpcs));
  if (t.has("clocks")) model.clocks = read_scope(t, "clocks", Scope::Device, model);
  model.sm_clock_hz = t.frequency("sm_clock");
  model.memory_clock_hz = t.frequency("memory_clock");
  if (t.has("bus") || t.has("transfers"))
    model.memory_peak = model.memory_clock_hz * static_cast<double>(t.whole("transfers", 1, 64) * t.whole("bus", 8, 1u << 16)) / 8;
  model.memory_bytes = t.size("memory", 1ull << 42);
  model.l2_bytes = t.size_or("l2", 0, 1ull << 34);
  model.frame_bytes = t.size_or("frames", 0, 1ull << 30);
  if (t.has("frames") && (model.frame_bytes < kLeastFrame || (model.frame_bytes & (model.frame_bytes - 1)) != 0))
    t.error("E0606", t.place("frames"), fmt::format("a frame is a power of two of bytes, at least {}", kLeastFrame));
  default_path = t.choice("default_path", {"ca", "cg", "cv", "nc"});
}

/// `local_path`: [paths.local] says what the pipeline's `local` would.
void read_pipeline(ModelTable& t, bool local_path, int compute_major, Pipeline& pipeline) {
  const auto cycles = [&](const char* key, std::uint64_t least) { return static_cast<std::uint32_t>(t.whole(key, least, kMostCycles)); };
  pipeline.schedulers = static_cast<std::uint32_t>(t.whole("schedulers", 1, 64));
  pipeline.clock = cycles("clock", 1);
  pipeline.issue = cycles("issue", 1);
  pipeline.alu = cycles("alu", 1);
  pipeline.multiply = cycles("multiply", 1);
  pipeline.divide = cycles("divide", 1);
  pipeline.constant = cycles("constant", 1);
  if (!local_path) pipeline.local = cycles("local", 1);
  else if (t.has("local")) t.error("E0606", t.place("local"), "[paths.local] says what local memory costs: 'local' says it twice");
  pipeline.transaction = cycles("transaction", 0);
  pipeline.thread = t.number_or("thread", 0, 0, kMostCycles);
  pipeline.load_units = static_cast<std::uint32_t>(t.whole("load_units", 1, 64));
  pipeline.barrier = cycles("barrier", 1);
  // fact: from compute capability 7.0 on lanes have program counters of their own.
  pipeline.divergence = compute_major >= 7 ? Divergence::Independent : Divergence::Stack;
  if (t.has("divergence")) pipeline.divergence = t.choice("divergence", {"stack", "independent"}) == "stack" ? Divergence::Stack : Divergence::Independent;
  pipeline.instruction_bytes = static_cast<std::uint32_t>(t.whole_or("instruction_bytes", 8, 1, 64));
  pipeline.ahead = static_cast<std::uint32_t>(t.whole_or("ahead", 0, 0, kMostCycles));
  section(t, "interval", "[pipeline.interval]", false, [&](ModelTable& interval) {
    pipeline.alu_interval = interval.number_or("alu", 0, 1e-3, kMostCycles);
    pipeline.multiply_interval = interval.number_or("multiply", 0, 1e-3, kMostCycles);
    pipeline.divide_interval = interval.number_or("divide", 0, 1e-3, kMostCycles);
  });
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const auto dot = text.find('.');
    words.emplace_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    text.remove_prefix(dot + 1);
  }
}

/// The number of what runs machine instructions: a class of the pipeline, or a unit read so far.
std::optional<int> unit_named(ModelTable& t, std::string_view key, std::string_view name, const std::vector<UnitModel>& units) {
  std::vector<std::string_view> names = {"alu", "multiply", "divide"};  // as Cost has them
  for (const UnitModel& unit : units) names.push_back(unit.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  t.error("E0602", t.place(key), fmt::format("'{}' is no unit of the model", name), did_you_mean(name, names));
  return std::nullopt;
}

void read_units(ModelTable& t, std::vector<UnitModel>& units) {
  for (const auto& entry : t.table().entries) {
    if (tells_source(entry.key)) continue;
    if (units.size() == kMostOperations) return t.error("E0605", entry.key_span, fmt::format("[units] has more than {} units", kMostOperations));
    section(t, entry.key.c_str(), fmt::format("[units.{}]", entry.key).c_str(), true, [&](ModelTable& inner) {
      UnitModel made;
      made.name = entry.key;
      made.latency = static_cast<std::uint32_t>(inner.whole("latency", 1, kMostCycles));
      made.interval = inner.number("interval", 1e-3, kMostCycles);
      if (inner.has("part_of")) made.part_of = unit_named(inner, "part_of", inner.text("part_of"), units).value_or(-1);
      units.push_back(std::move(made));
    });
  }
}

/// "alu half alu|product": machine instructions, each by what runs it; of those around `|` the first that is free, around `/` each in turn.
std::vector<MachineInstruction> machine_instructions(ModelTable& t, const std::vector<UnitModel>& units) {
  std::vector<MachineInstruction> made;
  std::istringstream words(t.text("runs"));
  for (std::string word; words >> word;) {
    if (made.size() == kMostSteps) return t.error("E0605", t.place("runs"), fmt::format("more than {} machine instructions", kMostSteps)), made;
    MachineInstruction& instruction = made.emplace_back();
    instruction.in_turn = word.find('/') != std::string::npos;
    std::replace(word.begin(), word.end(), instruction.in_turn ? '/' : '|', ' ');
    std::istringstream names(word);
    for (std::string name; names >> name;) {
      if (const auto which = unit_named(t, "runs", name, units)) instruction.units.push_back(*which);
    }
    if (instruction.units.empty() && t.errors() == 0) t.error("E0605", t.place("runs"), "a machine instruction without a unit", "runs = \"alu\"");
  }
  if (made.empty() && t.errors() == 0) t.error("E0605", t.place("runs"), "an operation runs one machine instruction at least", "runs = \"alu\"");
  return made;
}

void read_operations(ModelTable& t, const std::vector<UnitModel>& units, std::vector<OperationModel>& operations) {
  for (const auto& entry : t.table().entries) {
    if (tells_source(entry.key)) continue;
    if (operations.size() == kMostOperations) return t.error("E0605", entry.key_span, fmt::format("[operations] has more than {} instructions", kMostOperations));
    const bool named = std::any_of(ptx_forms().begin(), ptx_forms().end(), [&](const Form& form) { return form.name == words_of(entry.key).front(); });
    if (!named) t.error("E0602", entry.key_span, fmt::format("'{}' is no instruction that the simulator runs", entry.key), "docs/reference/ptx.md lists them");
    section(t, entry.key.c_str(), fmt::format("[operations.\"{}\"]", entry.key).c_str(), true, [&](ModelTable& inner) {
      OperationModel made;
      made.words = words_of(entry.key);
      if (inner.has("runs")) {
        made.runs = machine_instructions(inner, units);
      } else {
        made.latency = static_cast<std::uint32_t>(inner.whole("latency", 1, kMostCycles));
        made.interval = inner.number_or("interval", 0, 1e-3, kMostCycles);
      }
      operations.push_back(std::move(made));
    });
  }
}

void read_limits(ModelTable& t, Limits& limits) {
  const auto threads = [&](const char* key) {
    const auto count = static_cast<std::uint32_t>(t.whole(key, 32, 1u << 16));
    if (count % 32 != 0) t.error("E0606", t.place(key), fmt::format("{} threads are no whole number of warps of 32", count));
    return count;
  };
  limits.threads_per_block = threads("threads_per_block");
  limits.threads_per_sm = threads("threads_per_sm");
  if (t.has("threads_per_sm") && limits.threads_per_block > limits.threads_per_sm)
    t.error("E0606", t.place("threads_per_block"), fmt::format("a block of {} threads does not fit into an SM of {}", limits.threads_per_block, limits.threads_per_sm));
  limits.blocks_per_sm = static_cast<std::uint32_t>(t.whole("blocks_per_sm", 1, 1024));
  limits.registers_per_sm = static_cast<std::uint32_t>(t.whole("registers_per_sm", 1, 1u << 24));
  limits.registers_per_thread = static_cast<std::uint32_t>(t.whole_or("registers_per_thread", limits.registers_per_thread, 1, 1u << 16));
  limits.register_step = static_cast<std::uint32_t>(t.whole_or("register_step", limits.register_step, 1, 1u << 16));
  if (t.has("register_threads")) limits.register_threads = threads("register_threads");
}

void read_outstanding(ModelTable& t, Outstanding& outstanding) {
  const auto count = [&](const char* key, std::uint64_t least) { return static_cast<std::uint32_t>(t.whole(key, least, 1u << 20)); };
  const std::string kind = t.choice("kind", {"unlimited", "mshr", "prt"});
  if (kind == "mshr") {
    outstanding.kind = Outstanding::Kind::Mshr;
    outstanding.entries = count("entries", 1);
    outstanding.merges = count("merges", 1);
    outstanding.threads = static_cast<std::uint32_t>(t.whole_or("threads", 0, 1, 32));
    outstanding.lines = static_cast<std::uint32_t>(t.whole_or("lines", 1, 1, 64));
    if (outstanding.threads > 0 && outstanding.lines > 1) t.error("E0606", t.place("lines"), "an entry that neighbouring lines share does not count threads");
    if ((outstanding.lines & (outstanding.lines - 1)) != 0) t.error("E0606", t.place("lines"), "an entry has a power of two of lines");
  } else if (kind == "prt") {
    outstanding.kind = Outstanding::Kind::Prt;
    outstanding.entries = count("entries", 1);
    if (t.has("requests")) outstanding.requests = count("requests", 32);  // of one warp instruction at least
  }
  if (kind == "unlimited" || t.has("loads_per_warp")) outstanding.loads_per_warp = count("loads_per_warp", 1);
}

void read_bandwidth(ModelTable& t, const DeviceModel& model, Bandwidth& bandwidth) {
  const auto rate = [&](const char* key) { return t.rate_or_none(key, model.sm_clock_hz); };
  bandwidth.l1 = rate("l1");
  bandwidth.shared = rate("shared");
  bandwidth.sm = rate("sm");
  bandwidth.stores = rate("stores");
  bandwidth.tpc = rate("tpc");
  if (bandwidth.tpc > 0) check_clusters(t, "tpc", model);
  bandwidth.l2 = rate("l2");
  bandwidth.dram = rate("dram");
  bandwidth.host = rate("host");
  bandwidth.peer = rate("peer");
  if (model.memory_peak > 0 && bandwidth.dram * model.sm_clock_hz > model.memory_peak * (1 + 1e-9))
    t.error("E0606", t.place("dram"), fmt::format("memory cannot move more than its bus: {:.5g} GB/s", model.memory_peak / 1e9));
}

void read_carveouts(ModelTable& t, SharedModel& shared) {
  const std::size_t errors = t.errors();
  shared.carveouts = t.sizes("carveouts", 1ull << 24);
  if (t.errors() != errors) return;
  const auto& list = shared.carveouts;
  const Span place = t.place("carveouts");
  if (std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) != list.end()) t.error("E0606", place, "'carveouts' must ascend");
  else if (list.back() > shared.per_sm) t.error("E0606", place, fmt::format("an SM has {} B of shared memory, not {}", shared.per_sm, list.back()));
  else if (list.back() < shared.per_block) t.error("E0606", place, fmt::format("no carve-out holds a block's {} B", shared.per_block));
}

void read_shared(ModelTable& t, SharedModel& shared) {
  shared.per_sm = t.size("per_sm", 1ull << 24);
  shared.per_block = t.size("per_block", 1ull << 24);
  if (shared.per_block > shared.per_sm) t.error("E0606", t.place("per_block"), "a block cannot have more shared memory than an SM");
  if (t.has("carveouts")) read_carveouts(t, shared);
  shared.banks = static_cast<std::uint32_t>(t.whole("banks", 1, 1024));
  shared.bank_bytes = static_cast<std::uint32_t>(t.whole("bank", 4, 8));
  if (shared.bank_bytes != 4 && shared.bank_bytes != 8) t.error("E0605", t.place("bank"), "banks are 4 or 8 bytes wide"), shared.bank_bytes = 4;
  for (const std::uint64_t mode : t.wholes("modes", 4, 8)) {
    if (mode % 4 != 0 || mode > shared.bank_bytes) t.error("E0606", t.place("modes"), fmt::format("banks of {} B have no {}-byte mode", shared.bank_bytes, mode));
    else shared.modes.push_back(static_cast<std::uint32_t>(mode));
  }
  shared.default_mode = static_cast<std::uint32_t>(t.whole("default_mode", 4, 8));
  if (std::find(shared.modes.begin(), shared.modes.end(), shared.default_mode) == shared.modes.end()) {
    t.error("E0606", t.place("default_mode"), "the default mode is none of 'modes'");
    shared.default_mode = 4;
  }
  for (const std::uint64_t ways : t.wholes("ways", 1, 1024)) shared.ways.push_back(static_cast<std::uint32_t>(ways));
  shared.cycles = t.numbers("cycles", 1, kMostCycles);
  const bool ascending = std::adjacent_find(shared.ways.begin(), shared.ways.end(), std::greater_equal<>()) == shared.ways.end();
  if (!shared.ways.empty() && (shared.ways.front() != 1 || !ascending)) t.error("E0606", t.place("ways"), "'ways' must ascend from 1");
  if (shared.ways.size() != shared.cycles.size())
    t.error("E0606", t.place("cycles"), fmt::format("{} conflict degrees, but {} latencies", shared.ways.size(), shared.cycles.size()));
}

void read_noise(ModelTable& t, NoiseModel& noise) {
  noise.jitter = t.number_or("jitter", 0, 0, kMostCycles);
  noise.sm_jitter = t.number_or("sm_jitter", noise.jitter, 0, kMostCycles);
  noise.memory_jitter = t.number_or("memory_jitter", 0, 0, kMostCycles);
  noise.interference = t.number_or("interference", 0, 0, 1);
  // Either means nothing without the other.
  if (t.has("tail") || t.has("tail_probability")) {
    noise.tail_probability = t.number("tail_probability", 0, 1);
    noise.tail = t.number("tail", 0, kMostCycles);
    if (t.has("tail_of")) noise.tail_of_memory = t.choice("tail_of", {"loads", "memory"}) == "memory";
  }
  const auto& keys = t.table().entries;
  if (std::all_of(keys.begin(), keys.end(), [](const TomlValue::Entry& e) { return tells_source(e.key); })) t.error("E0603", t.place(), "[noise] names no noise", "jitter, tail and tail_probability, or interference");
}

void read_stores(ModelTable& t, DeviceModel& model) {
  model.stores.caches = references(t, "caches", model.caches);
  model.stores.tlbs = references(t, "tlbs", model.tlbs);
  for (const int cache : model.stores.caches) {
    const auto& named = model.caches[static_cast<std::size_t>(cache)];
    if (named.victims) t.error("E0606", t.place("caches"), fmt::format("'{}' holds what another cache evicts: no store goes through it", named.name));
  }
  if (t.has("write")) model.stores.write_back = t.choice("write", {"through", "back"}) == "back";
  if (model.stores.write_back && model.stores.caches.empty()) t.error("E0606", t.place("write"), "without a cache there is nothing to write back from");
}

}  // namespace

constexpr std::uint64_t kMostOfCluster = 16;  // fact: of a cluster of a size that is not portable (CUDA C Programming Guide)

std::optional<DeviceModel> read_device_model(const Source& source, Diagnostics& diagnostics) {
  const auto toml = parse_toml(source, diagnostics);
  if (!toml) return std::nullopt;
  DeviceModel model;
  ModelTable root(*toml, {0, std::min<std::uint32_t>(1, static_cast<std::uint32_t>(source.text().size()))}, "the model", diagnostics);
  root.whole("format", 1, 1);
  model.name = root.text("name");
  model.title = root.text("title");
  model.seed = root.whole("seed", 0, 1ull << 53);
  std::string default_path;
  const auto table = [&](const char* key, bool must, auto read) { section(root, key, fmt::format("[{}]", key).c_str(), must, read); };
  const TomlValue::Entry* paths = toml->find("paths");
  table("device", true, [&](ModelTable& t) { read_device(t, model, default_path); });
  table("pipeline", true, [&](ModelTable& t) { read_pipeline(t, paths && paths->value.find("local"), model.compute_major, model.pipeline); });
  table("units", false, [&](ModelTable& t) { read_units(t, model.units); });
  table("operations", false, [&](ModelTable& t) { read_operations(t, model.units, model.operations); });
  table("limits", true, [&](ModelTable& t) { read_limits(t, model.limits); });
  table("outstanding", false, [&](ModelTable& t) { read_outstanding(t, model.outstanding); });
  table("bandwidth", false, [&](ModelTable& t) { read_bandwidth(t, model, model.bandwidth); });
  // Before the caches: a carve-out can change their size.
  bool shared_known = false;
  table("shared", true, [&](ModelTable& t) { read_shared(t, model.shared), shared_known = t.errors() == 0; });
  table("caches", false, [&](ModelTable& t) { read_caches(t, CacheForm::Data, shared_known, model); });
  table("tlbs", false, [&](ModelTable& t) { read_caches(t, CacheForm::Tlb, shared_known, model); });
  table("window", false, [&](ModelTable& t) { model.window_bytes = t.size("size", 1ull << 42); });
  table("paths", true, [&](ModelTable& t) { read_paths(t, default_path, model); });
  table("stores", true, [&](ModelTable& t) { read_stores(t, model); });
  table("atomics", false, [&](ModelTable& t) {
    model.atomics.shared = t.number_or("shared", 0, 0, kMostCycles);
    model.atomics.global = t.number_or("global", 0, 0, kMostCycles);
  });
  table("clusters", false, [&](ModelTable& t) {
    auto& clusters = model.clusters;
    clusters.blocks = static_cast<std::uint32_t>(t.whole("blocks", 2, kMostOfCluster));
    clusters.latency = t.number("latency", 1, kMostCycles);
    clusters.bandwidth = t.rate_or_none("bandwidth", model.sm_clock_hz);
    clusters.barrier = static_cast<std::uint32_t>(t.whole("barrier", 1, static_cast<std::uint64_t>(kMostCycles)));
  });
  table("managed", false, [&](ModelTable& t) {
    model.managed.page = t.size("page", 1ull << 30);
    if (t.has("page") && (model.managed.page < 4096 || (model.managed.page & (model.managed.page - 1)) != 0))
      t.error("E0606", t.place("page"), "a page is a power of two, and at least 4 KiB");
    model.managed.latency = t.number("latency", 1, kMostCycles);
  });
  table("noise", false, [&](ModelTable& t) { read_noise(t, model.noise); });
  root.finish();
  check_sources(*toml, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return model;
}

}  // namespace gexp::sim
