// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "runtime/device/facts.h"

namespace gexp::measure {
namespace {

using compiler::Formula;

/// The findings that a condition reads, as "stage.name".
void findings_of(const Formula& formula, std::vector<std::string>& ids) {
  if (formula.kind == Formula::Kind::Field) {
    const Formula* inner = &formula;
    while (inner->kind == Formula::Kind::Field && inner->operands[0]->kind == Formula::Kind::Field) inner = inner->operands[0].get();
    if (inner->operands[0]->kind == Formula::Kind::Name) ids.push_back(inner->operands[0]->text + "." + inner->text);
  }
  for (const auto& operand : formula.operands) findings_of(*operand, ids);
  for (const auto& argument : formula.arguments) findings_of(*argument.value, ids);
  for (const auto& loop : formula.loops) {
    for (const auto& part : {loop.from, loop.to, loop.step}) {
      if (part) findings_of(*part, ids);
    }
  }
}

Verdict verdict_of(const compiler::Expectation& expectation, const result::Judgement& judgement, const result::RunResult& result) {
  Verdict verdict;
  std::vector<std::string> ids;
  findings_of(*expectation.condition, ids);
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
  if (verdict.kind == Verdict::Kind::Wrong) verdict.why = judgement.observed;
  if (verdict.kind != Verdict::Kind::Abstained) return verdict;
  verdict.confidence = 0;
  verdict.why = missing ? fmt::format("{}: {}", missing->id, missing->why) : judgement.observed;
  if (result.end != result::RunResult::End::Complete) verdict.why = fmt::format("{}; {}", word(result.end), verdict.why);
  return verdict;
}

Result<VerifiedDevice> verify_one(const compiler::Program& program, Kernels& kernels, const DeviceSource& source, const SessionOptions& options,
                                  std::uint64_t number, bool& interrupted) {
  auto device = source(number);
  if (!device) return device.error();
  auto own = program;
  own.device = device::device_facts(device->backend->device());
  VerifiedDevice verified{number, {}};
  Diagnostics needs;
  check_requirements(own, *device->backend, needs);
  if (needs.has_errors()) {
    for (std::size_t i = 0; i < expectations_of_model(program).size(); ++i) verified.verdicts.push_back({Verdict::Kind::Abstained, 0, needs.sorted().front().message});
    return verified;
  }
  result::RunResult result;
  result.device = device->backend->device();
  result.structure = device->structure;
  Progress silent;
  auto done = run_session(own, *device->backend, kernels, options, silent, result);
  if (!done) return done.error();
  interrupted = result.end == result::RunResult::End::Interrupted;
  const auto of_stages = result.expectations.size() - own.expects.size();
  for (const auto index : expectations_of_model(own)) verified.verdicts.push_back(verdict_of(own.expects[index], result.expectations[of_stages + index], result));
  return verified;
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
  session.jobs = 1;
  const auto work = [&] {
    for (std::size_t i = next++; i < options.devices && !stop; i = next++) {
      bool interrupted = false;
      auto verified = verify_one(program, kernels, source, session, options.first + i, interrupted);
      const std::lock_guard lock(mutex);
      if (!verified || interrupted) stop = true;
      if (!verified && !problem) problem = verified.error();
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
