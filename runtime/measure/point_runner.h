// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/plan/plan.h"
#include "runtime/device/backend.h"
#include "runtime/measure/kernels.h"
#include "runtime/records/table.h"
#include "runtime/result/provenance.h"

namespace gexp::measure {

/// What a timed region costs besides what it times, in cycles, of the words that launches wrote (compiler/plan/calibrate.h says which).
struct RegionCost {
  double cycles = 0, error = 0;  ///< its standard error
};
RegionCost region_cost(const std::vector<std::uint32_t>& words);
/// Of a point whose runs were all measured here, from what all of them wrote.
void set_overhead(records::Point& point);

/// Makes a launch that took too long for a `wall` record one that timed out.
void limit_wall(device::Outcome& outcome);
/// A `wall` record's one value.
records::Run wall_run(const device::Outcome& outcome);

/// Seconds for the launch that begins now. A repetition may take many.
using LaunchLimit = std::function<double()>;

/// Runs planned points on one device: allocates memories once, loads every kernel once, links the rings, launches windows.
class PointRunner {
 public:
  PointRunner(const compiler::Program& program, const compiler::Scope& scope, device::Backend& backend, Kernels& kernels, const GiveUp& give_up);
  ~PointRunner();
  PointRunner(const PointRunner&) = delete;
  PointRunner& operator=(const PointRunner&) = delete;

  /// One more repetition of a point, appended to `point`. A launch that does not end well, or a device that is lost meanwhile, is in
  /// point.outcome; a Result error is about the environment (no compiler), or E0802: no room for this point,
  /// or that the run's budget is over.
  Result<> repeat(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit);

  [[nodiscard]] const device::Backend& device() const { return backend_; }
  /// False after a fault that the device's driver does not let this process recover from.
  [[nodiscard]] bool usable() const { return backend_.usable(); }
  /// What was spent since this was last asked.
  [[nodiscard]] result::TimeSpent new_effort() { return std::exchange(effort_, {}); }
  /// What was used since this was last asked, and not told in this stage yet.
  void begin_stage() { told_.clear(); }
  [[nodiscard]] std::vector<result::KernelRecord> new_kernels() { return std::exchange(new_kernels_, {}); }

