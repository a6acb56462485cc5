// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/model_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/sim/model_parts.h"

namespace gexp::sim {
namespace {

constexpr std::uint64_t kMostCycles = 1'000'000;

/// Runs `read` on a table of the root, if it is there; complains when it must be and is not.
template <class F> void section(ModelTable& root, const char* key, bool must, F read) {
  const TomlValue* value = must ? root.required(key, TomlValue::Kind::Table) : root.optional(key, TomlValue::Kind::Table);
  if (!value) return;
  ModelTable table(*value, root.table().find(key)->key_span, fmt::format("[{}]", key), root.diagnostics());
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
  model.sm_clock_hz = t.frequency("sm_clock");
  model.memory_clock_hz = t.frequency("memory_clock");
  model.memory_bytes = t.size("memory", 1ull << 42);
  model.l2_bytes = t.size("l2", 1ull << 34);
  default_path = t.choice("default_path", {"ca", "cg", "cv", "nc"});
}

void read_pipeline(ModelTable& t, Pipeline& pipeline) {
  const auto cycles = [&](const char* key, std::uint64_t least) { return static_cast<std::uint32_t>(t.whole(key, least, kMostCycles)); };
  pipeline.clock = cycles("clock", 1);
  pipeline.issue = cycles("issue", 1);
  pipeline.alu = cycles("alu", 1);
  pipeline.multiply = cycles("multiply", 1);
  pipeline.divide = cycles("divide", 1);
  pipeline.constant = cycles("constant", 1);
  pipeline.local = cycles("local", 1);
  pipeline.transaction = cycles("transaction", 0);
}

void read_shared(ModelTable& t, SharedModel& shared) {
  shared.per_sm = t.size("per_sm", 1ull << 24);
  shared.per_block = t.size("per_block", 1ull << 24);
  if (shared.per_block > shared.per_sm) t.error("E0606", t.place("per_block"), "a block cannot have more shared memory than an SM");
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
  noise.jitter = t.number("jitter", 0, kMostCycles);
  noise.tail_probability = t.number("tail_probability", 0, 1);
  noise.tail = t.number("tail", 0, kMostCycles);
}

}  // namespace

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
  section(root, "device", true, [&](ModelTable& t) { read_device(t, model, default_path); });
  section(root, "pipeline", true, [&](ModelTable& t) { read_pipeline(t, model.pipeline); });
  section(root, "caches", false, [&](ModelTable& t) { read_caches(t, CacheForm::Data, model.caches); });
  section(root, "tlbs", false, [&](ModelTable& t) { read_caches(t, CacheForm::Tlb, model.tlbs); });
  section(root, "window", false, [&](ModelTable& t) { model.window_bytes = t.size("size", 1ull << 42); });
  section(root, "paths", true, [&](ModelTable& t) { read_paths(t, default_path, model); });
  section(root, "stores", true, [&](ModelTable& t) {
    model.stores.caches = references(t, "caches", model.caches);
    model.stores.tlbs = references(t, "tlbs", model.tlbs);
  });
  section(root, "shared", true, [&](ModelTable& t) { read_shared(t, model.shared); });
  section(root, "noise", false, [&](ModelTable& t) { read_noise(t, model.noise); });
  root.finish();
  check_sources(*toml, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return model;
}

}  // namespace gexp::sim
