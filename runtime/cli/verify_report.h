// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cli/json.h"
#include "runtime/measure/calibration.h"
#include "runtime/measure/verify.h"

/// What `gexp verify` says of the devices of one noise: text, JSON, and what has changed since an earlier JSON.
namespace gexp::cli {

struct Tally {
  std::size_t right = 0, wrong = 0, abstained = 0, not_here = 0;
  void add(measure::Verdict::Kind kind) {
    using Kind = measure::Verdict::Kind;
    ++(kind == Kind::Right ? right : kind == Kind::Wrong ? wrong : kind == Kind::Abstained ? abstained : not_here);
  }
  [[nodiscard]] std::size_t all() const { return right + wrong + abstained; }  ///< of those that were asked
  [[nodiscard]] std::size_t claims() const { return right + wrong; }
};

struct VerifySummary {
  std::vector<Tally> each;  ///< of each expectation
  Tally all, at_95;
  std::size_t intervals = 0, held = 0;  ///< of findings beside a number of the model, and those that the number lies in
  std::size_t by_interval = 0;          ///< right claims whose value is another, and whose interval holds the truth
  measure::Reliability reliability;
  std::map<std::string, std::pair<std::size_t, std::uint64_t>>
      reasons;                     ///< of abstentions: how often, and the first device
  std::vector<std::string> wrong;  ///< with the device and what was done to the file
};

/// `name` of a device's number: "sim:drawn-17-noisy".
VerifySummary summarise(const measure::Verification& verification,
                        const std::function<std::string(std::uint64_t)>& name);

/// `everything`: all reasons and all wrong claims.
std::string verify_text(const measure::Verification& verification, const VerifySummary& summary, bool everything);

Json verify_json(const measure::Verification& verification, const VerifySummary& summary);

/// Two outputs of `gexp verify --json`, noise by noise: counts, log-loss, and the verdicts that differ. `everything`:
/// all of these.
std::string verify_changes(const std::string& before, const std::string& after, bool everything);

}  // namespace gexp::cli
