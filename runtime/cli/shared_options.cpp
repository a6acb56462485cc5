// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/shared_options.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace gexp::cli {
namespace {

std::string some_name(const std::string& path) { return path.empty() ? "an empty name is no file" : ""; }

std::string finite(const std::string& text, bool zero_too) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && end == text.c_str() + text.size() && std::isfinite(number);
  if (whole && (number > 0 || (zero_too && number == 0))) return {};
  return fmt::format("{} is no number {} 0", text, zero_too ? "from" : "above");
}

}  // namespace

std::string above_zero(const std::string& text) { return finite(text, false); }
std::string from_zero(const std::string& text) { return finite(text, true); }

void add_allow(Options& options, std::vector<std::string>& allow) {
  options.add("--allow", &allow, "a folder, or a file: `kernel` may name .cu and .ptx files there, besides those below the experiment's folder")
      .checked_by([](const std::string& path) { return std::filesystem::exists(path) ? std::string() : path + " is not there"; })
      .offers(Offers::Files);
}

void add_spec(Options& options, Common& common) {
  options.add("file", &common.file, "the experiment, a .gexp file or one of `gexp list`").offers(Offers::Experiments);
  options.add("-e", &common.text, "the experiment's text itself, or its short form: 'chase uniform(128B, 64KiB) via ca'").excludes("file");
  options.add("--set", &common.set, "NAME=VALUE: a parameter's value");
  add_allow(options, common.allow);
  add_templates(options, common);
}

std::string misuse_of_spec(const Common& common) {
  return common.file.empty() && common.text.empty() ? "file: name an experiment, or give its text with -e" : "";
}

Option& add_device(Options& options, Common& common, const char* which) {
  return options.add("--device", &common.device, which).shows_default().offers(Offers::Devices);
}

void add_result(Options& options, Common& common) {
  options.add("result", &common.file, "number or name of a result in the store, `last`, a bundle, FILE.db:7, or a file that `run --out` wrote")
      .must_be_given()
      .offers(Offers::Results);
}

Option& add_store(Options& options, std::string& store) {
  return options.add("--store", &store, "the file that keeps results, or none; by default what GEXP_STORE names, else gexp.db in this folder")
      .from_variable("GEXP_STORE")
      .offers(Offers::Files);
}

void add_templates(Options& options, Common& common) {
  options.add("--templates", &common.templates, "folder of CUDA templates instead of the built-in ones").offers(Offers::Folders);
}

Option& add_out(Options& options, Common& common, const char* help) {
  return options.add("--out", &common.out, help).or_letter("-o").checked_by(some_name).offers(Offers::Files);
}

Option& add_fresh(Options& options, Common& common, const char* help) { return options.add("--fresh", &common.fresh, help); }

Option& add_jobs(Options& options, Common& common, const char* help) { return options.add("--jobs", &common.jobs, help).between(1, 1024); }

Option& add_time_limit(Options& options, Common& common, const char* help) {
  return options.add("--time-limit", &common.time_limit, help).checked_by(above_zero);
}

Option& add_memory_limit(Options& options, Common& common) {
  return options.add("--memory-limit", &common.memory_limit, "MiB of this machine's memory that gexp may hold; by default half of what is free").checked_by(above_zero);
}

Option& add_launch_limit(Options& options, Common& common) {
  return options.add("--launch-limit", &common.launch_limit, "seconds after which one launch is taken to hang; 60 by default").checked_by(above_zero);
}

void add_progress(Options& options, Common& common) {
  options.add("--quiet", &common.quiet, "no progress");
  options.add("--json-progress", &common.json_progress, "progress as JSON, an object a line on stderr").excludes("--quiet");
}

}  // namespace gexp::cli
