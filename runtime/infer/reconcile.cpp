// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/reconcile.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "runtime/infer/analysis.h"
#include "runtime/infer/combined.h"
#include "runtime/infer/confounders.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/hits_alike.h"
#include "runtime/infer/kept_points.h"
#include "runtime/infer/line_claims.h"
#include "runtime/infer/model/uneven_sets.h"
#include "runtime/infer/record_functions.h"
#include "runtime/infer/replay_claims.h"
#include "runtime/infer/size_claims.h"
#include "runtime/infer/withdrawn_inputs.h"

// Each finding is a prediction about other walks of the file. Sizes: size_claims.cpp. What the sets hold together is the size, if they fill
// evenly. A line has to be the hole that told it: line_claims.h. What sets and their policy say together is replayed: replay_claims.h.
namespace gexp::infer {
namespace {

/// Sets that a `cache_sets` found.
struct SetsClaim {
  std::string id;
  const compiler::Stage* stage;
  const compiler::Question* question;
  Finding* finding;
  double lines = 0;  ///< that they hold together
  std::int64_t line_bytes = 0;
};

std::vector<SetsClaim> sets_claims(const compiler::Program& program, const MeasuredStages& measured, const compiler::Scope& outer, Findings& findings) {
  std::vector<SetsClaim> claims;
  for (const auto& stage : program.stages) {
    const auto scope = measured.names_of(stage, outer);
    for (const auto& question : stage.finds) {
      auto* finding = question.analysis == "cache_sets" ? findings.find(question.id) : nullptr;
      const auto* fields = finding ? finding->value.get<Fields>() : nullptr;
      const auto line = number_of(question, "line", scope);
      const auto* lines = fields && fields->contains("lines") ? fields->at("lines").get<Number>() : nullptr;
      if (lines && line >= 1) claims.push_back({question.id, &stage, &question, finding, lines->number, static_cast<std::int64_t>(*line)});
    }
  }
  return claims;
}

bool reads(const compiler::Stage& stage, const std::string& finding, const compiler::Program& program) {
  return std::any_of(stage.reads.begin(), stage.reads.end(), [&](const auto& read) { return program.id_of(read) == finding; });
}

/// The sets of stages that begin at a size and grow from there.
std::vector<const SetsClaim*> sets_grown_from(const SizeClaim& claim, const std::vector<SetsClaim>& sets, const compiler::Program& program,
                                              const MeasuredStages& measured) {
  const auto same = measured.of_same_access(*claim.stage);
  std::vector<const SetsClaim*> grown;
  for (const auto& each : sets) {
    const bool from_size = reads(*each.stage, claim.question->id, program);
    const bool one_cache = std::any_of(same.begin(), same.end(), [&](const auto* stage) { return stage->stage == each.stage; });
    if (from_size && one_cache) grown.push_back(&each);
  }
  return grown;
}

/// Lines of this length that the claim's walk visits at its size.
double lines_at_size(const SizeClaim& claim, std::int64_t line_bytes) {
  std::set<std::int64_t> lines;
  for (const auto offset : claim.fits.front()->walk->offsets) lines.insert(offset / line_bytes);
  return static_cast<double>(lines.size());
}

/// Those of them that hold more than the size; empty where none does.
std::string uneven_sets(const SizeClaim& claim, const std::vector<const SetsClaim*>& sets) {
  for (const auto* each : sets) {
    const double lines = lines_at_size(claim, each->line_bytes);
    if (each->lines <= lines) continue;
    return fmt::format("it is the largest footprint without a gap that fits, of {:g} lines, but the sets of `{}` hold {:g} together: they do not fill evenly",
                       lines, each->id, each->lines);
  }
  return {};
}

/// The same of sets that are undetermined, since some of them never overflowed: with what is in those, they were seen to hold more.
std::string uneven_open_sets(const SizeClaim& claim, const compiler::Program& program, const MeasuredStages& measured, const compiler::Scope& outer,
                             const std::vector<Finding>& all) {
  for (const auto* own : measured.of_same_access(*claim.stage)) {
    if (!reads(*own->stage, claim.question->id, program)) continue;
    for (const auto& question : own->stage->finds) {
      const auto finding = std::find_if(all.begin(), all.end(), [&](const Finding& each) { return each.id == question.id; });
      const auto line = question.analysis == "cache_sets" ? number_of(question, "line", measured.names_of(*own->stage, outer)) : std::nullopt;
      if (finding == all.end() || finding->lines_held == 0 || !line || *line < 1) continue;
      const double lines = lines_at_size(claim, static_cast<std::int64_t>(*line));
      if (finding->lines_held <= lines) continue;
      return fmt::format("it is the largest footprint without a gap that fits, of {:g} lines, but in the walks of `{}` {:g} lines are held together: sets do not fill evenly",
                         lines, question.id, finding->lines_held);
    }
  }
  return {};
}

/// Cycles that its misses are slower than, where it says so.
std::optional<double> slower_than(const compiler::Formula& misses, const compiler::Scope& scope) {
  std::optional<double> cycles;
  read_above(misses, scope, cycles);
  return cycles;
}

/// The points of a stage that are kept.
records::Table points_kept(const records::Table& table, const std::vector<bool>& kept) {
  records::Table some{table.stage, table.timed, table.timing, table.columns, {}};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) some.points.push_back(table.points[i]);
  }
  return some;
}

