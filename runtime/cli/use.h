// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compiler/program.h"
#include "lang/use.h"

/// Where the files that `use` names come from.
namespace gexp::cli {

/// Begins the paths of the library's files.
inline constexpr const char* kLibrary = "<library>/";

/// The folder of the using file, never out of it, then the library that travels in the binary. Files of the library find that
/// alone; their paths begin with `<library>/`.
Result<lang::LoadedText> load_used(const std::string& path, const std::string& by);

/// Folders, or files, in which files of kernels may lie besides the folder of the spec that names them (`--allow`). For the process.
void allow_kernels(const std::vector<std::string>& paths);
/// Whether such a path was allowed: for compiler::Options::outside.
bool kernel_allowed(const std::string& path, const std::string& by);

/// The files that a result holds, and no others: inferring again reads nothing else.
lang::Loader stored(const std::vector<compiler::UsedFile>& files);

}  // namespace gexp::cli
