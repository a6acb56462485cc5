// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace gexp::cli {

/// Gives up, for this thread and those that it starts, what a command that reads a stranger's file does not need (worker/confine.h). From now
/// on it writes, makes and removes files only in the temporary folders, in /dev, and in the folders of `paths`: a folder itself, or the one
/// that holds a file, where a link leads to, too. It starts no program and opens no socket. Empty paths count for nothing.
void confine_to(const std::vector<std::string>& paths);

/// What it may write there: half of what is free, or GEXP_DISK_LIMIT MiB. `each`: no file may grow by more, whoever writes it; else what gexp
/// itself writes counts alone. A part of confine_to.
void limit_disk(const std::vector<std::string>& paths, bool each);

}  // namespace gexp::cli
