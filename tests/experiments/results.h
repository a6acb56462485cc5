// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/experiments/heads.h"

/// What `gexp run` found, kept as the files that it wrote.
namespace gexp::papers {

struct Judged {
  std::string text, from, verdict, found;  ///< verdict: "pass", "fail", …; "broken" and "empty" when nothing can be read
};

/// What one run gave.
struct Answer {
  std::vector<Judged> judged;  ///< without those of other devices
  double seconds = 0;
  std::size_t wrong = 0;
  std::string nvrtc;  ///< its version
};

class Results {
 public:
  /// `folder` keeps the result files; what is not run again is read from there.
  Results(std::string gexp, std::filesystem::path folder) : gexp_(std::move(gexp)), folder_(std::move(folder)) {}

  /// What gexp said and how long it took; its result is in file_of(). Several threads may run several pairs.
  struct Ran {
    std::string said;
    double seconds = 0;
  };
  [[nodiscard]] Ran run(const Pair& pair) const;

  /// What a run gave, or without one what an earlier run left. Where nothing can be read, one thing did not hold.
  Answer answer(const Pair& pair, const Ran* ran);
  [[nodiscard]] std::filesystem::path file_of(const std::string& experiment, const std::string& device) const;
  [[nodiscard]] bool has(const std::string& experiment, const std::string& device) const { return known_.contains({experiment, device}); }

  /// The text of a cell: "cache/structure gtx780 capacity.C as KiB", "throughput/l2_dram titanblack l2@bw n=1 threads=512 as GB/s".
  /// After the experiment and the device a finding, with `.field` and `[item]` (`[-1]`: the last) behind it, or STAGE@COLUMN at the point that
  /// the coordinates name. `as UNIT` writes the number in it, `in UNIT` without it. Empty, and `why`, when it cannot be had.
  std::string cell(const std::string& what, std::string& why);

 private:
  using Json = nlohmann::json;
  struct Points {
    std::vector<std::string> columns, units;
    std::vector<std::vector<std::string>> rows;
  };
  const Points* points(const std::string& experiment, const std::string& device, const std::string& stage, std::string& why);

  std::string gexp_;
  std::filesystem::path folder_;
  std::map<std::pair<std::string, std::string>, Json> known_;  ///< findings and expectations of the runs that were answered
  std::map<std::string, Points> points_;
};

}  // namespace gexp::papers
