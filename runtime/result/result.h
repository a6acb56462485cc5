// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/plan/full_sweep.h"
#include "compiler/program.h"
#include "lang/base/result.h"
#include "runtime/device/backend.h"
#include "runtime/device/counters.h"
#include "runtime/infer/finding.h"
#include "runtime/records/table.h"
#include "runtime/result/provenance.h"
#include "runtime/result/timeline.h"

namespace gexp::result {

/// How an expectation came out on this device.
struct Judgement {
  enum class Status { Pass, Fail, Unknown, ExpectedFail, UnexpectedPass, NotHere };
  std::string text;      ///< as written
  std::string from;      ///< its source
  Status status = Status::Unknown;
  std::string observed;  ///< the values of what it compares: "capacity.C = 12288 B"
};
const char* word(Judgement::Status status);

/// What a refined stage took, and what the full sweep at the refined step would have.
struct RefinementCost {
  double points = 0, accesses = 0;  ///< accesses: timed ones of all threads and repetitions
  compiler::FullSweep full;
};

/// What a look at the device gave, and when.
struct ConditionSample {
  std::string when;  ///< "begin", then "after NAME" for each stage
  device::Condition condition;
};

/// Where a stage was measured whose records were taken from an earlier result.
struct KeptFrom {
  std::int64_t result = 0;  ///< its number in the store
  std::string date;         ///< of that result
  double seconds = 0;       ///< that measuring took then
};
/// "kept from result 12", and how old it was at `date` where it was measured on a GPU.
std::string kept_text(const KeptFrom& kept, bool simulated, const std::string& date);

/// What the launches of a point did, repetitions, warm-ups and windows together.
struct PointCounters {
  std::map<std::string, Value> at;  ///< sweep coordinates
  device::Counters counts;
};

/// One stage's part of a result.
struct StageResult {
  // Compiled once, in result.cpp: each file that has one would compile its own (docs/decisions/build-time.md).
  StageResult();
  StageResult(const StageResult&);
  StageResult(StageResult&&) noexcept;
  StageResult& operator=(const StageResult&);
  StageResult& operator=(StageResult&&) noexcept;
  ~StageResult();

  enum class Status { Done, Blocked, Stopped };
  std::string name;
  Status status = Status::Done;
  std::string why;                      ///< blocked: which findings are missing; stopped: by what
  std::map<std::string, Value> inputs;  ///< findings of earlier stages, by stage name, as they were when it ran
  records::Table table;
  std::int64_t skipped = 0;
  std::int64_t no_room = 0;             ///< points for which the device had not enough memory
  std::string why_no_room;              ///< of the first of them
  std::string clocks;                   ///< what was done about clocks that changed while it was measured; empty: they did not, or nobody told
  std::optional<RefinementCost> spent;           ///< of a refined stage that was measured to its end
  std::optional<KeptFrom> kept;         ///< then nothing of it was measured in this run
  double seconds = 0;                   ///< wall time of measuring it
  TimeSpent effort;                        ///< what of it went where
  std::vector<PointCounters> counters;     ///< of a simulated device that was asked to count, in the order of the points
  /// Of all its points.
  [[nodiscard]] device::Counters counted() const;
  double answering = 0;                 ///< seconds of inference
};

/// Everything that one run gave: enough to infer again on a machine without a GPU.
struct RunResult {
  // Compiled once, in result.cpp: each file that has one would compile its own (docs/decisions/build-time.md).
  RunResult();
  RunResult(const RunResult&);
  RunResult(RunResult&&) noexcept;
  RunResult& operator=(const RunResult&);
  RunResult& operator=(RunResult&&) noexcept;
  ~RunResult();

  enum class End { Complete, Interrupted, Faulted, OutOfTime, OutOfDefaultTime, OutOfSetTime };
  std::string experiment;
  std::string spec_path, spec_text, spec_sha256;
  std::vector<compiler::UsedFile> used;  ///< what the spec uses, and what that uses: to infer again needs no other file
  std::vector<std::pair<std::string, std::string>> settings;  ///< --set
  std::map<std::string, Value> parameters;
  std::uint64_t seed = 1;
  device::DeviceInfo device;
  std::vector<ConditionSample> seen;  ///< of a GPU whose management library answers
  Value structure;  ///< of a simulated device, as its model says; for expects that read `model`, which are judged after everything was found
  std::string gexp_version, nvrtc;
  std::vector<KernelRecord> kernels;
  std::vector<StageResult> stages;
  std::vector<infer::Finding> findings;
  std::vector<Judgement> expectations;
  std::optional<Timeline> timeline;  ///< of the point of a simulated run that was looked at
  End end = End::Complete;
  std::string date;     ///< UTC, ISO 8601; part of `timing`
  double seconds = 0;
};
const char* word(RunResult::End end);

/// Which stages were kept, a line for each result that they were kept from: "sizes, ways: kept from result 12".
std::vector<std::string> kept_notes(const RunResult& result);

/// "schema": "gexp.result/1"; stable order, so that two runs of one seed on a simulator differ in `timing` only.
std::string to_json(const RunResult& result);

/// Reads what to_json wrote. E09xx: not JSON, another schema, a newer version, truncated, wrong types.
Result<RunResult> from_json(const std::string& text, const std::string& path);

}  // namespace gexp::result
