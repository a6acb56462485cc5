// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

namespace gexp::jit {

/// While one lives, a crash of its thread ends the process with a message of `name` and exit code 2, as of a text that does not compile:
/// NVRTC overflows its stack on brackets nested some thousands deep. It has a stack of its own for that. Where somebody else handles
/// crashes, a sanitizer or a debugger, nothing is done.
class CrashGuard {
 public:
  explicit CrashGuard(const std::string& name);
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

 private:
  std::unique_ptr<char[]> stack_;
};

}  // namespace gexp::jit