/// Those of them before the sweep reaches so many bytes.
records::Table points_before(const records::Table& table, const std::string& sweep, double bytes) {
  records::Table some{table.stage, table.timed, table.timing, table.columns, {}};
  std::copy_if(table.points.begin(), table.points.end(), std::back_inserter(some.points), [&](const records::Point& point) {
    const auto at = point.at.find(sweep);
    const auto* x = at == point.at.end() ? nullptr : at->second.get<Number>();
    return x && x->number < bytes;
  });
  return some;
}

/// Why a length that `first_flat` found is no line; `misses` is what its column counts, `sweep` its x, and `asked` the points that its `where`
/// keeps: they told it, and all that the stage walked bears it out. Empty where it may be one.
std::string no_line(const MeasuredStages::Measured& own, const records::Table& asked, const compiler::Formula& misses, const std::string& sweep,
                    std::pair<double, double> told, model::WalksByStage& walks, const compiler::Scope& scope) {
  const auto above = slower_than(misses, scope);
  const auto& holes = is_hole(*own.table, sweep) ? *own.table : asked;  // of walks around several holes, `where` may keep those around one
  if (auto why = not_a_line(holes, sweep, told); !why.empty()) return why;
  if (is_hole(holes, sweep)) {
    if (told.first <= kLeastLine || told.second > kMostLine) return {};
    return several_lines(holes, sweep, told, walks.of(*own.stage, above));
  }
  auto stage = model::walked_stage(own.records(), above, own.stage->name);
  const auto own_walks = model::walks_of({stage});
  if (auto why = unlike_over_same_lines(told, own_walks); !why.empty()) return why;
  if (auto why = longer_lines(told, own_walks); !why.empty()) return why;
  const auto& all_walks = walks.of(*own.stage, above);
  if (auto why = unlike_within_lines(told, all_walks); !why.empty()) return why;
  if (auto why = misses_after_hits(told, all_walks); !why.empty()) return why;
  const auto before = points_before(asked, sweep, told.second);
  stage.table = &before;
  return too_many_shorter_lines(told, model::walks_of({stage}), all_walks);
}

