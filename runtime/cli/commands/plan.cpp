// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/memory/memory_space.h"
#include "compiler/plan/estimate.h"
#include "runtime/cli/json.h"
#include "runtime/cli/keep.h"
#include "runtime/cli/output.h"
#include "runtime/cli/run.h"
#include "runtime/cli/sandbox.h"
#include "runtime/cli/saved.h"
#include "runtime/cli/shared_options.h"
#include "runtime/device/facts.h"
#include "runtime/measure/session.h"
#include "runtime/measure/speed_estimate.h"

namespace gexp::cli {
namespace {

using compiler::Estimate;
using compiler::StageEstimate;

constexpr std::size_t kWidest = 110;  // a longer sweep is cut; the file has it whole

std::string seconds(double value) {
  if (std::isinf(value)) return "?";
  if (value < 0.0995) return value < 0.00995 ? fmt::format("{:.2g} ms", value * 1e3) : fmt::format("{:.0f} ms", value * 1e3);
  if (value < 600) return value < 9.5 ? fmt::format("{:.2g} s", value) : fmt::format("{:.0f} s", value);
  if (value < 36'000) return fmt::format("{:.0f} min", value / 60);
  return fmt::format("{:.0f} h", value / 3600);
}

std::string whole(double value) { return fmt::format("{:.0f}", value); }

std::string range(double least, double most) {
  if (least == most) return whole(least);
  return std::isinf(most) ? fmt::format("at least {:.0f}", least) : fmt::format("{:.0f}..{:.0f}", least, most);
}

std::string points(const StageEstimate& stage) {
  if (!stage.points) return "?";
  const auto& count = *stage.points;
  auto text = (count.about ? "about " : "") + range(count.least, count.most);
  if (stage.skipped.value_or(0) > 0) text += fmt::format(" ({}{:.0f} skipped)", stage.skipped_about ? "about " : "", *stage.skipped);
  else if (!stage.skipped) text += " (some skipped)";
  return text;
}

std::string repeats(const compiler::Repeat& repeat) { return range(static_cast<double>(repeat.at_least), static_cast<double>(repeat.at_most)); }

std::string time(const compiler::Interval& interval) {
  if (interval.most == 0) return "none";
  if (std::isinf(interval.most)) return interval.least > 0 ? fmt::format("at least {}", seconds(interval.least)) : "?";
  return fmt::format("{} to {}", seconds(interval.least), seconds(interval.most));
}

/// Columns as wide as their widest cell.
std::string table(const std::vector<std::vector<std::string>>& rows, const std::vector<std::vector<std::string>>& below) {
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line = " ";
    for (std::size_t i = 0; i < widths.size(); ++i) line += fmt::format(" {:<{}} ", rows[r][i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    for (const auto& more : below[r]) text += fmt::format("      {}\n", more.size() <= kWidest ? more : more.substr(0, kWidest - 3) + "...");
  }
  return text;
}

/// A statement on one line, without what is behind a `#`.
std::string one_line(std::string_view text) {
  std::string line;
  bool comment = false;
  for (const char c : text) {
    comment = c == '\n' ? false : comment || c == '#';
    const char shown = c == '\n' || c == '\t' || c == '\r' ? ' ' : c;
    if (!comment && (shown != ' ' || (!line.empty() && line.back() != ' '))) line += shown;
  }
  return line;
}

/// Without a compiler nothing can run, and nothing be kept: then the plan says nothing of it.
std::optional<measure::Foreseen> foresee_plan(const Common& common, const Loaded& loaded, const device::DeviceInfo& device) {
  if (!kept_stages(common)) return std::nullopt;
  const auto compiler = jit::Compiler::open();
  if (!compiler) return std::nullopt;
  result::RunResult head;
  head.experiment = loaded.program.experiment;
  head.device = device;
  head.seed = common.seed.value_or(loaded.program.seed);
  head.gexp_version = GEXP_VERSION;
  head.nvrtc = compiler->build();
  return foresee(common, loaded.program, head);
}

std::string foreseen_text(const measure::StageForeseen& stage, const device::DeviceInfo& device) {
  if (!stage.kept) return "measured: " + stage.why;
  return result::kept_text(*stage.kept, device.kind == "simulated", now());
}

std::string text(const Loaded& loaded, const device::DeviceInfo& device, const Estimate& estimate, const std::optional<measure::Foreseen>& foreseen) {
  const auto& program = loaded.program;
  auto out = fmt::format("PLAN of {} on {} ({}); nothing is run\n\n", program.experiment, device.id, device.name);
  std::vector<std::vector<std::string>> rows{{"stage", "points", "repeat", "accesses a run", "kernels", "time, estimated"}}, below{{}};
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const auto& stage = program.stages[i];
    const auto& made = estimate.stages[i];
    rows.push_back({stage.name, points(made), repeats(stage.repeat), made.accesses ? range(made.accesses->least, made.accesses->most) : "?",
                    made.kernels ? std::to_string(*made.kernels) : "?", time(made.seconds)});
    below.emplace_back();
    for (const auto& sweep : stage.sweeps) below.back().push_back(one_line(loaded.source.slice(sweep.span)));
    if (foreseen) below.back().push_back(foreseen_text(foreseen->stages[i], device));
    if (!made.needs.empty()) below.back().push_back(fmt::format("depends on {}", fmt::join(made.needs, ", ")));
  }
  out += table(rows, below) + "\nmemories\n";
  rows.clear();
  const auto scope = compiler::file_scope(program);
  for (const auto& memory : program.memories) {
    const auto bytes = compiler::memory_bytes(memory, *scope);
    rows.push_back({memory.name, std::string(memory.space->word), show(static_cast<double>(*bytes), kBytes)});
  }
  if (!rows.empty()) out += table(rows, std::vector<std::vector<std::string>>(rows.size()));
  out += fmt::format("\nmemory  {} of {}\n", show(estimate.memory + (estimate.budget_memory ? estimate.host_memory + estimate.peer_memory : 0), kBytes),
                     estimate.budget_memory ? "a budget of " + show(*estimate.budget_memory, kBytes)
                                            : fmt::format("the {} of the device ({:.0f} % at most)", show(static_cast<double>(device.memory_bytes), kBytes), 100 * measure::kDefaultMemoryShare));
  if (const auto bytes = estimate.host_memory + estimate.managed_memory; bytes > 0)
    out += fmt::format("host    {} of this machine's memory ({:.0f} % of what is free at most)\n", show(bytes, kBytes), 100 * measure::kHostMemoryShare);
  if (estimate.peer_memory > 0) out += fmt::format("peer    {} of another GPU's memory\n", show(estimate.peer_memory, kBytes));
  const bool open = std::isinf(estimate.seconds.most);
  out += fmt::format("time    {} by estimate{}, of {}\n", time(estimate.seconds), open ? " (more is known when findings are)" : "",
                     estimate.budget_seconds ? "a budget of " + seconds(*estimate.budget_seconds) : fmt::format("{} without a budget", seconds(measure::kDefaultTimeLimit)));
  return out + fmt::format("kernels {}\n", estimate.kernels);
}

Json number(double value) { return std::isinf(value) ? Json(nullptr) : Json(value); }

Json json(const compiler::Program& program, const device::DeviceInfo& device, const Estimate& estimate, const std::optional<measure::Foreseen>& foreseen,
          const Diagnostics& needs) {
  Json stages = Json::array(), memories = Json::array(), refused = Json::array();
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const auto& stage = program.stages[i];
    const auto& made = estimate.stages[i];
    Json one{{"name", stage.name}, {"depends_on", made.needs}, {"repeat", Json::array({stage.repeat.at_least, stage.repeat.at_most})}};
    one["points"] = made.points ? Json{{"least", made.points->least}, {"most", number(made.points->most)}, {"about", made.points->about}} : Json(nullptr);
    one["skipped"] = made.skipped ? Json(*made.skipped) : Json(nullptr);
    one["accesses_a_run"] = made.accesses ? Json::array({made.accesses->least, made.accesses->most}) : Json(nullptr);
    one["kernels"] = made.kernels ? Json(*made.kernels) : Json(nullptr);
    one["seconds"] = Json::array({made.seconds.least, number(made.seconds.most)});
    if (foreseen) {
      const auto& [kept, why] = foreseen->stages[i];
      one["kept"] = kept ? Json{{"result", kept->result}, {"date", kept->date}} : Json(nullptr);
      one["measured_because"] = kept ? Json(nullptr) : Json(why);
    }
    stages.push_back(std::move(one));
  }
  const auto scope = compiler::file_scope(program);
  for (const auto& memory : program.memories) {
    memories.push_back({{"name", memory.name}, {"space", std::string(memory.space->word)}, {"bytes", *compiler::memory_bytes(memory, *scope)}});
  }
  for (const auto& problem : needs.sorted()) refused.push_back({{"code", problem.code}, {"message", problem.message}});
  const auto budget = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  return {{"schema", "gexp.plan/1"}, {"experiment", program.experiment}, {"device", device.id}, {"estimate", true}, {"stages", stages}, {"kernels", estimate.kernels},
          {"memories", memories}, {"memory_bytes", estimate.memory}, {"host_memory_bytes", estimate.host_memory + estimate.managed_memory}, {"peer_memory_bytes", estimate.peer_memory}, {"memory_budget", budget(estimate.budget_memory)},
          {"seconds", Json::array({estimate.seconds.least, number(estimate.seconds.most)})}, {"time_budget", budget(estimate.budget_seconds)}, {"refused", refused}};
}

}  // namespace

void check_estimate(const Common& common, const compiler::Program& program, const result::RunResult& head, Diagnostics& diagnostics) {
  const auto pace = measure::speed_estimate(head.device);
  auto estimate = compiler::estimate(program, pace);
  if (!estimate) return diagnostics.add(estimate.error());
  if (common.time_limit) return;  // the user's word
  auto accepted = compiler::accept_time(program, *estimate);
  if (accepted) return;
  // Only then is it worth a look what the run would keep.
  if (const auto foreseen = foresee(common, program, head)) {
    estimate = compiler::estimate(program, pace, foreseen->known);
    if (!estimate) return diagnostics.add(estimate.error());
    accepted = compiler::accept_time(program, *estimate);
  }
  if (!accepted) diagnostics.add(accepted.error());
}

namespace {

int plan(const Common& common, bool dot) {
  int exit = kDone;
  auto loaded = load_spec(common, exit, dot ? std::string(compiler::pass_names().back()) : "");
  if (!loaded) return exit;
  if (dot) {
    print_out("{}", loaded->program.dot);
    return kDone;
  }
  auto backend = open_device(common.device, common.seed.value_or(loaded->program.seed));
  if (!backend) {
    print(backend.error(), nullptr);
    return kEnvironment;
  }
  const auto& device = (*backend)->device();
  if (device.kind == "simulated") confine_to({jit::cache_folder(), written_by_reading("", common.store)});
  loaded->program.device = device::device_facts(device);
  const auto foreseen = foresee_plan(common, *loaded, device);
  const auto estimate = compiler::estimate(loaded->program, measure::speed_estimate(device), foreseen ? foreseen->known : compiler::KnownStages{});
  if (!estimate) {
    print(estimate.error(), &loaded->source);
    return kSpec;
  }
  Diagnostics needs;
  measure::check_requirements(loaded->program, **backend, needs);
  if (auto accepted = compiler::accept_time(loaded->program, *estimate); !accepted && !needs.has_errors()) needs.add(accepted.error());
  if (common.json) print_out("{}\n", json(loaded->program, device, *estimate, foreseen, needs).text());
  else print_out("{}", text(*loaded, device, *estimate, foreseen));
  if (!needs.has_errors()) return kDone;
  for (const auto& problem : needs.sorted()) print(problem, &loaded->source);
  return needs.sorted().front().code == "E0501" ? kEnvironment : kSpec;
}

class Plan final : public Command {
 public:
  void declare(Options& options) override {
    add_spec(options, common_);
    add_device(options, common_, kOneDevice);
    options.add("--seed", &common_.seed, "seed of a simulated device, instead of the spec's");
    add_fresh(options, common_, "as if no stage were kept");
    add_store(options, common_.store);
    options.add("--dot", &dot_, "the graph of stages, kernels and data, for Graphviz");
    options.add("--json", &common_.json, "as JSON").excludes("--dot");
  }
  [[nodiscard]] std::string misuse() const override { return misuse_of_spec(common_); }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return dot_ ? std::optional(std::vector<std::string>{}) : std::nullopt; }
  int run() override { return plan(common_, dot_); }

 private:
  Common common_;
  bool dot_ = false;
};

}  // namespace

std::unique_ptr<Command> new_plan() { return std::make_unique<Plan>(); }

}  // namespace gexp::cli
