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
enum Exit : int { kDone = 0, kNotHeld = 1, kSpec = 2, kEnvironment = 3, kFault = 4, kInterrupted = 130 };

/// Options that several commands share.
struct Common {
  std::string file;
  std::string text;  ///< -e: a whole file or the short form
  std::string device = "auto";
  std::vector<std::string> set;
  std::optional<std::uint64_t> seed;
  std::string out;
  std::string templates;
  std::optional<double> time_limit;  ///< seconds
  std::optional<double> launch_limit;  ///< seconds
  std::size_t jobs = 0;              ///< 0: one for each core
  bool json = false, quiet = false, json_progress = false;
  std::string store;   ///< file in which results are kept; empty: gexp.db here, "none": nowhere
  bool resume = false; ///< go on with a run that was broken off
  bool fresh = false;  ///< measure every stage, whatever earlier results hold
  std::string locked;  ///< file that says what the run must be made of
  std::shared_ptr<const result::RunResult> made_of;  ///< what it says
};

int run_command(const Common& given);
/// A kept result's spec, settings, seed and device once more; says what differs here before it runs. kNotHeld: other findings.
int replay_command(const Common& common);
/// By the ending of `common.out`: .json, .csv, .cu, .lock, or a bundle, .gexpz. `stage`: of a .csv.
int export_command(const Common& common, const std::string& stage);
/// What `gexp compare` takes besides.
struct Compare {
  std::string first, second, store;
  double margin = 2;    ///< percent
  bool strict = false;  ///< what is ambiguous fails too
  bool all = false;     ///< list what is the same too
  bool json = false;
};
/// Two saved results, or two folders of them. kNotHeld: they differ.
int compare_command(const Compare& options);
/// Several experiments, files and folders of them, on one device or all; in brief, and where the time went.
int survey_command(const Common& common, const std::vector<std::string>& names);
int check_command(const std::vector<std::string>& files, bool json);
/// Rewrites files in house form ("-": stdin to stdout) and prints the names of those that change; `check_only` writes nothing.
int format_command(const std::vector<std::string>& files, bool check_only);
/// `arch`: "sm_90", or empty for the oldest architecture that NVRTC knows.
int emit_command(const Common& common, const std::string& form, const std::string& stage, const std::string& dump_after, const std::string& arch);
/// The number of "sm_90"; nothing when the text is none.
std::optional<int> architecture(const std::string& text);
/// Writes the hashes of used files into `use` statements; with `check` only says whether they are right.
int lock_command(const std::vector<std::string>& files, bool check);
/// What `gexp verify` takes besides.
struct Verify {
  std::uint64_t first = 1;     ///< number of the first drawn device
  std::size_t models = 100;
  std::vector<std::string> noise = {"none", "real"};  ///< besides "harsh"
  bool all = false;            ///< list every reason and every wrong claim
};
/// Runs an experiment on drawn devices and says how often it is right, wrong, or abstains. kNotHeld: claims at 95 % confidence or
/// more are wrong more often than that allows.
int verify_command(const Common& common, const Verify& options);
/// A simulated device a point: what one gives back the next one takes, without asking the system for pages each time.
void keep_freed_memory();
/// `points`: instead of the findings, what was measured at each point of this stage, comma-separated.
int infer_command(const Common& common, const std::string& points);
/// A saved result as a page (`page`: where to) or, without one, as text with its plots.
int report_command(const Common& common, const std::string& page);
/// What a run would do, without running it; `dot`: its graph instead.
int plan_command(const Common& common, bool dot);
/// What a plan that takes too long, or has too many points, is refused for (E044x). `head`: of the run. Kept stages take no time.
void check_estimate(const Common& common, const compiler::Program& program, const result::RunResult& head, Diagnostics& diagnostics);
int devices_command(const std::string& show, bool json);
int doctor_command();
/// What drives a GPU for a gexp that started this one; ends with it.
[[noreturn]] void worker_command(int ordinal, int parent);
int list_command();

/// A spec read and compiled, with its diagnostics already printed to stderr; nothing when it cannot run (`exit` says why).
struct Loaded {
  Source source;
  compiler::Program program;
};
std::optional<Loaded> load_spec(const Common& common, int& exit, const std::string& dump_after = {});
/// Its text alone; a short form in full.
std::optional<Source> read_spec(const Common& common, int& exit);
std::optional<Loaded> compile_text(Source source, const compiler::Options& options, int& exit);
/// NAME=VALUE texts; nothing, with a message printed, where one is not of that form.
std::optional<std::vector<std::pair<std::string, std::string>>> split_settings(const std::vector<std::string>& texts);

/// The experiment file as named, or as found among those that ship ("cache/structure.gexp").
std::string find_experiment(const std::string& name);
/// The folder of the experiments that ship; empty when it is not found.
std::string experiments_folder();

/// `auto`, `cuda:N`, `sim:NAME`, `sim:FILE.toml`.
Result<std::unique_ptr<device::Backend>> open_device(const std::string& device, std::optional<std::uint64_t> seed);

/// Prints a diagnostic to stderr, in colour on a terminal unless NO_COLOR is set.
void print(const Diagnostic& diagnostic, const Source* source);
bool colour_on(int descriptor);

/// Ctrl-C: the first asks whatever runs to end soon and keep what was measured, the second ends the program.
void catch_interrupts();
bool interrupted();

/// Whether a file can be written there; the diagnostic (E0710) says why not. Leaves nothing behind.
Result<> check_writable(const std::string& path);
/// Whether a file may take that name: not that of a store, nor of `source`, which is being read. E0710.
Result<> may_write(const std::string& path, const std::string& source);
/// Whole or not at all: a temporary file beside it, then a rename. A file that was there leaves its permissions to the new one.
Result<> write_file(const std::string& path, const std::string& text);
Result<std::string> read_file(const std::string& path);

}  // namespace gexp::cli
