// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "runtime/cli/app.h"
#include "runtime/cli/command.h"

/// Options that several commands have, so that they are called and explained alike.
namespace gexp::cli {

/// `--allow`: folders of kernels.
void add_allow(Options& options, std::vector<std::string>& allow);

/// An experiment: its file or its text, settings, templates. misuse_of_spec says when neither was given.
void add_spec(Options& options, Common& common);
std::string misuse_of_spec(const Common& common);

/// `which`: the devices that the command can use.
inline constexpr const char* kOneDevice = "auto, cuda:N, sim:NAME or sim:FILE.toml";
inline constexpr const char* kAnyDevices = "auto, cuda:N, cuda:all (every GPU here, at once), sim:NAME or sim:FILE.toml";
Option& add_device(Options& options, Common& common, const char* which);

/// The saved result that a command reads, and the store in which to look for it.
void add_result(Options& options, Common& common);
Option& add_store(Options& options, std::string& store);

void add_templates(Options& options, Common& common);
Option& add_out(Options& options, Common& common, const char* help);
Option& add_fresh(Options& options, Common& common, const char* help);
Option& add_jobs(Options& options, Common& common, const char* help);
Option& add_time_limit(Options& options, Common& common, const char* help);
Option& add_memory_limit(Options& options, Common& common);
Option& add_launch_limit(Options& options, Common& common);
/// --quiet and --json-progress.
void add_progress(Options& options, Common& common);

/// Checks: nan and inf pass for numbers elsewhere, and for limits where they are compared.
std::string above_zero(const std::string& text);
std::string from_zero(const std::string& text);

}  // namespace gexp::cli
