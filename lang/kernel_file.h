// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lang/ast.h"
#include "lang/base/diagnostic.h"
#include "lang/use.h"

/// The files that `kernel "FILE" entry NAME(…)` names: CUDA text of a device, or PTX.
namespace gexp::lang {

/// One of them; a file that several operations name is read once and comes once.
struct KernelFile {
  std::string path;  ///< as written
  std::shared_ptr<const Source> source;
  std::string sha256;  ///< of its text
};
using KernelFiles = std::vector<KernelFile>;

/// Every operation that launches a kernel of a file, in the order of the text.
void for_each_kernel(const File& file, const std::function<void(const Op&)>& visit);

/// Whether a file outside the spec's folder may be read: whoever runs the spec has allowed it.
using Outside = std::function<bool(const std::string& path, const std::string& by)>;

/// Why a path is none of a kernel's file; `by` is the file that names it.
std::optional<std::string> refused_kernel_path(const std::string& path, const std::string& by, const Outside& outside);

/// Reads those files as `use` reads its own, by the same rules (E0120 to E0123, E0125, E0126). E0127, in the file itself, where its text
/// would have the compiler read another one.
KernelFiles read_kernel_files(const File& file, const Source& source, const Loader& load, Diagnostics& diagnostics,
                              const Outside& outside = nullptr);

/// Whether a path names PTX, which is not compiled.
bool is_ptx(const std::string& path);

/// What would have a compiler of CUDA text read a file, or ask for one: `#include` and its like, however they are written.
std::vector<Span> reads_of_files(const std::string& text);

}  // namespace gexp::lang
