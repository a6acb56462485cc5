// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "compiler/plan/estimate.h"
#include "runtime/device/facts.h"
#include "runtime/measure/speed_estimate.h"

namespace gexp::measure {
namespace {

using compiler::Formula;

constexpr unsigned kTries = 40;  // variants of a device, before it is given up

/// The findings that a condition reads, as "stage.name".
std::vector<std::string> findings_of(const Formula& condition) {
  auto names = compiler::dotted_names(condition);
  std::erase_if(names, [](const std::string& name) { return name.find('.') == std::string::npos; });
  return names;
}

Verdict verdict_of(const compiler::Expectation& expectation, const result::Judgement& judgement, const result::RunResult& result) {
  Verdict verdict;
  const auto ids = findings_of(*expectation.condition);
  verdict.confidence = 1;
  const infer::Finding* missing = nullptr;
  for (const auto& finding : result.findings) {
    if (std::find(ids.begin(), ids.end(), finding.id) == ids.end()) continue;
    // What was not found did not decide, where something was decided.
    if (finding.status != infer::Finding::Status::Undetermined) verdict.confidence = std::min(verdict.confidence, finding.confidence);
    else if (!missing) missing = &finding;
  }
  using Status = result::Judgement::Status;
  if (judgement.status == Status::Pass || judgement.status == Status::UnexpectedPass) verdict.kind = Verdict::Kind::Right;
  if (judgement.status == Status::Fail || judgement.status == Status::ExpectedFail) verdict.kind = Verdict::Kind::Wrong;
  if (judgement.status == Status::NotHere) verdict.kind = Verdict::Kind::NotHere;
  if (verdict.kind == Verdict::Kind::NotHere) verdict.confidence = 0;
  if (verdict.kind == Verdict::Kind::Wrong) verdict.why = judgement.observed;
  if (verdict.kind != Verdict::Kind::Abstained) return verdict;
  verdict.confidence = 0;
  verdict.why = missing ? fmt::format("{}: {}", missing->id, missing->why) : judgement.observed;
  if (result.end != result::RunResult::End::Complete) verdict.why = fmt::format("{}; {}", word(result.end), verdict.why);
  return verdict;
}

/// The number of the model that a formula names: `model.nc.capacity`.
const Number* truth_of(const Formula& formula, const Value& structure) {
  if (formula.kind == Formula::Kind::Name) return nullptr;
  std::vector<std::string> path;
  const Formula* root = &formula;
  for (; root->kind == Formula::Kind::Field; root = root->operands[0].get()) path.push_back(root->text);
  if (root->kind != Formula::Kind::Name || root->text != "model") return nullptr;
  const Value* value = &structure;
  for (; !path.empty(); path.pop_back()) {
    const auto* fields = value->get<Fields>();
    const auto found = fields ? fields->find(path.back()) : Fields::const_iterator{};
    if (!fields || found == fields->end()) return nullptr;
    value = &found->second;
  }
  return value->get<Number>();
}

/// Findings beside numbers of the model: `capacity.C == model.nc.capacity`, their difference, one `within` of the
/// other.
void intervals_of(const Formula& formula, const result::RunResult& result, std::vector<Verdict::Interval>& into) {
  using Kind = Formula::Kind;
  const bool sides = formula.kind == Kind::Equal || formula.kind == Kind::Subtract || formula.kind == Kind::Within;
  const auto* truth = sides ? truth_of(*formula.operands.back(), result.structure) : nullptr;
  const auto* found = sides ? formula.operands.front().get() : nullptr;
  if (truth && found->kind == Kind::Field && found->operands[0]->kind == Kind::Name) {
    const auto id = found->operands[0]->text + "." + found->text;
    for (const auto& finding : result.findings) {
      if (finding.id == id && finding.status == infer::Finding::Status::Found && finding.interval)
        into.push_back({id, finding.interval->first, finding.interval->second, truth->number});
    }
  }
  for (const auto& operand : formula.operands) intervals_of(*operand, result, into);
  for (const auto& argument : formula.arguments) intervals_of(*argument.value, result, into);
}

/// Whether all that an expectation reads are numbers whose intervals hold the truth.
bool intervals_hold(const compiler::Expectation& expectation, const std::vector<Verdict::Interval>& intervals) {
  const auto ids = findings_of(*expectation.condition);
  return !intervals.empty() &&
         std::all_of(intervals.begin(), intervals.end(), [](const auto& each) { return each.holds(); }) &&
         std::all_of(ids.begin(), ids.end(), [&](const std::string& id) {
           return id.starts_with("model.") ||
                  std::any_of(intervals.begin(), intervals.end(), [&](const auto& each) { return each.finding == id; });
         });
}

/// A claim that was made of no records is wrong, whatever it says.
void judge_of_nothing(const compiler::Expectation& expectation, const result::RunResult& result,
                      const std::vector<std::string>& nothing, Verdict& verdict) {
  const auto ids = findings_of(*expectation.condition);
  for (const auto& finding : result.findings) {
    const auto is = [&](const std::string& id) { return id == finding.id; };
    if (finding.status != infer::Finding::Status::Found || std::none_of(ids.begin(), ids.end(), is) ||
        std::none_of(nothing.begin(), nothing.end(), is))
      continue;
    verdict = {Verdict::Kind::Wrong,
               finding.confidence,
               fmt::format("{} = {}, of no records", finding.id, show(finding.value)),
               {},
               false};
  }
}

struct Attempt {
  std::optional<Diagnostic> refused;  ///< of the spec on this device
  VerifiedDevice verified;
  bool interrupted = false;
};

/// Errors are of the environment.
Result<Attempt> attempt(const Variant& variant, bool mutated, Kernels& kernels, const DeviceSource& source,
                        const SessionOptions& options, std::uint64_t number) {
  Attempt made;
  auto device = source(number);
  if (!device) return device.error();
  auto own = variant.program;
  own.device = device::device_facts(device->backend->device());
  made.verified = {number, {}, variant.text, variant.words};
  Diagnostics needs;
  check_requirements(own, *device->backend, needs);
  if (mutated && !needs.has_errors()) {
    const auto estimate = compiler::estimate(own, speed_estimate(device->backend->device()));
    const auto accepted = estimate ? compiler::accept_time(own, *estimate) : Result<>(estimate.error());
    if (!accepted) needs.add(accepted.error());
  }
  if (needs.has_errors()) {
    made.refused = needs.sorted().front();
    return made;
  }
  result::RunResult result;
  result.device = device->backend->device();
  result.structure = device->structure;
  Progress silent;
  const auto done = run_session(own, *device->backend, kernels, options, silent, result);
  // E01xx to E05xx are of the spec: this one, on this device.
  if (!done && done.error().code < "E06") {
    made.refused = done.error();
    return made;
  }
  if (!done) return done.error();
  made.interrupted = result.end == result::RunResult::End::Interrupted;
  const auto of_stages = result.expectations.size() - own.expects.size();
  for (const auto index : expectations_of_model(own)) {
    auto verdict = verdict_of(own.expects[index], result.expectations[of_stages + index], result);
    intervals_of(*own.expects[index].condition, result, verdict.intervals);
    if (mutated && verdict.kind == Verdict::Kind::Wrong && intervals_hold(own.expects[index], verdict.intervals))
      verdict.kind = Verdict::Kind::Right, verdict.by_interval = true;
    judge_of_nothing(own.expects[index], result, variant.nothing, verdict);
    made.verified.verdicts.push_back(std::move(verdict));
  }
  return made;
}

Result<VerifiedDevice> verify_one(const compiler::Program& program, Kernels& kernels, const DeviceSource& source,
                                  const VerifyOptions& options, const SessionOptions& session, std::uint64_t number,
                                  bool& interrupted) {
  std::string refused = "nothing that was done to it compiles";
  for (unsigned tried = 0; tried < (options.variant ? kTries : 1); ++tried) {
    std::optional<Variant> variant = options.variant ? options.variant(number, tried) : Variant{program, {}, {}, {}};
    if (!variant) continue;
    auto made = attempt(*variant, bool(options.variant), kernels, source, session, number);
    if (!made) return made.error();
    interrupted = made->interrupted;
    if (!made->refused) return std::move(made->verified);
    refused = made->refused->message;
  }
  VerifiedDevice none{number, {}, {}, {}};
  for (std::size_t i = 0; i < expectations_of_model(program).size(); ++i)
    none.verdicts.push_back({Verdict::Kind::Abstained, 0, refused, {}, false});
  return none;
}

}  // namespace

std::vector<std::size_t> expectations_of_model(const compiler::Program& program) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < program.expects.size(); ++i) {
    const auto names = compiler::free_names(*program.expects[i].condition);
    if (std::find(names.begin(), names.end(), "model") != names.end()) indices.push_back(i);
  }
  return indices;
}

