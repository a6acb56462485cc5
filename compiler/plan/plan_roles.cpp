// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/lower/ops.h"
#include "compiler/plan/calibrate.h"
#include "compiler/plan/point_planner.h"
#include "compiler/plan/residency.h"
#include "lang/base/tpc.h"

// A launch of several stages, or of one whose threads use flags: who runs where, and the one kernel of them all.
namespace gexp::compiler {
namespace {

constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kMostThreads = 1024;  // of a block, on every device
constexpr std::uint32_t kMostBlocks = 1u << 16;  // limit: of a stage; no device holds so many at once

std::uint32_t warps_of(std::uint32_t threads) { return (threads + kWarp - 1) / kWarp; }
std::uint32_t padded(std::uint64_t bytes) { return static_cast<std::uint32_t>((bytes + 15) / 16 * 16); }

std::vector<std::string> flags_of(const Program& program, const Stage& leader) {
  std::vector<std::string> flags;
  const auto add = [&](const Stage& stage) {
    for_each_op(stage, [&](const Op& op) {
      if (!op.flag.empty() && std::find(flags.begin(), flags.end(), op.flag) == flags.end()) flags.push_back(op.flag);
    });
  };
  add(leader);
  for (const auto beside : leader.beside) add(program.stages[beside]);
  return flags;
}

}  // namespace

std::optional<Diagnostic> PointPlanner::refuse_of_roles() const {
  const auto no = [&](Span span, const std::string& what, const std::string& hint) { return error("E0437", span, what, hint); };
  const auto& launch = stage_.launch;
  if (only_kernel(stage_.timed) || only_kernel(stage_.warm)) return no(stage_.span, "a kernel of a file is a launch of its own, with no stage beside it", "write its part as operations");
  if (stage_.timing == Timing::Wall) return no(stage_.span, "`wall` times a whole launch, and this stage is a part of one", "time `each` or `total`");
  if (stage_.repeat.until) return no(stage_.repeat.until->span, "a launch of several stages is repeated a fixed number of times", "write `repeat 5`");
  if (launch.cluster) return no(launch.cluster->span, "clusters are not placed among other blocks", "leave `cluster` out");
  if (launch.sms) return no(launch.sms->span, "`sms` repeats a block on several multiprocessors, and this one has others beside it", "choose one: `sm 3`");
  if (launch.registers) return no(launch.registers->span, "the threads of a launch have as many registers each, whichever stage they run", "leave `registers` out");
  if (plan_.block > kWarp && plan_.block % kWarp != 0) return no(launch.block->span, fmt::format("{} threads are no whole number of warps", plan_.block), "take a multiple of 32, or at most 32");
  if (!stage_.leader) {
    if (!launch.place.empty() && launch.place != "any") return no(launch.span, fmt::format("`place {}` says where a stage is that runs beside another", launch.place), "write it there; `sm N` chooses a multiprocessor");
    return std::nullopt;
  }
  for (const auto& clause : {launch.smem, launch.persm, launch.carveout, launch.bank, launch.limit}) {
    if (clause) return no(clause->span, "this clause is said once for a launch, by its first stage", fmt::format("move it into stage `{}`", program_.stages[*stage_.leader].name));
  }
  return std::nullopt;
}

std::optional<Diagnostic> PointPlanner::where() {
  const auto& launch = stage_.launch;
  auto& role = plan_.role;
  role.where = launch.sm                      ? Where::Sm
               : launch.place == "sm"         ? Where::Same
               : launch.place == "other_sm"   ? Where::Other
               : launch.place == "tpc"        ? Where::SameTpc
               : launch.place == "other_tpc"  ? Where::OtherTpc
               : launch.place == "gpc"        ? Where::SameGpc
               : launch.place == "block"      ? Where::Block
                                              : Where::Any;
  const auto* facts = program_.device.get<Fields>();
  const auto compute = facts ? facts->find("compute") : Fields::const_iterator{};
  const auto* known = facts && compute != facts->end() ? compute->second.get<Number>() : nullptr;
  if (known) role.per_tpc = static_cast<std::uint32_t>(std::max(1, multiprocessors_of_tpc(static_cast<int>(known->number))));
  static constexpr const char* kConditions[] = {"true", "sm == my_sm", "sm == leader", "sm != leader", "sm / {0} == leader / {0} && sm != leader", "sm / {0} != leader / {0}",
                                               "cluster == home && sm != leader", ""};
  role.text.where = fmt::format(fmt::runtime(kConditions[static_cast<int>(role.where)]), role.per_tpc);
  role.text.in_gpc = role.where == Where::SameGpc;
  role.text.relative = role.text.where.find("leader") != std::string::npos;
  plan_.sms = 0;
  return std::nullopt;
}

std::optional<Diagnostic> PointPlanner::roles(const BodyPlace& body) {
  if (auto problem = refuse_of_roles()) return problem;
  const auto& leader = stage_.leader ? program_.stages[*stage_.leader] : stage_;
  plan_.flags = flags_of(program_, leader);
  if (auto problem = where()) return problem;
  auto place = body;
  place.role = true, place.flags = &plan_.flags;
  auto made = body_text(place, chased_, plan_.body);
  if (!made) return made.error();
  plan_.role.text.body = std::move(*made);
  plan_.role.text.timing = stage_.timing;
  plan_.role.text.warps = plan_.block > kWarp;
  plan_.role.window = static_cast<std::uint32_t>(kTraceBytes / 2) / warps_of(plan_.block);
  if (stage_.timing == Timing::Each && plan_.body.accesses > plan_.role.window) {
    return error("E0437", stage_.span, fmt::format("{} accesses are recorded of a warp, and in a launch of several stages there is room for {}", plan_.body.accesses, plan_.role.window),
                 "chase fewer `steps`, or time the `total`");
  }
  if (stage_.leader) return std::nullopt;
  for (const auto index : stage_.beside) {
    bool skipped = false;
    auto beside = PointPlanner(program_, program_.stages[index], plan_.at, outer_).run(skipped);
    if (!beside) return beside.error();
    plan_.beside.push_back(std::move(*beside));
  }
  if (auto problem = lay_out()) return problem;
  if (auto problem = all_resident()) return problem;
  std::vector<const RoleText*> texts{&plan_.role.text};
  for (const auto& beside : plan_.beside) texts.push_back(&beside.role.text);
  plan_.shape = roles_shape(texts, plan_.flags.size(), stage_.timed.empty() ? stage_.span : stage_.timed[0].span);
  return std::nullopt;
}

std::optional<Diagnostic> PointPlanner::lay_out() {
  std::vector<PointPlan*> all{&plan_};
  for (auto& beside : plan_.beside) all.push_back(&beside);
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& part = *all[i];
    const auto& stage = i == 0 ? stage_ : program_.stages[stage_.beside[i - 1]];
    auto& role = part.role;
    const bool each = part.timing == Timing::Each, joins = role.where == Where::Block;
    if (part.grid > kMostBlocks) return error("E0438", stage.launch.span, fmt::format("{} blocks begin together, and no device holds so many at once", part.grid), "take fewer: those that wait for others must all be there");
    if (role.text.relative && plan_.grid != 1) return error("E0437", stage.launch.span, fmt::format("stage `{}` has {} blocks: where another is relative to them cannot be said", stage_.name, plan_.grid), "give it one block, or let `place` be `any`");
    if (role.text.in_gpc && part.grid >= kGpcCluster) return error("E0438", stage.launch.span, fmt::format("{} blocks are to run in the GPC of the first stage's block, and a cluster has {} others", part.grid, kGpcCluster - 1), "take fewer");
    if (role.text.in_gpc) plan_.cluster = kGpcCluster;
    if (joins && stage.launch.grid) return error("E0437", stage.launch.grid->span, "`place block` adds warps to the blocks of the first stage, as many as there are", "leave `grid` out");
    if (joins) part.grid = plan_.grid;
    if (joins && each && part.grid != 1) return error("E0435", stage.launch.span, "`timed … each` records the accesses of one block", "time the `total` of each warp");
    for (const auto& links : part.links) {
      for (std::size_t other = 0; other < i; ++other) {
        for (const auto& known : all[other]->links) {
          if (known.memory != links.memory || (known.width == links.width && known.offsets == links.offsets && known.targets == links.targets)) continue;
          return error("E0437", stage.span, fmt::format("`{}` would hold the links of two rings: that of this stage and that of another in its launch", links.memory), "chase in a memory of its own");
        }
      }
    }
    const auto own = padded(part.body.shared_bytes) + (each ? static_cast<std::uint32_t>(kTraceBytes) : 0);
    role.first_thread = joins ? plan_.block_threads : 0;
    role.shared_at = joins ? plan_.block_shared : 0;
    role.records_at = plan_.record_words;
    const auto threads = role.first_thread + warps_of(part.block) * kWarp;
    if (threads > kMostThreads) return error("E0437", stage.launch.span, fmt::format("a block would have {} threads, and {} are the most", threads, kMostThreads), "take fewer, or blocks of its own: `place sm`");
    // The first stage's blocks grow by what joins them; others stand alone.
    if (i == 0 || joins) plan_.block_threads = std::max(plan_.block_threads, threads), plan_.block_shared = std::max(plan_.block_shared, role.shared_at + own);
    plan_.record_words += part.grid * warps_of(part.block) * static_cast<std::uint32_t>(kWarpWords) + (each ? warps_of(part.block) * role.window : 0);
    if (!joins) plan_.claimed += part.grid;
    plan_.together += part.grid;
  }
  for (const auto* part : all) {
    if (part->role.where == Where::Block) continue;
    plan_.block_threads = std::max(plan_.block_threads, part == &plan_ && all.size() == 1 ? part->block : warps_of(part->block) * kWarp);
    plan_.block_shared = std::max(plan_.block_shared, padded(part->body.shared_bytes) + (part->timing == Timing::Each ? static_cast<std::uint32_t>(kTraceBytes) : 0));
  }
  return std::nullopt;
}