/// The largest set that was found, whose lines the finding names, as a hypothesis.
std::optional<std::pair<model::SetHypothesis, model::SetScore>> largest_set(const SetsClaim& claim) {
  const auto& fields = *claim.finding->value.get<Fields>();
  const auto* members = fields.contains("members") ? fields.at("members").get<List>() : nullptr;
  if (!members || members->size() < 2) return std::nullopt;
  std::set<std::int64_t> lines;
  for (const auto& member : *members) {
    if (const auto* offset = member.get<Number>()) lines.insert(static_cast<std::int64_t>(offset->number) / claim.line_bytes);
  }
  const auto set_of = [lines](std::int64_t line) { return lines.contains(line) ? 0 : model::kNoSet; };
  model::SetHypothesis one{"the largest set", claim.line_bytes, 1, set_of, 0};
  model::SetScore score;
  score.sizes = {lines.size() - 1};  // members are one more than it has ways
  return std::pair(std::move(one), std::move(score));
}

/// Whether a line is read at several addresses: what one of them brought in, another finds, so that some of them never miss.
bool reads_lines_again(const model::Footprint& footprint, const model::Walks& walks, std::int64_t line_bytes) {
  std::set<std::int64_t> lines;
  for (const auto address : footprint.addresses) lines.insert(walks.offsets[address] / line_bytes);
  return lines.size() < footprint.addresses.size();
}

/// Whether the sets are several, and a function of the address chooses them: which lines share one, then more walks say than theirs.
bool of_a_function(const SetsClaim& claim) {
  const auto& fields = *claim.finding->value.get<Fields>();
  const auto mapping = fields.find("mapping");
  const auto* word = mapping == fields.end() ? nullptr : mapping->second.get<std::string>();
  return word && (*word == "bits" || *word == "xor" || *word == "modulo");
}

/// Whether groups of lines were found to have turns in a set of the claim. As one set, they predict launches that they were not found in;
/// which lines miss in a few launches is then no sign of several sets, for only so many groups have their turn.
bool takes_turns(const SetsClaim& claim, const compiler::Program& program, const Findings& findings) {
  for (const auto& stage : program.stages) {
    const bool reads = std::any_of(stage.reads.begin(), stage.reads.end(), [&](const compiler::StageInput& read) {
      return program.stages[read.stage].name + "." + read.finding == claim.id;
    });
    for (const auto& question : stage.finds) {
      const auto* finding = reads && question.analysis == "replacement" ? findings.find(question.id) : nullptr;
      const auto* fields = finding ? finding->value.get<Fields>() : nullptr;
      const auto* name = fields && fields->contains("name") ? fields->at("name").get<std::string>() : nullptr;
      if (name && *name == "turns") return true;
    }
  }
  return false;
}

/// Withdraws sets of which later walks show that their lines do not share one.
void check_members(const std::vector<SetsClaim>& claims, const compiler::Program& program, const Findings& findings,
                   const MeasuredStages& measured, model::WalksByStage& all, const compiler::Scope& scope) {
  for (const auto& claim : claims) {
    const auto set = largest_set(claim);
    if (!set || takes_turns(claim, program, findings)) continue;
    auto walks = all.of(*claim.stage, number_of(*claim.question, "above", measured.names_of(*claim.stage, scope)));
    std::erase_if(walks.footprints, [&](const auto& footprint) { return reads_lines_again(footprint, walks, claim.line_bytes); });
    const auto several = model::uneven_set(set->first, set->second, walks, of_a_function(claim));
    if (!several) continue;
    claim.finding->withdraw(model::several_sets(*several, walks));
  }
}

/// Lines of this length that a footprint visits, at least, wherever they begin: no two of these addresses lie in one.
double fewest_lines(const model::Footprint& footprint, const model::Walks& walks, std::int64_t line_bytes) {
  std::set<std::int64_t> offsets;
  for (const auto address : footprint.addresses) offsets.insert(walks.offsets[address]);
  work(footprint.addresses.size());
  double lines = 0;
  for (auto at = offsets.begin(); at != offsets.end(); at = offsets.lower_bound(*at + line_bytes)) ++lines;
  return lines;
}

