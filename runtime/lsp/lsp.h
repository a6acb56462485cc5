// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/use.h"

/// The language server: the front end of gexp for editors, by the language server protocol 3.17.
/// It opens no file and prints nothing. What it reads and writes, and the files that a document uses, come from its
/// caller.
namespace gexp::lsp {

struct Stream {
  /// Waits for bytes and takes at most so many; 0: there will be no more.
  std::function<std::size_t(char* into, std::size_t most)> read;
  /// Whether bytes can be taken without waiting: what is there already may make an answer needless. None: never.
  std::function<bool()> ready;
  /// Writes all of it; false when nobody reads any more.
  std::function<bool(std::string_view)> write;
};

struct Options {
  std::string version;              ///< of gexp
  std::vector<std::string> models;  ///< what `expect … on` may name
  /// Finds a used file. `by` is the path of the document, or its URI where it is no file.
  lang::Loader load;
  /// The file on disk that holds a loaded text of this path, to be shown; empty: there is none. None: the path itself.
  std::function<std::string(const std::string& path)> file_of;
  std::string codes_page = {};  ///< URI of the page that explains the codes of diagnostics; empty: there is none
};

/// Serves one editor until it says `exit` or goes away. 0 after `shutdown`, else 1.
int serve(const Stream& stream, const Options& options);

}  // namespace gexp::lsp
