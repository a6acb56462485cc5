// SPDX-License-Identifier: Apache-2.0
// What the shells' completions ask for while somebody types, and the reference page.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "runtime/cli/app.h"
#include "runtime/cli/output.h"
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

/// The rows of the help as docs/reference/commands.md has them: heading, how it is called, what it does; tabs between.
std::vector<std::string> command_rows() {
  std::vector<std::string> rows;
  for (const auto& row : listed_commands()) {
    auto called = "gexp " + row.name;
    for (const auto& option : row.options.all()) {
      if (!option.is_argument()) continue;
      auto name = option.name;
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      called += " " + name + (option.is_list() ? "…" : "");
    }
    rows.push_back(fmt::format("{}\t{}\t{}", row.group, called, row.help));
  }
  return rows;
}

class PrintWords final : public Command {
 public:
  void declare(Options& options) override {
    options.add("kind", &kind_, "which words").must_be_given().offers_words({"experiments", "devices", "results", "commands"});
    add_store(options, store_);
  }
  /// Whoever asks for GPUs asks the driver.
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override {
    return kind_ == "devices" ? std::nullopt : std::optional(std::vector<std::string>{written_by_reading("", store_)});
  }
  int run() override {
    for (const auto& word : words()) print_out("{}\n", word);
    return kDone;
  }

 private:
  [[nodiscard]] std::vector<std::string> words() const {
    if (kind_ == "experiments") return shipped_experiments();
    if (kind_ == "devices") return devices();
    return kind_ == "commands" ? command_rows() : results(store_);
  }

  std::string kind_, store_;
};

}  // namespace

std::unique_ptr<Command> new_words() { return std::make_unique<PrintWords>(); }

}  // namespace gexp::cli
