// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/device/backend.h"
#include "runtime/result/result.h"

/// The command line. Only this folder prints or exits.
namespace gexp::cli {

/// Exit codes, as documented for users.
enum Exit : int { kDone = 0, kNotHeld = 1, kSpec = 2, kEnvironment = 3, kFault = 4, kBug = 70, kInterrupted = 130 };

/// Options that several commands share.
struct Common {
  std::string file;
  std::string text;  ///< -e: a whole file or the short form
  std::string device = "auto";
  std::vector<std::string> set;
  std::vector<std::string> allow;  ///< where files of kernels may lie besides
  std::optional<std::uint64_t> seed;
  std::string out;
  std::string templates;
  std::optional<double> time_limit;  ///< seconds
  std::optional<double> launch_limit;  ///< seconds
  std::optional<double> memory_limit;  ///< MiB of the host's memory
  std::size_t jobs = 0;              ///< 0: one for each core
  bool json = false, quiet = false, json_progress = false;
  std::string store;   ///< file in which results are kept; empty: gexp.db here, "none": nowhere
  bool resume = false; ///< go on with a run that was broken off
  std::string timeline;     ///< file: what each warp of a point did when
  std::string timeline_of;  ///< the point; empty: the first one
  bool counters = false;  ///< what launches did is counted
  bool fresh = false;  ///< measure every stage, whatever earlier results hold
  std::string locked;  ///< file that says what the run must be made of
  std::shared_ptr<const result::RunResult> made_of;  ///< what it says
};

/// A simulated device a point: what one gives back the next one takes, without asking the system for pages each time.
void keep_freed_memory();
/// What a plan that takes too long, or has too many points, is refused for (E044x). `head`: of the run. Kept stages take no time.
void check_estimate(const Common& common, const compiler::Program& program, const result::RunResult& head, Diagnostics& diagnostics);

/// A spec read and compiled, with its diagnostics already printed to stderr; nothing when it cannot run (`exit` says why).
struct Loaded {
  Source source;
  compiler::Program program;
};
std::optional<Loaded> load_spec(const Common& common, int& exit, const std::string& dump_after = {});
/// Its text alone; a short form in full.
std::optional<Source> read_spec(const Common& common, int& exit);
/// How a spec of the command line is compiled: its settings, the models, the files it uses. `--set` has been read without a mistake.
compiler::Options spec_options(const Common& common);
std::optional<Loaded> compile_text(Source source, const compiler::Options& options, int& exit);
/// NAME=VALUE texts; nothing, with a message printed, where one is not of that form.
std::optional<std::vector<std::pair<std::string, std::string>>> split_settings(const std::vector<std::string>& texts);

/// The experiment file as named, or as found among those that ship ("cache/structure.gexp").
std::string find_experiment(const std::string& name);
/// The folder of the experiments that ship; empty when it is not found.
std::string experiments_folder();
/// The experiments that ship, as `gexp run` takes them, sorted; empty where there is no folder.
std::vector<std::string> shipped_experiments();

/// `auto`, `cuda:N`, `sim:NAME`, `sim:FILE.toml`.
Result<std::unique_ptr<device::Backend>> open_device(const std::string& device, std::optional<std::uint64_t> seed);

/// Prints a diagnostic to stderr, in colour on a terminal unless NO_COLOR is set.
void print(const Diagnostic& diagnostic, const Source* source);
/// Prints it, and answers `exit`: for commands that end there.
int refuse(const Diagnostic& diagnostic, const Source* source, int exit);
bool colour_on(int descriptor);

/// Ctrl-C, SIGTERM, or a terminal that is gone: the first asks whatever runs to end soon and keep what was measured, the second ends the program.
void catch_interrupts();
bool interrupted();

/// Whether a file can be written there; the diagnostic (E0710) says why not. Leaves nothing behind.
Result<> check_writable(const std::string& path);
/// Whether a file may take that name: not that of a store, nor of `source`, which is being read. E0710.
Result<> may_write(const std::string& path, const std::string& source);
/// Whole or not at all: a temporary file beside it, then a rename. A file that was there leaves its permissions to the new one.
Result<> write_file(const std::string& path, const std::string& text);
Result<std::string> read_file(const std::string& path);
/// The same of a spec, whose size has a limit: E0101.
Result<std::string> read_spec_file(const std::string& path);

}  // namespace gexp::cli
