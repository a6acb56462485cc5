// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "lang/base/result.h"
#include "runtime/result/result.h"

/// What a run is made of: spec and used files, settings, seed, device, toolchain. Two runs that agree in it measure the same.
namespace gexp::result {

/// JSON, "schema": "gexp.lock/1".
std::string lockfile(const RunResult& result);

/// The settings and seed that a lock file asks for. E0917: it is none.
struct Locked {
  std::vector<std::string> set;  ///< NAME=VALUE
  std::uint64_t seed = 1;
  std::string device;            ///< id
  RunResult made_of;    ///< as far as a lock file says
};
Result<Locked> read_lockfile(const std::string& path);
/// The same of a file's text; `path` names it.
Result<Locked> read_lock_text(const std::string& text, const std::string& path);

/// What differs, a line each: "NVRTC 11.8.89 there, 13.0.48 here". Kernels are compared where both name some.
std::vector<std::string> differences(const RunResult& there, const RunResult& here);

}  // namespace gexp::result
