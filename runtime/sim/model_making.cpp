// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/model_making.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "runtime/sim/model_policy.h"
#include "runtime/sim/model_reader.h"
#include "runtime/sim/model_text.h"

namespace gexp::sim {
namespace {

using device::ModelFact;
using Path = ModelText::Path;

constexpr const char* kDriver = "what the driver's API reports";
constexpr const char* kBusMoves = "what the bus could move, which is less than the base's";

double number_in(const Value& value) {
  const auto* n = value.get<Number>();
  return n ? n->number : 0;
}

std::vector<double> numbers_in(const Value& value) {
  std::vector<double> all;
  if (const auto* list = value.get<List>()) std::transform(list->begin(), list->end(), std::back_inserter(all), number_in);
  return all;
}

std::string origin(const ModelFact& fact) {
  return fmt::format("{}, {:.1f} %{}", fact.from, 100 * fact.confidence, fact.at_least ? ": at least, no limit was seen" : "");
}

class Maker {
 public:
  Maker(const Source& base, std::string base_name, MadeModel& made) : text_(base), base_name_(std::move(base_name)), made_(made) {
    read(text_, now_);
  }

  void take(const std::vector<ModelFact>& facts);
  void device(const device::DeviceInfo& info);
  void all();
  void name(const std::string& name, const std::string& of);
  [[nodiscard]] Source source() const { return text_.source(); }

 private:
  struct Edit {
    Path path;
    std::string value;  ///< empty: the key goes
    std::string word = "found", from;
  };

  /// The value of a fact; null where nobody found it.
  const ModelFact* fact(const std::string& name) {
    const auto at = facts_.find(name);
    return at == facts_.end() ? nullptr : &at->second;
  }
  static Edit found(Path path, std::string value, const ModelFact& fact) {
    return {std::move(path), std::move(value), "found", origin(fact)};
  }
  /// Makes some edits together, or none of them where the model would not stand.
  void edit(const std::vector<std::string>& facts, const std::vector<Edit>& edits);
  void leave(const std::string& name, const std::string& why) { made_.left.push_back({name, why}), done_.insert(name); }
  static bool read(const ModelText& text, DeviceModel& model, std::string* problem = nullptr);

  /// Where a path is described: its own name, or that of the path that it is the same as.
  std::string described(const std::string& path) const;
  const PathModel& path_of(const std::string& path) const;
  Path row(const std::string& path, std::size_t index) const;
  void number_at(const std::string& fact_name, const Path& path, bool bytes = false);
  void path(const std::string& word, const std::string& path);
  void geometry(const std::string& prefix, const std::string& table, const CacheModel& cache, const char* line, const char* total);
  void second_level(std::uint64_t bytes);
  void distances();
  void shared();

