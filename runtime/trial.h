// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/plan.h"
#include "runtime/backend.h"
#include "runtime/infer/table.h"
#include "runtime/kernels.h"

namespace gexp::runtime {

/// What a kernel was made of, for the result's provenance.
struct KernelRecord {
  std::string file;       ///< template
  std::string key;        ///< hash of source, options, NVRTC version and architecture
  bool from_cache = false;
  double seconds = 0;     ///< compile time, 0 from the cache
  std::shared_ptr<const std::string> cuda;  ///< its text; null where a saved result does not hold it
};

/// Where the time of measuring went, in seconds.
struct Effort {
  std::size_t launches = 0;
  double compiling = 0;  ///< waiting for kernels that were not compiled yet, and loading them
  double launching = 0;  ///< from asking for a launch to knowing of its end
  double on_device = 0;  ///< between the events around the launches
  double measuring = 0;  ///< all of it, and what is written and read between launches

  Effort& operator+=(const Effort& more);
};

/// What a timed region costs besides what it times, in cycles, of the words that a launch wrote (compiler/calibrate.h says which).
double region_cost(const std::vector<std::uint32_t>& words);

/// Runs planned points on one device: allocates memories once, loads every kernel once, links the rings, launches windows.
class Bench {
 public:
  Bench(const compiler::Program& program, const compiler::Scope& scope, Backend& backend, Kernels& kernels);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// One more repetition of a point, appended to `point`. A launch that does not end well, or a device that is lost meanwhile, is in
  /// point.outcome; a Result error is about the environment (no compiler), or E0802: no room for this point.
  Result<> repeat(const compiler::PointPlan& plan, infer::Point& point, double time_limit);

  /// False after a fault that the device's driver does not let this process recover from.
  [[nodiscard]] bool usable() const { return backend_.usable(); }
  /// What was spent since this was last asked.
  [[nodiscard]] Effort new_effort() { return std::exchange(effort_, {}); }
  /// What was loaded since this was last asked.
  [[nodiscard]] std::vector<KernelRecord> new_kernels() { return std::exchange(new_kernels_, {}); }

 private:
  /// E0802 where the point needs more of the memory than the device had.
  Result<std::uint64_t> address_of(const std::string& memory, const compiler::PointPlan& plan);
  Result<std::uint64_t> address_of(const std::string& memory);
  /// As much of a memory as there is, where there is not enough for all of it. `problem`: what the device said of all of it.
  Result<std::uint64_t> allocate_less(const compiler::Memory& memory, std::uint64_t bytes, std::uint64_t align, Diagnostic problem);
  Result<KernelId> kernel_for(const compiler::Shape& shape);
  Result<std::uint64_t> buffer(const std::string& name, std::uint64_t bytes);
  Result<std::uint64_t> calibration_cell();
  Result<> link(const compiler::Links& links, std::uint64_t base);
  Result<> run_each(const compiler::PointPlan& plan, infer::Point& point, double time_limit);
  Result<> run_total(const compiler::PointPlan& plan, infer::Point& point, double time_limit);
  Result<> run_body(const compiler::PointPlan& plan, infer::Point& point, double time_limit);
  /// The parameters of a kernel from body.cu: memories, textures, tables, values; constant memories are filled.
  Result<std::vector<Argument>> body_arguments(const compiler::BodyPlan& body, const compiler::PointPlan& plan, KernelId kernel);
  /// What a kernel from body.cu is given besides what its body reads, and where it writes.
  struct BodyLaunch {
    std::uint64_t records = 0, overhead = 0;          ///< addresses
    std::uint32_t skip = 0, window = 0;               ///< accesses of a warp that are left out, and that are recorded
    std::uint32_t trace_at = 0, trace_bytes = 0;      ///< in dynamic shared memory
    std::uint32_t grid = 1, block = 1;
    bool first = true;                                ///< of a repetition: the stage's flushes come before it
    bool timed = false;                               ///< not a warm-up of its own
  };
  Result<Outcome> launch_body(const compiler::PointPlan& plan, const compiler::Shape& shape, const compiler::BodyPlan& body, const BodyLaunch& how, double time_limit);
  /// The warm-ups that are launches of their own, after emptying what the stage flushes. False: one did not end well, which
  /// point.outcome then says.
  Result<bool> launch_before(const compiler::PointPlan& plan, infer::Point& point, double time_limit);
  /// Empties what the stage flushes where it is the `first` launch of a repetition, then launches.
  Result<Outcome> launch(const compiler::PointPlan& plan, KernelId kernel, const LaunchShape& shape, const std::vector<Argument>& arguments,
                         double time_limit, bool first = true);
  /// The timed launch of a point, on the multiprocessors that it chooses, or any.
  Result<Outcome> launch_timed(const compiler::PointPlan& plan, KernelId kernel, LaunchShape shape, std::vector<Argument> arguments, double time_limit,
                               bool first);
  [[nodiscard]] LaunchShape launch_shape(const compiler::PointPlan& plan, std::uint64_t shared_bytes) const;
  /// Reads what the last launch tells of the region's cost; the point's is the mean of its runs'.
  Result<> calibrate(std::uint64_t words, infer::Point& point);
  /// Runs of one launch, by multiprocessor, whose words of the region's cost lie behind each other.
  Result<> take(std::vector<infer::Run> runs, std::uint64_t words, infer::Point& point);
  Result<std::vector<std::uint32_t>> read_words(std::uint64_t address, std::size_t count);
  /// What the device lost is made anew when it is needed next.
  void forget_what_was_lost();
  Result<> run_once(const compiler::PointPlan& plan, infer::Point& point, double time_limit);

  const compiler::Program& program_;
  const compiler::Scope& scope_;
  Backend& backend_;
  Kernels& kernels_;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> buffers_;  ///< name -> address, bytes
  std::map<std::string, std::string> less_;  ///< by memory that is smaller than it was to be: how the device put it
  std::map<compiler::Shape, KernelId> loaded_;
  std::vector<KernelRecord> new_kernels_;
  Effort effort_;
  std::uint32_t turn_ = 0;                         ///< number of the last launch on chosen multiprocessors
  std::map<std::string, compiler::Links> linked_;  ///< what each memory holds now
  std::map<std::string, std::uint64_t> textures_;  ///< by memory
  std::uint64_t losses_ = 0;                       ///< of the device, when all of this was made
};

}  // namespace gexp::runtime