std::optional<Diagnostic> PointPlanner::all_resident() const {
  const auto* device = program_.device.get<Fields>();
  if (!device) return std::nullopt;  // told when a device is chosen
  const auto sms = device_fact(*device, "sms"), compute = device_fact(*device, "compute");
  if (!sms || !compute) return std::nullopt;
  const auto limit = per_sm(*compute);
  double most = std::min(limit.blocks, std::floor(limit.threads / plan_.block_threads));
  const double own = static_cast<double>(plan_.block_shared + plan_.smem) + reserved_shared(*compute);
  if (const auto room = shared_per_sm(*device); room && own > 0) most = std::min(most, std::floor(*room / own));
  double here = 0;  // on the first block's multiprocessor
  for (const auto& beside : plan_.beside) here += beside.role.where == Where::Same ? beside.grid : 0;
  if (plan_.claimed <= most * *sms && (here == 0 || here + 1 <= most)) return std::nullopt;
  return error("E0438", stage_.launch.span,
               here + 1 > most && here > 0 ? fmt::format("{} blocks are to run on one multiprocessor at once, and it holds {}", here + 1, most)
                                           : fmt::format("{} blocks begin together, and the device holds {} at once: {} on each of {} multiprocessors", plan_.claimed, most * *sms, most, *sms),
               "take fewer or smaller blocks: those that wait for others must all be there");
}

}  // namespace gexp::compiler
