// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>

/// The one way to the standard streams. Characters that a terminal would obey are shown as escapes (lang/base/visible.h), but
/// for gexp's own colours where these are on. No call fails: what could not be written to the standard output is told by
/// `finish_output`, and what could not be told on the standard error costs nothing.
namespace gexp::cli {

void write_out(const std::string& text);
void write_err(const std::string& text);

template <class... T>
void print_out(fmt::format_string<T...> format, T&&... values) {
  write_out(fmt::format(format, std::forward<T>(values)...));
}
template <class... T>
void print_err(fmt::format_string<T...> format, T&&... values) {
  write_err(fmt::format(format, std::forward<T>(values)...));
}

/// Before anything is opened: a standard stream that is closed stays unwritable, and no file of ours takes its number. A pipe
/// whose reader is gone, and a file that may not grow, is an error, not a signal. A bug leaves a message and exit code kBug.
void begin_output();

/// All that was printed is written; `exit`, or kEnvironment with a message where it could not be.
int finish_output(int exit);

/// What a bug says of itself, and what to do with it.
void report_bug(const char* what);

/// The text as a stream gets it. `colours`: gexp's own stay.
std::string for_stream(const std::string& text, bool colours);

}  // namespace gexp::cli
