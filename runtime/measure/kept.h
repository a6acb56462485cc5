// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/plan/estimate.h"
#include "compiler/plan/expand.h"
#include "compiler/program.h"
#include "runtime/result/result.h"

/// Stages that an earlier result holds whole take the place of measuring them again (docs/decisions/kept-stages.md).
namespace gexp::measure {

/// What decides the records of a stage, a hash each. Equal keys: measuring again gives the same, as far as the device
/// repeats itself.
struct StageKey {
  std::string text;    ///< its statements and what they name
  std::string inputs;  ///< the findings of other stages that it reads
  std::string seed, device, toolchain;

  [[nodiscard]] std::string whole() const;
};

/// `scope` holds the findings of the stages before it. `toolchain`: what made the kernels and the simulator, besides
/// the versions that `head` says.
StageKey stage_key(const compiler::Program& program, const compiler::Stage& stage, const compiler::Scope& scope,
                   const result::RunResult& head, const std::string& toolchain);

/// A stage of an earlier result.
struct KeptStage {
  std::int64_t run = 0;  ///< the result that holds its records, and which of its stages it is
  std::size_t number = 0;
  result::StageResult stage;  ///< `kept` says where it was measured
  std::vector<result::KernelRecord> kernels;
};

/// Where such stages are looked for.
class KeptStages {
 public:
  virtual ~KeptStages() = default;
  /// The newest with that key; nullopt: there is none, or none that is undamaged.
  [[nodiscard]] virtual std::optional<KeptStage> find(const StageKey& key) const = 0;
  /// The key of the last whole stage of that name, of the experiment: for whoever asks what has changed since. On the
  /// device, and with the toolchain and seed, of `like`, where there is one.
  [[nodiscard]] virtual std::optional<StageKey> last(const std::string& experiment, const std::string& stage,
                                                     const StageKey& like) const = 0;
};

/// Whether a stage that has ended may stand for later ones: it came to its end, no point of it was lost, and nothing
/// disturbed it. `others`: other processes computed on the device.
bool is_whole(const result::StageResult& stage, bool simulated, bool others);

/// Makes what is not kept of a stage's points (patterns, lets) again, as measuring them would. Errors: as of planning a
/// point.
Result<> restore_points(const compiler::Program& program, const compiler::Stage& stage, const compiler::Scope& scope,
                        records::Table& table);

/// Finds the stage and makes it this program's own; nullopt where there is none, or it cannot be made.
std::optional<KeptStage> keep_stage(const compiler::Program& program, const compiler::Stage& stage,
                                    const compiler::Scope& scope, const KeptStages& kept, const StageKey& key);

/// What a run would do with a stage.
struct StageForeseen {
  std::optional<result::KeptFrom> kept;
  std::string why;  ///< it is measured: "its text changed"
};

/// What a run would keep, stage by stage, without measuring: kept stages are asked, so that it is known what reads
/// their findings.
struct Foreseen {
  std::vector<StageForeseen> stages;
  compiler::KnownStages known;  ///< those that are kept
};
/// As for stage_key; `program.device` is set.
Result<Foreseen> foresee(const compiler::Program& program, const KeptStages& kept, const result::RunResult& head,
                         const std::string& toolchain);

}  // namespace gexp::measure
