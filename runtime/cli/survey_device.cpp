// SPDX-License-Identifier: Apache-2.0
// Most of a survey's time on a processor goes into findings that the next stage of a file needs. So a few files are under way at once, and take
// turns on the device: the one that looks for sets lets the next one measure.
#include "runtime/cli/survey_device.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <iterator>
#include <thread>

#include "lang/base/stopwatch.h"
#include "runtime/cli/output.h"

namespace gexp::cli {
namespace {

constexpr std::size_t kAtOnce = 3;  // files under way: what two of them are worked out for, the third one measures

/// Experiments under way, in order.
class UnderWay {
 public:
  UnderWay(Opened& opened, Surveyed& surveyed, const Specs& specs, const Save& save, std::size_t at_once)
      : opened_(opened), surveyed_(surveyed), specs_(specs), save_(save), at_once_(at_once) {}
  ~UnderWay() { ends_.clear(); }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

  /// Waits until there is room for it.
  void begin(const Common& common, const Loaded& spec, measure::Progress& progress, std::optional<double> left) {
    {
      std::unique_lock lock(counting_);
      ended_.wait(lock, [&] { return running_ < at_once_; });
      ++running_;
    }
    auto& slot = runs_.emplace_back();
    ends_.push_back(std::async(std::launch::async, [this, &slot, common, &spec, &progress, left] {
      slot.emplace(opened_, common, spec, progress, left);
      slot->conclude();
      const std::lock_guard lock(counting_);
      --running_;
      ended_.notify_one();
    }));
  }
  /// Waits for those that are under way.
  void wait() {
    std::unique_lock lock(counting_);
    ended_.wait(lock, [&] { return running_ == 0; });
  }
  /// Takes what has ended, in order; or all.
  void take(bool all) {
    for (; !ends_.empty() && (all || ends_.front().wait_for(std::chrono::seconds(0)) == std::future_status::ready); ends_.pop_front(), runs_.pop_front()) {
      ends_.front().get();
      const auto& spec = specs_[surveyed_.runs.size()];
      const auto& ran = surveyed_.runs.emplace_back(runs_.front()->end());
      if (specs_.size() == 1 || !lacks(ran)) {
        for (const auto& problem : ran.problems) print(problem, &spec.source);
      }
      if (ran.result) surveyed_.exit = std::max(surveyed_.exit, save_(*ran.result));
    }
  }

 private:
  Opened& opened_;
  Surveyed& surveyed_;
  const Specs& specs_;
  const Save& save_;
  const std::size_t at_once_;
  std::mutex counting_;
  std::condition_variable ended_;
  std::size_t running_ = 0;
  std::deque<std::optional<Running>> runs_;  // a deque: what is in it does not move
  std::deque<std::future<void>> ends_;
};

}  // namespace

bool lacks(const Ran& run) {
  if (run.result || run.problems.empty()) return false;
  const auto& code = run.problems.front().code;
  return code == "E0501" || code == "E0443" || code == "E0419";
}

Surveyed survey_device(const std::string& device, const Common& common, const Specs& specs, const Save& save, measure::Progress& progress) {
  const Stopwatch watch;
  Surveyed surveyed{device, {}, 0, kDone};
  auto seed = common.seed.value_or(specs.front().program.seed);
  auto opened = open_for_runs(device, seed, common.templates);
  if (!opened) {
    print(opened.error(), nullptr);
    surveyed.exit = kEnvironment;
    return surveyed;
  }
  surveyed.device = opened->backend->device().id;
  const bool simulated = opened->simulated();
  confine_run(*opened, common);
  std::optional<measure::CompileAhead> ahead;
  std::jthread looks;  // for the kernels that are known
  if (!simulated) {
    looks = std::jthread([&] {
      std::vector<compiler::Shape> shapes;
      for (const auto& spec : specs) {
        auto more = known_shapes(*opened, spec);  // one that two files have is compiled once all the same
        shapes.insert(shapes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
      }
      ahead.emplace(*opened->kernels, std::move(shapes));
    });
  }
  UnderWay under_way(*opened, surveyed, specs, save, simulated ? 1 : kAtOnce);
  for (const auto& spec : specs) {
    if (interrupted()) break;
    if (const auto wanted = common.seed.value_or(spec.program.seed); simulated && wanted != seed) {
      under_way.wait();
      seed = wanted;
      auto again = open_device(device, seed);
      if (!again) break;  // it was there before
      opened->backend = std::move(*again);
    }
    auto own = common;
    own.time_limit.reset();
    std::optional<double> left;
    if (common.time_limit) left = *common.time_limit - watch.seconds();
    if (left && *left <= 0) break;  // what was measured before is not to be replaced by nothing
    if (specs.size() > 1) {
      const std::lock_guard turn(*opened->turn);
      progress.experiment(spec.program.experiment);
    }
    under_way.begin(own, spec, progress, left);
    if (simulated) under_way.wait();
    under_way.take(false);
  }
  under_way.take(true);
  if (surveyed.runs.size() < specs.size()) surveyed.exit = interrupted() ? kInterrupted : kFault;
  surveyed.seconds = watch.seconds();
  return surveyed;
}

}  // namespace gexp::cli
