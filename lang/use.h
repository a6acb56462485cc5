// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/ast.h"
#include "lang/base/result.h"
#include "lang/base/value.h"
#include "lang/names.h"

/// `use "FILE" as m`: the files from which a file takes params, lets and patterns.
namespace gexp::lang {

/// A file as it was found. `path` names it in diagnostics and in `use` statements of its own (as `by`): one file, one path.
struct LoadedText {
  std::string path;
  std::string text;
};
/// Finds what `use "path"` in the file `by` names. The path is relative and leads nowhere up. Fails with E0121 where the file
/// lies outside the folder all the same (a link), with E0122 where there is none or it cannot be read.
using Loader = std::function<Result<LoadedText>(const std::string& path, const std::string& by)>;

/// One `use` statement and the file it names.
struct Used {
  Span span;         ///< of the path in the statement
  std::string path;  ///< as written
  std::shared_ptr<const Source> source;  ///< null when it was not found
  std::string sha256;                    ///< of its text
  std::shared_ptr<const File> file;       ///< null of a file of numbers
  std::shared_ptr<const Fields> numbers;  ///< what that holds (lang/number_file.h); null of a spec
  std::shared_ptr<const Exports> exports;  ///< null when it has mistakes
  std::vector<Used> uses;                  ///< of its own
};
using Uses = std::vector<Used>;  ///< in the order of the statements

/// Reads and checks what a parsed file uses, and what that uses, then checks the file itself. Mistakes inside a used file are
/// shown there, with notes at the statements that lead to it. E0120 to E0126. Without a loader no file is found.
/// `declared`, when wanted, gets every name of the file itself.
Uses check_with_uses(const File& file, const Source& source, const Loader& load, Diagnostics& diagnostics,
                     Declarations* declared = nullptr);

/// Why a path is none of `use`, or of another statement that names files with one of these endings: a spec that somebody sends must not
/// reach files that its reader did not mean to give it.
std::optional<std::string> refused_path(const std::string& path, const std::vector<std::string_view>& endings);
/// The same of `use`: a spec, or a file of numbers.
std::optional<std::string> refused_use(const std::string& path);

/// Where a statement names a file, and the hash that holds it.
struct Locked {
  const Word& path;
  const Word& sha256;  ///< empty when absent
  Span statement;      ///< that is to have it
  std::string with_hash;  ///< the statement as it is to be written
};
/// Whether the file, whose text has that hash, may be used: E0123 when another one was locked; E0126, a warning, when none was.
bool check_lock(const Locked& locked, const std::string& sha256, const std::string& found_at, const Source& by, Diagnostics& diagnostics);

/// Hands on what was said of a used file: shown in its text, with a note at `use` in the file that uses it.
void hand_on(const Diagnostics& from, const std::shared_ptr<const Source>& text, Span use, Diagnostics& into);

}  // namespace gexp::lang
