// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace gexp::result {
namespace {

/// Seconds since 1970 of "2026-11-22T10:30:00Z"; nullopt: another text.
std::optional<double> seconds_of(const std::string& date) {
  std::tm at{};
  if (std::sscanf(date.c_str(), "%d-%d-%dT%d:%d:%dZ", &at.tm_year, &at.tm_mon, &at.tm_mday, &at.tm_hour, &at.tm_min, &at.tm_sec) != 6) return std::nullopt;
  at.tm_year -= 1900, at.tm_mon -= 1;
  return static_cast<double>(timegm(&at));
}

std::string age_text(double seconds) {
  for (const auto& [size, word] : {std::pair{86400.0, "day"}, {3600.0, "hour"}, {60.0, "minute"}}) {
    if (seconds < size) continue;
    const auto whole = static_cast<long>(seconds / size);
    return fmt::format("{} {}{} old", whole, word, whole == 1 ? "" : "s");
  }
  return "less than a minute old";
}

}  // namespace

std::string kept_text(const KeptFrom& kept, bool simulated, const std::string& date) {
  const auto text = fmt::format("kept from result {}", kept.result);
  const auto then = seconds_of(kept.date), now = seconds_of(date);
  if (simulated || !then || !now) return text;  // a model does not age
  return fmt::format("{}, {}", text, age_text(*now - *then));
}

std::vector<std::string> kept_notes(const RunResult& result) {
  std::vector<std::pair<std::string, std::string>> sources;  // what is said, of which stages
  for (const auto& stage : result.stages) {
    if (!stage.kept) continue;
    const auto text = kept_text(*stage.kept, result.device.kind == "simulated", result.date);
    const auto known = std::find_if(sources.begin(), sources.end(), [&](const auto& source) { return source.first == text; });
    if (known == sources.end()) sources.emplace_back(text, stage.name);
    else known->second += ", " + stage.name;
  }
  std::vector<std::string> notes;
  for (const auto& [text, stages] : sources) notes.push_back(stages + ": " + text);
  return notes;
}

device::Counters StageResult::counted() const {
  device::Counters all;
  for (const auto& point : counters) device::add_counts(all, point.counts);
  return all;
}

StageResult::StageResult() = default;
StageResult::StageResult(const StageResult&) = default;
StageResult::StageResult(StageResult&&) noexcept = default;
StageResult& StageResult::operator=(const StageResult&) = default;
StageResult& StageResult::operator=(StageResult&&) noexcept = default;
StageResult::~StageResult() = default;

RunResult::RunResult() = default;
RunResult::RunResult(const RunResult&) = default;
RunResult::RunResult(RunResult&&) noexcept = default;
RunResult& RunResult::operator=(const RunResult&) = default;
RunResult& RunResult::operator=(RunResult&&) noexcept = default;
RunResult::~RunResult() = default;

const char* word(Judgement::Status status) {
  switch (status) {
    case Judgement::Status::Pass: return "pass";
    case Judgement::Status::Fail: return "fail";
    case Judgement::Status::Unknown: return "unknown";
    case Judgement::Status::ExpectedFail: return "xfail";
    case Judgement::Status::UnexpectedPass: return "xpass";
    case Judgement::Status::NotHere: return "not here";
  }
  return "";
}

const char* word(RunResult::End end) {
  switch (end) {
    case RunResult::End::Complete: return "complete";
    case RunResult::End::Interrupted: return "interrupted";
    case RunResult::End::Faulted: return "a kernel faulted or timed out";
    case RunResult::End::OutOfTime: return "the time budget is used up";
    case RunResult::End::OutOfDefaultTime: return "the 10 minutes of a file without `budget time` are used up; --time-limit gives more";
    case RunResult::End::OutOfSetTime: return "the time of --time-limit is used up";
  }
  return "";
}

}  // namespace gexp::result
