// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>

#include "runtime/session.h"

namespace gexp::cli {

/// One line on stderr that is rewritten on a terminal; one plain line a stage elsewhere.
class StderrProgress final : public runtime::Progress {
 public:
  /// `prefix`: names the run where there are several; then nothing is rewritten.
  explicit StderrProgress(bool quiet, std::string prefix = {});
  void experiment(const std::string& name) override { experiment_ = name + " "; }
  void stage(const std::string& name, std::size_t number, std::size_t of) override;
  void point(const std::string& where, std::size_t done) override;
  void notice(const std::string& text) override;
  void finished() override;

 private:
  bool quiet_;
  std::string prefix_;
  bool terminal_;
  std::string experiment_, stage_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace gexp::cli
