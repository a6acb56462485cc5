// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace gexp::jit {

/// Whether a library is whole, as far as its ELF header tells: what ends it (a copy that was broken off, a full disk) makes
/// the loader touch pages that are not there, which no program survives. Empty: it is, or there is no such file; else why not.
std::string why_not_whole(const std::string& library);

}  // namespace gexp::jit