 private:
  /// E0802 where the point needs more of the memory than the device had.
  Result<std::uint64_t> address_of(const std::string& memory, const compiler::PointPlan& plan);
  Result<std::uint64_t> address_of(const std::string& memory);
  /// Writes what a memory is to hold before anything runs, or zeros where the spec can see what it holds.
  Result<> fill(const compiler::Memory& memory, std::uint64_t address);
  /// As much of a memory as there is, where there is not enough for all of it. `problem`: what the device said of all of it.
  Result<std::uint64_t> allocate_less(const compiler::Memory& memory, std::uint64_t bytes, std::uint64_t align, Diagnostic problem);
  /// Loaded once. A kernel whose threads take more registers each than a block of `threads` can have is compiled anew, with fewer.
  Result<device::KernelId> kernel_for(const compiler::Shape& shape, std::uint64_t threads);
  Result<std::uint64_t> buffer(const std::string& name, std::uint64_t bytes, std::uint64_t align = 256);
  /// Addresses of the cell that calibrates a timed region, and of the times that its calibration writes.
  struct Calibration {
    std::uint64_t cell = 0, times = 0;
  };
  /// The cell and the first times lie in one page, so that a TLB of few entries keeps it when a time is stored. `bytes`: of all times.
  Result<Calibration> calibration(std::uint64_t bytes);
  /// What the rehearsal fetches from, so that it leaves the textures that are measured alone.
  Result<std::uint64_t> idle_texture(std::uint64_t pitch);
  Result<> link(const compiler::Links& links, std::uint64_t base);
  Result<> run_each(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit);
  Result<> run_total(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit);
  Result<> run_body(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit);
  // point_runner_roles.cpp: launches of several stages
  Result<> run_roles(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit);
  Result<std::vector<device::Argument>> role_arguments(const compiler::PointPlan& plan, device::KernelId kernel);
  /// As often as it takes until every stage has its blocks where they are to be.
  std::int64_t room_of(std::uint32_t blocks, std::uint32_t shared_bytes) const;
  Result<device::Outcome> launch_roles(const compiler::PointPlan& plan, std::uint64_t control, std::vector<device::Argument> arguments,
                                       device::KernelId kernel, const LaunchLimit& limit);
  // point_runner_kernel.cpp: kernels of files
  Result<> run_kernel(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit);
  /// One launch, of the timed kernel or of a warm-up. `record`: the address of its record; 0: it has none.
  Result<device::Outcome> launch_kernel(const compiler::PointPlan& plan, const compiler::Shape& shape, const compiler::KernelPlan& kernel,
                                        device::Extent grid, device::Extent block, std::uint64_t record, const LaunchLimit& limit,
                                        bool first);
  Result<std::vector<device::Argument>> kernel_arguments(const compiler::PointPlan& plan, const compiler::Shape& shape,
                                                         const compiler::KernelPlan& kernel, std::uint64_t record);
  /// Fills a memory with zeros before a kernel that somebody else wrote first reads it.
  Result<> clear(const std::string& memory, std::uint64_t address);
  /// What the kernel wrote into its record, as a run.
  Result<> read_record(const compiler::PointPlan& plan, std::uint64_t record, records::Point& point);
  /// The parameters of a kernel from body.cu: memories, textures, tables, values; constant memories are filled.
  Result<std::vector<device::Argument>> body_arguments(const compiler::BodyPlan& body, const compiler::PointPlan& plan, device::KernelId kernel, const std::string& prefix = {});
  /// What a kernel from body.cu is given besides what its body reads, and where it writes.
  struct BodyLaunch {
    std::uint64_t records = 0;                        ///< address
    Calibration calibration;
    std::uint32_t skip = 0, window = 0;               ///< accesses of a warp that are left out, and that are recorded
    std::uint32_t trace_at = 0, trace_bytes = 0;      ///< in dynamic shared memory
    std::uint32_t grid = 1, block = 1, cluster = 1;
    bool first = true;                                ///< of a repetition: the stage's flushes come before it
    bool timed = false;                               ///< not a warm-up of its own
  };
  Result<device::Outcome> launch_body(const compiler::PointPlan& plan, const compiler::Shape& shape, const compiler::BodyPlan& body, const BodyLaunch& how, const LaunchLimit& limit);
  /// The warm-ups that are launches of their own, after emptying what the stage flushes. False: one did not end well, which
  /// point.outcome then says.
  Result<bool> launch_before(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit);
  /// Empties what the stage flushes where it is the `first` launch of a repetition, then launches.
  Result<device::Outcome> launch(const compiler::PointPlan& plan, device::KernelId kernel, const device::LaunchShape& shape, const std::vector<device::Argument>& arguments,
                         const LaunchLimit& limit, bool first = true);
  /// The timed launch of a point, on the multiprocessors that it chooses, or any.
  Result<device::Outcome> launch_timed(const compiler::PointPlan& plan, device::KernelId kernel, device::LaunchShape shape, std::vector<device::Argument> arguments, const LaunchLimit& limit,
                               bool first);
  [[nodiscard]] device::LaunchShape launch_shape(const compiler::PointPlan& plan, std::uint64_t shared_bytes) const;
  /// Reads what the last launch tells of the region's cost; the point's is that of all its launches together.
  Result<> calibrate(std::uint64_t words, records::Point& point);
  /// Runs of one launch, by multiprocessor, whose words of the region's cost lie behind each other.
  Result<> take(std::vector<records::Run> runs, std::uint64_t words, records::Point& point);
  Result<std::vector<std::uint32_t>> read_words(std::uint64_t address, std::size_t count);
  /// What the device lost is made anew when it is needed next.
  void forget_what_was_lost();
  Result<> run_once(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit);

  const compiler::Program& program_;
  const compiler::Scope& scope_;
  device::Backend& backend_;
  Kernels& kernels_;
  const GiveUp& give_up_;  ///< a kernel that is being compiled
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> buffers_;  ///< name -> address, bytes
  std::map<std::string, std::string> less_;  ///< by memory that is smaller than it was to be: how the device put it
  struct Loaded {
    device::KernelId id;
    std::optional<std::uint32_t> most_threads;  ///< of a block, by their registers
    result::KernelRecord record;
    std::vector<jit::PtxParameter> parameters;  ///< of a kernel of a file
  };
  Result<const Loaded*> load(const compiler::Shape& shape);
  std::map<compiler::Shape, Loaded> loaded_;
  std::vector<result::KernelRecord> new_kernels_;
  std::set<std::string> told_;                     ///< keys of those that this stage has used
  result::TimeSpent effort_;
  std::uint32_t turn_ = 0;                         ///< number of the last launch on chosen multiprocessors
  std::map<std::string, compiler::Links> linked_;  ///< what each memory holds now
  std::map<std::string, std::uint64_t> textures_;  ///< by memory; the idle one by no name
  std::set<std::string> cleared_;                  ///< memories that were filled with zeros
  std::uint64_t losses_ = 0;                       ///< of the device, when all of this was made
};

}  // namespace gexp::measure
