// SPDX-License-Identifier: Apache-2.0
// What the shells' completions ask for while somebody types.
#include <fmt/format.h>

#include "runtime/cli/app.h"
#include "runtime/cli/saved.h"
#include "runtime/cli/shared_options.h"
#include "runtime/cuda/cuda.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

std::vector<std::string> devices() {
  std::vector<std::string> words{"auto", "cuda:all"};
  if (const auto gpus = cuda::devices(); gpus) {
    for (const auto& gpu : *gpus) words.push_back(gpu.id);
  }
  for (const auto& name : sim::names()) words.push_back("sim:" + name);
  return words;
}

/// A store that cannot be read offers nothing: a completion is no place for a message.
std::vector<std::string> results(const std::string& store) {
  std::vector<std::string> words{"last"};
  auto opened = store::Store::open(store_path(store), store::Store::Mode::Read);
  if (!opened) return words;
  const auto entries = opened->list();
  if (!entries) return words;
  for (const auto& entry : *entries) {
    words.push_back(std::to_string(entry.id));
    if (!entry.name.empty()) words.push_back(entry.name);
  }
  return words;
}

class PrintWords final : public Command {
 public:
  void declare(Options& options) override {
    options.add("kind", &kind_, "experiments, devices or results").must_be_given().offers_words({"experiments", "devices", "results"});
    add_store(options, store_);
  }
  int run() override {
    const auto words = kind_ == "experiments" ? shipped_experiments() : kind_ == "devices" ? devices() : results(store_);
    for (const auto& word : words) fmt::print("{}\n", word);
    return kDone;
  }

 private:
  std::string kind_, store_;
};

}  // namespace

std::unique_ptr<Command> new_words() { return std::make_unique<PrintWords>(); }

}  // namespace gexp::cli