/// Withdraws sets where more lines than they hold together stay in. Walks of more than twice as many are of other levels, whose hits may
/// pass for theirs.
void check_room(const std::vector<SetsClaim>& claims, const MeasuredStages& measured, model::WalksByStage& all, const compiler::Scope& scope) {
  for (const auto& claim : claims) {
    const auto& walks = all.of(*claim.stage, number_of(*claim.question, "above", measured.names_of(*claim.stage, scope)));
    for (const auto& footprint : walks.footprints) {
      if (!footprint.stays_in()) continue;
      const auto lines = fewest_lines(footprint, walks, claim.line_bytes);
      if (lines <= claim.lines || lines > 2 * claim.lines) continue;
      claim.finding->withdraw(fmt::format("the walk of {} visits {:g} lines that stay in, and these sets hold {:g} together: others have room; "
                                          "a walk whose addresses differ in more bits would decide", footprint.where, lines, claim.lines));
      break;
    }
  }
}

/// Withdraws lengths of lines that the walks do not bear out.
void check_lines(const MeasuredStages& measured, model::WalksByStage& walks, const compiler::Scope& outer, Findings& findings) {
  for (const auto& own : measured.all()) {
    const auto scope = names_in(*own.table, outer);
    for (const auto& question : own.stage->finds) {
      if (question.analysis != "first_flat" || question.arguments.empty()) continue;
      const auto& data = question.arguments.front();
      const auto* call = miss_call(*own.stage, *data.value);
      if (!call || !data.over || data.over->kind != compiler::Formula::Kind::Name) continue;
      auto* finding = findings.find(question.id);
      const auto* value = finding ? finding->value.get<Number>() : nullptr;
      if (!value || value->dimension != kBytes || !finding->interval) continue;
      const auto kept = kept_points(question, own, scope);  // none: parts of the points' records told it, so all points have a say
      std::optional<records::Table> some;
      const auto& asked = data.where && kept ? some.emplace(points_kept(*own.table, *kept)) : *own.table;
      const auto why = no_line(own, asked, *call, data.over->text, *finding->interval, walks, scope);
      if (!why.empty()) finding->withdraw(why);
    }
  }
}

/// The claims that a look at other walks may withdraw, unless it comes to its end.
void withdraw_unchecked(const compiler::Program& program, const Findings& findings) {
  for (const auto& stage : program.stages) {
    for (const auto& question : stage.finds) {
      const bool looked_at = question.analysis == "last_flat" || question.analysis == "first_flat" || question.analysis == "cache_sets";
      auto* finding = looked_at ? findings.find(question.id) : nullptr;
      if (finding) finding->withdraw("it was not compared with the file's other walks: " + Budget::exceeded({}).message + "; `gexp infer` does it from the records");
    }
  }
}

/// The second visits of the tables that tell a stage's fastest level, gathered once for all stages of a launch.
class SecondVisitsByStage {
 public:
  explicit SecondVisitsByStage(const MeasuredStages& measured) : measured_(measured) {}
  const SecondVisits& of(const MeasuredStages::Measured& own) {
    // A clock that drifts is brought to one pace within its stage alone.
    auto tables = own.records().drift() > 0 ? std::vector<const records::Table*>{&own.records().table()} : measured_.of_same_levels(*own.stage);
    const auto made = std::find_if(made_.begin(), made_.end(), [&](const auto& each) { return each.tables() == tables; });
    return made == made_.end() ? made_.emplace_back(std::move(tables)) : *made;
  }

 private:
  const MeasuredStages& measured_;
  std::deque<SecondVisits> made_;
};

/// Why what is found by these points, as hits of the fastest level, is of one behind it; empty where it may be of that one.
std::string behind_another(const MeasuredStages::Measured& own, const std::vector<const records::Point*>& points, SecondVisitsByStage& second) {
  const auto range = miss_range(own.records().table(), own.records().classes(), std::nullopt);
  if (!range) return {};
  const auto faster = faster_level(points, *range, second.of(own));
  if (!faster) return {};
  return fmt::format("what seems to hit takes {:.1f} cycles longer than a second visit right after it, in the same sectors: "
                     "a faster level answers that one, and holds less than any of these walks; a sweep that begins lower would decide", faster->ticks);
}

