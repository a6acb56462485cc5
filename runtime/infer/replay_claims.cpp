// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/replay_claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/infer/analysis.h"
#include "runtime/infer/replacement_walk.h"
#include "runtime/infer/replay.h"

namespace gexp::infer {
namespace {

double field(const Fields& fields, const std::string& name) {
  const auto at = fields.find(name);
  const auto* n = at == fields.end() ? nullptr : at->second.get<Number>();
  return n ? n->number : 0;
}

/// Bits in which the numbers of the lines that a stage walked differ.
std::uint64_t differing_bits(const records::Table& table, std::int64_t line_bytes) {
  std::uint64_t bits = 0;
  std::optional<std::int64_t> first;
  for (const auto& point : table.points) {
    if (!point.walk) continue;
    for (const auto offset : point.walk->offsets) {
      const auto line = offset / line_bytes;
      if (!first) first = line;
      bits |= static_cast<std::uint64_t>(line ^ *first);
    }
  }
  return bits;
}

struct Replayable {
  CacheClaim cache;
  Finding* sets;
  std::string policy;
  const compiler::Stage* stage;         ///< of the sets
  const compiler::Stage* policy_stage;  ///< the policy was already held against its own walks
  double lines = 0;
  std::optional<double> slower_than;    ///< cycles
};

/// What a hit takes in a stage, in cycles: misses of another stage are what is slower than that.
std::optional<double> hit_latency(const PreparedRecords& records) {
  const auto& classes = records.classes().told();
  if (classes.list.empty() || records.table().points.empty()) return std::nullopt;
  return classes.list.front().centre - records.table().points.front().overhead;
}

const MeasuredStages::Measured* measured_of(const MeasuredStages& measured, const compiler::Stage& stage) {
  const auto at = std::find_if(measured.all().begin(), measured.all().end(), [&](const auto& each) { return each.stage == &stage; });
  return at == measured.all().end() ? nullptr : &*at;
}

/// nullopt: the findings name no sets of equal ways, no function, or no deterministic policy.
std::optional<Replayable> replayable(const compiler::Question& question, const compiler::Stage& stage, const compiler::Program& program, const MeasuredStages& measured,
                                     const compiler::Scope& scope, Findings& findings) {
  const auto* of = labelled(question, "set");
  const auto* policy = question.analysis == "replacement" && of ? findings.find(question.id) : nullptr;
  auto* sets = policy ? findings.find(show(*of->value)) : nullptr;
  const auto* fields = sets ? sets->value.get<Fields>() : nullptr;
  const auto line = number_of(question, "line", measured.names_of(stage, scope));
  if (!fields || !line || *line < 1) return std::nullopt;
  for (const auto& from : program.stages) {
    for (const auto& asked : from.finds) {
      const auto* own = asked.id == sets->id && asked.analysis == "cache_sets" ? measured_of(measured, from) : nullptr;
      if (!own || number_of(asked, "line", measured.names_of(from, scope)) != line) continue;
      Replayable made{{}, sets, {}, &from, &stage, field(*fields, "lines"), number_of(asked, "above", measured.names_of(from, scope))};
      if (!made.slower_than) made.slower_than = hit_latency(own->records());
      made.cache.line_bytes = static_cast<std::int64_t>(*line);
      made.cache.ways = static_cast<std::size_t>(field(*fields, "ways"));
      made.cache.bits = differing_bits(*own->table, made.cache.line_bytes);
      const auto* told = policy->value.get<Fields>();
      const auto* name = told && told->contains("name") ? told->at("name").get<std::string>() : nullptr;
      const auto candidate = name ? Candidate::named(*name) : std::nullopt;
      const auto key = replacing::set_of(*fields, made.cache.line_bytes);
      if (!candidate || !key || made.cache.ways == 0 || field(*told, "ways") != field(*fields, "ways")) return std::nullopt;
      made.policy = *name, made.cache.policy = *candidate, made.cache.set_of = *key;
      return made;
    }
  }
  return std::nullopt;
}

std::optional<Unpredicted> worst_of(const Replayable& claim, const MeasuredStages& measured) {
  std::optional<Unpredicted> worst;
  for (const auto* stage : measured.of_same_access(*claim.stage)) {
    if (stage->stage == claim.policy_stage) continue;
    const auto& records = stage->records();
    const auto range = miss_range(records.table(), records.classes(), claim.slower_than);
    const auto found = range ? replay(claim.cache, records.table(), *range, stage->stage->name) : std::nullopt;
    if (found && (!worst || found->nats > worst->nats)) worst = found;
  }
  return worst;
}

}  // namespace

void replay_caches(const compiler::Program& program, const MeasuredStages& measured, const compiler::Scope& scope, Findings& findings) {
  for (const auto& stage : program.stages) {
    for (const auto& question : stage.finds) {
      const auto claim = replayable(question, stage, program, measured, scope, findings);
      const auto unpredicted = claim ? worst_of(*claim, measured) : std::nullopt;
      if (!unpredicted) continue;
      const auto why = fmt::format("with {}, these sets say that {} lines of the walk of {} {}, and they {}: {}; a footprint at other addresses, whose lines differ in the same bits, would decide", claim->policy,
                                   unpredicted->lines, unpredicted->where, unpredicted->hit ? "miss" : "hit", unpredicted->hit ? "hit" : "miss",
                                   unpredicted->hit ? "there is room that no set has, as where pages lie by chance, or not all sets follow that policy"
                                                    : "what chooses a line's set is something else, or not all sets follow that policy");
      claim->sets->withdraw(why);
      if (!unpredicted->hit) continue;
      for (const auto& read : claim->stage->reads) {
        auto* size = findings.find(program.id_of(read));
        const auto* bytes = size ? size->value.get<Number>() : nullptr;
        if (bytes && bytes->dimension == kBytes && bytes->number == claim->lines * static_cast<double>(claim->cache.line_bytes)) size->withdraw(why);
      }
    }
  }
}

}  // namespace gexp::infer
