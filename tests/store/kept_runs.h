// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/result/result.h"
#include "runtime/store/store.h"
#include "tests/store/folder.h"

/// Runs of an experiment with six stages into a store, as `gexp run --store` makes them, whose launches are counted.
namespace gexp::test {

/// b reads a, c reads b, e reads another finding of a, f reads d.
extern const std::string kSix;

struct Edit {
  std::string from, to;
};
/// An edit that has nothing to edit ends the test.
std::string edited(std::string text, const std::vector<Edit>& edits);

/// How a run differs from the plain one.
struct How {
  bool fresh = false;
  std::uint64_t seed = 5;
  std::string model = "gtx780";
  std::vector<Edit> model_edits{};
  std::string toolchain = "a build";
  std::vector<std::pair<std::string, std::string>> settings{};
  int fault_at = 0;      ///< number of the launch that hangs; 0: none
  int interrupt_at = 0;  ///< the launch after which the run is told to end; 0: none
  bool shared = false;   ///< all points on one device, as on a GPU
  std::string nvrtc = "1";
};

struct Ran {
  result::RunResult result;
  std::int64_t id = 0;
  int launches = 0;
  std::vector<std::string> kept;  ///< stages
};

Ran run(const std::string& path, const std::string& text, const How& how = {}, bool resume = false);

using StageNames = std::vector<std::string>;
inline const StageNames kAll = {"a", "b", "c", "d", "e", "f"};

std::string findings(const result::RunResult& result);
/// The first line in which two results differ but for times and where stages were kept from; empty: they do not. A
/// result that was read holds no findings, they are inferred again: then `answers` is false.
std::string difference(const result::RunResult& one, const result::RunResult& other, bool answers = true);
/// As the run says itself.
int launches_of(const result::RunResult& result, const StageNames& stages);
/// What was not kept was measured, launch for launch, and the whole is what a fresh run gives.
void check_like_fresh(const Ran& ran, const std::string& text, const How& how, const StageNames& measured_stages);

}  // namespace gexp::test