/// Withdraws lines, sets and policies that were told as those of the fastest level, where one behind it answers.
void check_levels(const MeasuredStages& measured, SecondVisitsByStage& second, const compiler::Scope& outer, Findings& findings) {
  for (const auto& own : measured.all()) {
    const auto scope = names_in(*own.table, outer);
    std::vector<const records::Point*> points;
    for (const auto& point : own.table->points) points.push_back(&point);
    std::optional<std::string> why;
    for (const auto& question : own.stage->finds) {
      const auto& asked = question.analysis;
      auto* finding = asked == "first_flat" || asked == "cache_sets" || asked == "replacement" ? findings.find(question.id) : nullptr;
      if (!finding || question.arguments.empty() || number_of(question, "above", scope)) continue;
      const auto* call = asked == "first_flat" ? miss_call(*own.stage, *question.arguments.front().value) : nullptr;
      if (asked == "first_flat" && (!call || slower_than(*call, scope))) continue;
      if (!why) why = behind_another(own, points, second);
      if (!why->empty()) finding->withdraw(*why);
    }
  }
}

/// A size that is another level's: lines and sets that were told by walks over as much are of that level, too.
void withdraw_same_level(const SizeClaim& claim, const std::string& why, const compiler::Program& program, const MeasuredStages& measured, Findings& findings) {
  for (const auto* own : measured.of_same_access(*claim.stage)) {
    if (!reads(*own->stage, claim.question->id, program)) continue;
    for (const auto& question : own->stage->finds) {
      auto* finding = question.analysis == "first_flat" || question.analysis == "cache_sets" ? findings.find(question.id) : nullptr;
      if (finding) finding->withdraw(fmt::format("it was told by walks over `{}`, and that is withdrawn: {}", claim.question->id, why));
    }
  }
}

void compare_claims(const compiler::Program& program, const MeasuredStages& measured, const compiler::Scope& scope, Findings& findings) {
  auto sets = sets_claims(program, measured, scope, findings);
  model::WalksByStage walks(measured);
  SecondVisitsByStage second(measured);
  for (const auto& claim : size_claims(program, measured, scope, findings)) {
    const auto grown = sets_grown_from(claim, sets, program, measured);
    const auto told = told_misses(claim);
    auto why = claim.slower_than ? std::string() : behind_another(*claim.measured, claim.fits, second);
    if (why.empty()) why = other_hits(claim, told);
    if (!why.empty()) withdraw_same_level(claim, why, program, measured, findings);
    if (why.empty()) why = contradiction(claim, told, program, measured, walks, findings, !grown.empty());
    if (why.empty() && claim.spans) why = uneven_sets(claim, grown);
    if (why.empty() && claim.spans) why = uneven_open_sets(claim, program, measured, scope, findings.all);
    if (!why.empty()) claim.finding->withdraw(why);
    else count_units(claim, told);
  }
  std::erase_if(sets, [](const SetsClaim& claim) { return claim.finding->status != Finding::Status::Found; });
  check_lines(measured, walks, scope, findings);
  check_members(sets, program, findings, measured, walks, scope);
  check_room(sets, measured, walks, scope);
  check_levels(measured, second, scope, findings);
  replay_caches(program, measured, scope, findings);
}

}  // namespace

void reconcile(const compiler::Program& program, const MeasuredStages& measured, const compiler::Scope& scope, std::vector<Finding>& all) {
  Findings findings{all};
  std::set<std::string> found_before;
  for (const auto& finding : all) {
    if (finding.status == Finding::Status::Found) found_before.insert(finding.id);
  }
  const auto refusals = Budget::refusals();
  try {
    for (const auto& part : measured.by_setup(scope)) compare_claims(program, part, scope, findings);
  } catch (const CutShort&) {}  // the budget has counted it
  if (Budget::refusals() != refusals) withdraw_unchecked(program, findings);
  combine_again(program, scope, all);
  check_readings(program, found_before, findings);
  combine_again(program, scope, all);
}

}  // namespace gexp::infer