Result<Verification> verify(const compiler::Program& program, Kernels& kernels, const DeviceSource& source, const VerifyOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Verification verification;
  for (const auto index : expectations_of_model(program)) verification.expectations.push_back(program.expects[index].text);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::optional<Diagnostic> problem;
  auto session = options.session;
  session.jobs = 1, session.tells_spared = false;
  const auto work = [&, budget = Budget::own()] {
    const Budget one({.threads = 1}, budget);  // the devices are many
    const Budget::Use use(one);
    for (std::size_t i = next++; i < options.devices && !stop; i = next++) {
      bool interrupted = false;
      auto verified = verify_one(program, kernels, source, options, session, options.first + i, interrupted);
      interrupted = interrupted || (Budget::own() && Budget::own()->look() == Budget::End::Interrupted);  // whatever it then says is not so
      const std::lock_guard lock(mutex);
      if (!verified || interrupted) stop = true;
      if (!verified && !interrupted && !problem) problem = verified.error();
      if (!verified || interrupted) continue;
      verification.devices.push_back(std::move(*verified));
      options.progress(verification.devices.size());
    }
  };
  const auto workers = options.session.jobs > 0 ? options.session.jobs : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  if (problem) return std::move(*problem);
  std::sort(verification.devices.begin(), verification.devices.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  verification.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verification;
}

}  // namespace gexp::measure
