// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/worker.h"

#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cuda/cuda.h"

namespace gexp::cli {
namespace {

/// What drives a GPU for a gexp that started this one; ends with it.
class Worker final : public Command {
 public:
  void declare(Options& options) override {
    options.add("ordinal", &ordinal_, "which GPU").must_be_given();
    options.add("parent", &parent_, "process that it serves").must_be_given();
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::nullopt; }
  int run() override { worker::serve([this] { return cuda::open(ordinal_); }, parent_); }

 private:
  int ordinal_ = 0, parent_ = 0;
};

}  // namespace

std::unique_ptr<Command> new_worker() { return std::make_unique<Worker>(); }

}  // namespace gexp::cli