  ModelText text_;
  std::string base_name_;
  MadeModel& made_;
  DeviceModel now_;  ///< of text_
  std::map<std::string, ModelFact> facts_;
  std::set<std::string> done_;
};

bool Maker::read(const ModelText& text, DeviceModel& model, std::string* problem) {
  Diagnostics diagnostics;
  auto made = read_device_model(text.source(), diagnostics);
  if (made)
    model = std::move(*made);
  else if (problem)
    *problem = diagnostics.sorted().front().message;
  return made.has_value();
}

/// Of several findings of one thing the most confident one counts, and of limits that nothing exceeded the highest.
void Maker::take(const std::vector<ModelFact>& facts) {
  for (const auto& each : facts) {
    if (!each.value.known()) continue;
    const auto [at, first] = facts_.emplace(each.name, each);
    if (first) continue;
    auto& other = at->second;
    const bool better =
        each.at_least && other.at_least ? number_in(each.value) > number_in(other.value) : each.confidence > other.confidence;
    if (!each.at_least && !(each.value == other.value)) {
      const auto& loser = better ? other : each;
      made_.left.push_back({each.name, fmt::format("{} says {}, and {} says {} with more confidence", loser.from, show(loser.value),
                                                   (better ? each : other).from, show((better ? each : other).value))});
    }
    if (better) other = each;
  }
  for (const auto& each : facts) {
    if (!each.value.known() && !facts_.contains(each.name) && !is_of_another_policy(facts_, each.name) &&
        std::find(made_.unknown.begin(), made_.unknown.end(), each.name) == made_.unknown.end())
      made_.unknown.push_back(each.name);
  }
}

void Maker::edit(const std::vector<std::string>& facts, const std::vector<Edit>& edits) {
  auto text = text_;
  std::string problem;
  bool there = true;
  for (const auto& each : edits) {
    if (each.value.empty())
      text.remove(each.path);
    else if (!text.set(each.path, each.value, each.word, each.from))
      there = false, problem = fmt::format("{} has no table for {}", base_name_, fmt::join(each.path, "."));
  }
  DeviceModel model;
  if (!there || !read(text, model, &problem)) {
    for (const auto& name : facts) leave(name, problem);
    return;
  }
  for (const auto& each : edits) {
    const auto was = text_.value(each.path).value_or("");
    if (each.value.empty() ? !was.empty() : true)
      made_.changes.push_back({fmt::format("{}", fmt::join(each.path, ".")), was, each.value, each.from});
  }
  text_ = std::move(text);
  now_ = std::move(model);
  done_.insert(facts.begin(), facts.end());
}

std::string Maker::described(const std::string& path) const {
  auto other = text_.value({"paths", path, "same_as"});
  if (!other) return path;
  std::erase(*other, '"');
  return *other;
}

const PathModel& Maker::path_of(const std::string& path) const {
  return now_.paths[static_cast<std::size_t>(path_named(path).value_or(LoadPath::Default))];
}

/// The latency of what is found in the path's cache number `index`, or behind all of them in memory; translated as soon as can be.
Path Maker::row(const std::string& path, std::size_t index) const {
  const auto& how = path_of(path);
  Path row{"paths", path, "latency", index < how.caches.size() ? now_.caches[static_cast<std::size_t>(how.caches[index])].name : "memory"};
  if (!how.tlbs.empty() && index >= how.translate_at) row.push_back(now_.tlbs[static_cast<std::size_t>(how.tlbs[0])].name);
  return row;
}

void Maker::number_at(const std::string& fact_name, const Path& path, bool bytes) {
  const auto* known = fact(fact_name);
  if (!known) return;
  constexpr double kLastDigit = 1e-6;  // what the text of a limit may lose, so that what was seen stays below it
  const double value = number_in(known->value) * (known->at_least ? 1 + kLastDigit : 1);
  edit({fact_name}, {found(path, bytes ? size_text(value) : number_text(value), *known)});
}

/// The lines, sets and index of a cache or TLB. What was not found of them stays as it is in the base.
void Maker::geometry(const std::string& prefix, const std::string& table, const CacheModel& cache, const char* line, const char* total) {
  const auto key = [&](const char* name) { return Path{table, cache.name, name}; };
  const auto *lines = fact(prefix + line), *size = fact(prefix + total), *sizes = fact(prefix + "sizes"),
             *mapping = fact(prefix + "mapping"), *bits = fact(prefix + "bits");
  const double line_bytes = lines ? number_in(lines->value) : static_cast<double>(cache.line);
  std::vector<Edit> edits;
  std::vector<std::string> facts;
  const auto add = [&](const char* name, const std::string& value, const ModelFact& from) { edits.push_back(found(key(name), value, from)); };
  if (lines) add(line, size_text(line_bytes), *lines), facts.push_back(lines->name);
  if (lines && cache.sector == cache.line && table == "caches") {
    if (const auto* fetch = fact(prefix + "fetch"); !fetch) edits.push_back({key("sector"), "", "", ""});
  }
  const auto ways = sizes ? numbers_in(sizes->value) : std::vector<double>(cache.ways.begin(), cache.ways.end());
  const auto entries = std::accumulate(ways.begin(), ways.end(), 0.0);
  const bool alike = std::all_of(ways.begin(), ways.end(), [&](double each) { return each == ways[0]; });
  if (cache.unified > 0) {
    if (size)
      add("unified", size_text(number_in(size->value) + static_cast<double>(now_.shared.carveouts.front())), *size),
          facts.push_back(size->name);
    if (sizes && alike) add("sets", number_text(static_cast<double>(ways.size())), *sizes), facts.push_back(sizes->name);
  } else if (sizes) {
    add("sets", alike ? number_text(static_cast<double>(ways.size())) : list_text(sizes->value), *sizes);
    if (alike)
      add("ways", number_text(ways[0]), *sizes);
    else
      edits.push_back({key("ways"), "", "", ""});
    add(total, size_text(entries * line_bytes), *sizes);
    facts.push_back(sizes->name);
    if (size && number_in(size->value) == entries * line_bytes) facts.push_back(size->name);
  } else if (size || (lines && line_bytes != static_cast<double>(cache.line))) {
    const auto& from = size ? *size : *lines;
    const double held = size ? number_in(size->value) : entries * line_bytes;
    add("ways", number_text(held / line_bytes / static_cast<double>(ways.size())), from);
    add(total, size_text(held), from);
    if (size) facts.push_back(size->name);
  }
  if (mapping && cache.storage_of < 0) {
    const auto* word = mapping->value.get<std::string>();
    for (const std::string other : {"bits", "xor", "index", "block"}) {
      if (word && other != *word && (*word != "modulo" || other != "index")) edits.push_back({key(other.c_str()), "", "", ""});
    }
    if (word && (*word == "bits" || *word == "xor") && bits) add(word->c_str(), list_text(bits->value), *bits), facts.push_back(bits->name);
    if (word && *word == "modulo") add("index", "\"modulo\"", *mapping);
    facts.push_back(mapping->name);
  }
  if (sizes && facts_.contains(prefix + "sets")) facts.push_back(prefix + "sets");
  if (!edits.empty()) edit(facts, edits);
  if (const auto* fetch = fact(prefix + "fetch")) edit({fetch->name}, {found(key("sector"), size_text(number_in(fetch->value)), *fetch)});
  edits.clear(), facts.clear();
  for (const auto& part : policy_parts(facts_, prefix)) {
    edits.push_back(part.fact ? found(key(part.key), part.value, *part.fact) : Edit{key(part.key), "", "", ""});
    if (part.fact) facts.push_back(part.fact->name);
  }
  if (!edits.empty()) edit(facts, edits);
}

void Maker::path(const std::string& word, const std::string& path) {
  const auto prefix = fmt::format("model.{}.", word);
  const auto is_asked = [&](const std::string& part) {
    return std::any_of(facts_.begin(), facts_.end(), [&](const auto& each) { return each.first.find(part) != std::string::npos; });
  };
  if (!is_asked(prefix) || !path_of(path).present) return;
  // What another path says already: whether it is so of this one, too, is held against the model when it is made.
  const auto by_another = [&] {
    for (const char* key : {"line", "fetch", "capacity", "sets", "sizes", "mapping", "bits", "replacement", "groups", "evicts"}) {
      if (const auto name = prefix + key; facts_.contains(name)) done_.insert(name);
    }
  };
  const auto same = described(path);
  if (same != path && is_asked(fmt::format("model.{}.", same == "texture" ? "tex" : same))) {
    by_another();
    if (facts_.contains(prefix + "hit")) done_.insert(prefix + "hit");
    return;
  }
  if (!path_of(path).caches.empty()) {
    const auto cache = now_.caches[static_cast<std::size_t>(path_of(path).caches[0])];  // edits make another model
    const auto& ca = path_of("ca").caches;
    const bool of_ca = same != "ca" && described("ca") == "ca" && !ca.empty() && ca[0] == path_of(path).caches[0];
    if (cache.storage_of < 0 && !of_ca) geometry(prefix, "caches", cache, "line", "capacity");
    else by_another();
    number_at(prefix + "prefetch", {"caches", cache.name, "prefetch"}, true);
  }
  number_at(prefix + "hit", row(same, 0));
}

/// What lies at several distances: the slices of the L2, and memory behind them. Rows of other paths stay as far from those of `cg` as
/// they are in the base.
void Maker::distances() {
  const auto *mean = fact("model.cg.mean"), *across = fact("model.cg.across"), *copies = fact("model.cg.copies"),
             *memory = fact("model.cg.memory");
  const auto& cg = path_of("cg");
  if (!cg.present || cg.caches.empty() || described("cg") != "cg") return;
  const auto cache = now_.caches[static_cast<std::size_t>(cg.caches[0])];
  const auto before = cg.latency;
  std::vector<Edit> edits;
  std::vector<std::string> facts;
  const auto add = [&](const Path& path, const std::string& value, const ModelFact& from) {
    edits.push_back(found(path, value, from)), facts.push_back(from.name);
  };
  const auto* kept = copies ? copies->value.get<bool>() : nullptr;
  const bool with_copies = kept ? *kept : cache.copies;
  double far = cache.far;
  if (kept && *kept && across) {
    far = number_in(across->value);
    if (cache.partitions == 1) add({"caches", cache.name, "partitions"}, "2", *across);
    add({"caches", cache.name, "far"}, number_text(far), *across);
    add({"caches", cache.name, "copies"}, "\"reads\"", *copies);
  } else if (kept) {
    edits.push_back({{"caches", cache.name, "copies"}, "", "", ""}), facts.push_back(copies->name);
    if (across) facts.push_back(across->name);
  }
  const double away = far * (1 - 1.0 / std::max(cache.partitions, far > 0 ? 2u : 1u));
  if (mean) add(row("cg", 0), number_text(number_in(mean->value) - cache.spread / 2 - (with_copies ? 0 : away)), *mean);
  if (memory) add(row("cg", 1), number_text(number_in(memory->value) - cache.spread / 2 - away), *memory);
  if (edits.empty()) return;
  edit(facts, edits);
  const auto after = path_of("cg").latency;
  for (const char* other : {"ca", "nc", "texture", "constant", "local"}) {
    if (!text_.value({"paths", other}) || described(other) != other) continue;
    const auto how = path_of(other);
    for (std::size_t i = 0; i <= how.caches.size(); ++i) {
      const bool is_cache = i < how.caches.size() && how.caches[i] == path_of("cg").caches[0], is_memory = i == how.caches.size();
      const auto column = is_memory ? 1u : 0u;
      if ((!is_cache && !is_memory) || after[column][0] == before[column][0] || column >= after.size()) continue;
      edit({}, {{row(other, i), number_text(how.latency[i][0] + after[column][0] - before[column][0]), "assumed",
                 fmt::format("as far from path cg as in {}", base_name_)}});
    }
  }
}

void Maker::shared() {
  number_at("model.shared.banks", {"shared", "banks"});
  number_at("model.shared.width", {"shared", "bank"}, true);
  if (const auto* one = fact("min(model.shared.cost)"); one && !now_.shared.cycles.empty()) {
    List moved;
    for (const auto each : now_.shared.cycles) moved.emplace_back(each + std::round(number_in(one->value)) - now_.shared.cycles[0]);
    edit({one->name}, {found({"shared", "cycles"}, list_text(Value(moved)), *one)});
  }
}

void Maker::device(const device::DeviceInfo& info) {
  const auto told = [&](const std::string& key, const std::string& value) {
    edit({"device." + key}, {{{"device", key}, value, "found", kDriver}});
  };
  const auto megahertz = [](double hertz) { return fmt::format("\"{:.6g} MHz\"", hertz / 1e6); };
  told("compute", fmt::format("[{}, {}]", info.compute_major, info.compute_minor));
  told("sms", fmt::format("{}", info.sms));
  if (info.sm_clock_hz > 0) told("sm_clock", megahertz(info.sm_clock_hz));
  if (info.memory_bytes > 0) told("memory", fmt::format("{}", info.memory_bytes));
  if (info.memory_clock_hz > 0) {
    std::vector<Edit> edits{{{"device", "memory_clock"}, megahertz(info.memory_clock_hz), "found", kDriver}};
    if (info.memory_peak > 0) {
      edits.push_back({{"device", "bus"}, fmt::format("{:.0f}", info.memory_peak * 8 / (2 * info.memory_clock_hz)), "found", kDriver});
      edits.push_back({{"device", "transfers"}, "2", "found", kDriver});
      if (now_.bandwidth.dram * info.sm_clock_hz > info.memory_peak)
        edits.push_back({{"bandwidth", "dram"}, fmt::format("\"{:.6g} GB/s\"", info.memory_peak / 1e9), "assumed", kBusMoves});
    }
    edit({"device.memory_clock"}, edits);
  }
  if (info.l2_bytes > 0) told("l2", size_text(static_cast<double>(info.l2_bytes))), second_level(info.l2_bytes);
}

/// An L2 whose size nobody measured is as large as the driver says. A number of sets that may be any changes, else that of the ways.
void Maker::second_level(std::uint64_t bytes) {
  const auto& cg = path_of("cg");
  if (fact("model.cg.capacity") || fact("model.cg.sizes") || !cg.present || cg.caches.empty()) return;
  const auto cache = now_.caches[static_cast<std::size_t>(cg.caches[0])];
  const auto lines = bytes / cache.line, sets = static_cast<std::uint64_t>(cache.ways.size()), ways = std::uint64_t{cache.ways[0]};
  if (cache.unified > 0 || lines * cache.line != bytes || lines == std::accumulate(cache.ways.begin(), cache.ways.end(), std::uint64_t{0}))
    return;
  const auto key = [&](const char* name, const std::string& value) {
    return Edit{{"caches", cache.name, name}, value, "assumed", std::string(kDriver) + "; not measured"};
  };
  const bool by_sets = cache.index.kind != IndexModel::Kind::Bits && cache.index.kind != IndexModel::Kind::Xor && lines % ways == 0;
  if (!by_sets && lines % sets != 0) return leave("device.l2", fmt::format("{} B are no whole number of ways of {} sets", bytes, sets));
  edit({"device.l2"}, {by_sets ? key("sets", fmt::format("{}", lines / ways)) : key("ways", fmt::format("{}", lines / sets)),
                       key("capacity", size_text(static_cast<double>(bytes)))});
}

void Maker::all() {
  for (const auto& [word, name] :
       {std::pair{"ca", "ca"}, {"cg", "cg"}, {"nc", "nc"}, {"tex", "texture"}, {"constant", "constant"}, {"cv", "cv"}})
    path(word, name);
  distances();
  const auto tlbs = path_of("cg").tlbs;  // edits make another model
  for (std::size_t i = 0; i < tlbs.size(); ++i)
    geometry(fmt::format("model.tlb{}.", i + 1), "tlbs", CacheModel(now_.tlbs[static_cast<std::size_t>(tlbs[i])]), "page", "reach");
  number_at("model.window", {"window", "size"}, true);
  shared();
  for (const char* key : {"l1", "shared", "sm", "stores", "l2", "dram"}) number_at(fmt::format("model.bandwidth.{}", key), {"bandwidth", key});
  constexpr std::pair<const char*, const char*> kRegisters[] = {
      {"per_sm", "registers_per_sm"}, {"per_thread", "registers_per_thread"}, {"step", "register_step"}, {"threads", "register_threads"}};
  for (const auto& [word, key] : kRegisters) number_at(fmt::format("model.registers.{}", word), {"limits", key});
  for (const char* key : {"entries", "merges", "requests", "loads_per_warp"})
    number_at(fmt::format("model.outstanding.{}", key), {"outstanding", key});
  for (const auto& [name, each] : facts_) {
    if (!done_.contains(name)) leave(name, fmt::format("{} has no table for it", base_name_));
  }
}

void Maker::name(const std::string& name, const std::string& of) {
  text_.replace({"name"}, quoted(name));
  text_.replace({"title"}, quoted(of + " (simulated)"));
  text_.head({fmt::format("{}, made by `gexp model`. A key under `found` has a finding's value. Others are those of {}.", of, base_name_)});
}

}  // namespace

Result<MadeModel> make_model(const Source& base, const std::string& base_name, const std::string& name, const std::vector<ModelFact>& facts,
                             const device::DeviceInfo& device) {
  Diagnostics diagnostics;
  if (!read_device_model(base, diagnostics)) return diagnostics.sorted().front();
  MadeModel made{base, {}, {}, {}};
  Maker maker(base, base_name, made);
  maker.take(facts);
  maker.device(device);
  maker.all();
  maker.name(name, device.name);
  made.model = maker.source();
  return made;
}

}  // namespace gexp::sim
