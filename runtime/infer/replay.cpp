// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/replay.h"

#include <array>
#include <cmath>
#include <unordered_map>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/walks.h"

// Sets and a policy together say of each access whether it hits, wherever that does not hang on what the cache held before. A line that
// mostly does the other is evidence against them: an accident strikes some of a line's visits, not most of them.
namespace gexp::infer {
namespace {

constexpr std::int64_t kMostSteps = 1 << 20;  // limit: of a walk

enum class Says : std::uint8_t { Nothing, Hit, Miss };

/// Steps of a walk as the sets see them.
struct Steps {
  struct Step {
    std::uint32_t set, line, address;  ///< the line's number in its set; the address's in the walk
  };
  std::vector<Step> warm, timed;
  std::vector<std::size_t> lines;  ///< by set
  std::size_t addresses = 0;
};

class Numbering {
 public:
  explicit Numbering(const CacheClaim& claim) : claim_(claim) {}
  /// nullopt: the claim says nothing of its line.
  std::optional<Steps::Step> of(std::int64_t offset) {
    const auto line = offset / claim_.line_bytes;
    if (first_ < 0) first_ = line;
    if (static_cast<std::uint64_t>(line ^ first_) & ~claim_.bits) return std::nullopt;
    const auto address = addresses_.try_emplace(offset, static_cast<std::uint32_t>(addresses_.size())).first->second;
    if (const auto known = lines_.find(line); known != lines_.end()) return Steps::Step{known->second.first, known->second.second, address};
    const auto set = sets_.try_emplace(claim_.set_of(line), static_cast<std::uint32_t>(sets_.size())).first->second;
    if (set == in_set_.size()) in_set_.push_back(0);
    const auto number = static_cast<std::uint32_t>(in_set_[set]++);
    lines_.emplace(line, std::pair(set, number));
    return Steps::Step{set, number, address};
  }
  [[nodiscard]] const std::vector<std::size_t>& lines() const { return in_set_; }
  [[nodiscard]] std::size_t addresses() const { return addresses_.size(); }

 private:
  const CacheClaim& claim_;
  std::int64_t first_ = -1;
  std::unordered_map<std::int64_t, std::uint32_t> addresses_;
  std::unordered_map<std::int64_t, std::pair<std::uint32_t, std::uint32_t>> lines_;
  std::unordered_map<std::uint64_t, std::uint32_t> sets_;
  std::vector<std::size_t> in_set_;
};

/// nullopt: a walk without a warm-up, or one of which the claim does not speak.
std::optional<Steps> steps_of(const CacheClaim& claim, const records::Point& point) {
  if (point.runs.empty() || !point.walk || !point.warm_walk || point.walk->threads != 1 || point.walk->steps == 0) return std::nullopt;
  if (point.warm_steps < point.warm_walk->steps || point.warm_steps + point.steps > kMostSteps) return std::nullopt;
  Steps steps;
  Numbering numbering(claim);
  const auto add = [&](const Pattern& pattern, std::int64_t count, std::vector<Steps::Step>& into) {
    work(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto step = numbering.of(pattern.at(0, i % pattern.steps));
      if (!step) return false;
      into.push_back(*step);
    }
    return true;
  };
  if (!add(*point.warm_walk, point.warm_steps, steps.warm) || !add(*point.walk, point.steps, steps.timed)) return std::nullopt;
  steps.lines = numbering.lines(), steps.addresses = numbering.addresses();
  return steps;
}

/// What the sets held before the warm-up. A launch has a line or a page or two of its own, for what it records.
enum class Earlier : std::uint8_t { Nothing, OneOther, TwoOthers, OtherLines, SameWalk };

std::vector<Says> predicted(const CacheClaim& claim, const Steps& steps, Earlier before) {
  std::vector<PolicySet> sets;
  for (const auto lines : steps.lines) sets.emplace_back(claim.policy, claim.ways, lines, before == Earlier::OtherLines || before == Earlier::SameWalk);
  const int others = before == Earlier::OneOther ? 1 : before == Earlier::TwoOthers ? 2 : 0;
  for (auto& set : sets) {
    for (int i = 0; i < others; ++i) set.flood();
  }
  // An address that was not asked for since its line came in may lie in a sector that did not come.
  std::vector<std::vector<std::uint32_t>> fills(steps.lines.size());
  for (std::size_t set = 0; set < fills.size(); ++set) fills[set].resize(steps.lines[set]);
  std::vector<std::uint32_t> seen(steps.addresses);
  std::vector<Says> says;
  work(2 * (steps.warm.size() + 2 * steps.timed.size()));
  const auto visit = [&](const Steps::Step& step) {
    auto& fill = fills[step.set][step.line];
    if (!sets[step.set].access(step.line)) {
      seen[step.address] = ++fill;
      return Says::Miss;
    }
    const bool is_there = fill > 0 && seen[step.address] == fill;
    seen[step.address] = fill;
    return is_there ? Says::Hit : Says::Nothing;
  };
  if (before == Earlier::SameWalk) {
    for (const auto& step : steps.timed) visit(step);
  }
  for (const auto& step : steps.warm) visit(step);
  for (const auto& step : steps.timed) says.push_back(visit(step));
  return says;
}

std::vector<Says> predicted(const CacheClaim& claim, const Steps& steps) {
  auto says = predicted(claim, steps, Earlier::Nothing);
  for (const auto before : {Earlier::OneOther, Earlier::TwoOthers, Earlier::OtherLines, Earlier::SameWalk}) {
    const auto other = predicted(claim, steps, before);
    for (std::size_t i = 0; i < says.size(); ++i) {
      if (says[i] != other[i]) says[i] = Says::Nothing;
    }
  }
  return says;
}

/// Visits of one line of which the claim says the same, and how many went otherwise.
struct Visits {
  double all = 0, otherwise = 0;
};

}  // namespace

std::optional<Unpredicted> replay(const CacheClaim& claim, const records::Table& table, const MissRange& range, const std::string& stage) {
  std::optional<Unpredicted> worst;
  for (const auto& point : table.points) {
    const auto steps = steps_of(claim, point);
    if (!steps) continue;
    const auto says = predicted(claim, *steps);
    std::unordered_map<std::uint64_t, Visits> lines[2];  // that should miss, that should hit
    const Misses missed(range, point);
    for (const auto& run : point.runs) {
      work(run.ticks.size());
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        const auto step = i % says.size();
        if (says[step] == Says::Nothing || missed.unsure(i, run.ticks[i])) continue;
        const bool hits = says[step] == Says::Hit;
        auto& visits = lines[hits][std::uint64_t{steps->timed[step].set} << 32 | steps->timed[step].line];
        ++visits.all, visits.otherwise += missed(i, run.ticks[i]) == hits ? 1 : 0;
      }
    }
    for (const bool hits : {false, true}) {
      Unpredicted found{.where = {}, .lines = 0, .hit = !hits, .nats = 0};
      for (const auto& [line, visits] : lines[hits]) {
        if (2 * visits.otherwise <= visits.all) continue;
        ++found.lines;
        found.nats += (model::log_of_own_rate(visits.otherwise, visits.all) - visits.otherwise * std::log(model::kByChance)) / model::kTemper;
      }
      if (found.nats <= model::kContradicted || (worst && found.nats <= worst->nats)) continue;
      const auto at = records::coordinates_text(table, point);
      found.where = at.empty() ? stage : stage + ", " + at;
      worst = found;
    }
  }
  return worst;
}

}  // namespace gexp::infer
