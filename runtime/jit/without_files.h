// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

namespace gexp::jit {

/// Runs `work` on a thread of its own that finds no file from then on, whatever is asked of it: opening one, or looking for one, fails as if
/// it were not there. What is open or loaded already stays. By a seccomp filter of that thread; where the kernel has none, or with
/// GEXP_SANDBOX=off, it is a thread like any other.
void without_files(const std::function<void()>& work);

}  // namespace gexp::jit
