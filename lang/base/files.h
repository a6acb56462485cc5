// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lang/base/result.h"

/// Files, opened in one way wherever gexp wants one: a FIFO, a device, a socket and a folder are refused without being
/// waited for, and nothing that is written goes through a link that somebody else laid.
namespace gexp {

inline constexpr unsigned kAsOthers = 0666;  ///< permissions of a new file, less the umask; one that replaces another has that one's
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{4} << 30;

/// A whole regular file. E0711: there is none, it is another thing, cannot be read, or is larger than `most`.
Result<std::string> read_regular_file(const std::string& path, std::uint64_t most = kMostFileBytes);

/// What stands behind a path, in words: "a folder", "a FIFO", …; empty: a regular file, or nothing.
std::string other_than_file(const std::string& path);

/// A new, empty file beside `path` under a name that nobody can foresee, open for writing; `name` gets it. Negative, with
/// errno, where it cannot be made. Its permissions are those of a new file, or `mode`.
int open_beside(const std::string& path, std::string& name, unsigned mode = kAsOthers);

/// All of it; false, with errno, where it cannot be written.
bool write_all(int file, std::string_view text);

/// The whole text takes the name, or nothing changes: a file beside it is written, then renamed. An errno; 0: done.
int replace_file(const std::string& path, std::string_view text, unsigned mode = kAsOthers);

/// What this process may write from now on, in bytes: all that goes through write_all together, and no file may grow
/// beyond `largest`, whoever writes it (a resource limit, which what it starts inherits). What is more fails with EFBIG.
void limit_writing(std::uint64_t together, std::optional<std::uint64_t> largest);
/// strerror; of EFBIG, whose limit it was.
std::string why_not_written(int reason);

}  // namespace gexp
