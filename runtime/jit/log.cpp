// SPDX-License-Identifier: Apache-2.0
// NVRTC writes "NAME(LINE): error: TEXT", then the quoted source and a caret, then a summary. Notes (a diagnostic's second
// form) keep that first line without the name, "line LINE: error: TEXT", which log_lines() reads back.
#include <cctype>
#include <charconv>

#include "runtime/jit/compiler.h"

namespace gexp::jit {
namespace {

constexpr std::string_view kKinds[] = {"error", "catastrophic error", "warning", "remark", "internal error"};

bool names_a_kind(std::string_view text) {
  for (const auto kind : kKinds) {
    if (!text.starts_with(kind)) continue;
    const auto rest = text.substr(kind.size());
    if (rest.starts_with(":") || rest.starts_with(" #") || rest.starts_with(" C")) return true;
  }
  return false;
}

}  // namespace

std::vector<LogLine> parse_log(std::string_view log) {
  std::vector<LogLine> list;
  while (!log.empty()) {
    const auto end = std::min(log.find('\n'), log.size());
    const auto text = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    // The name may hold "(" itself: the first "): " that a number precedes and a kind follows decides.
    for (auto close = text.find("): "); close != std::string_view::npos; close = text.find("): ", close + 1)) {
      const auto open = text.rfind('(', close);
      if (open == std::string_view::npos) continue;
      int line = 0;
      const auto [stop, error] = std::from_chars(text.data() + open + 1, text.data() + close, line);
      if (error != std::errc() || stop != text.data() + close || !names_a_kind(text.substr(close + 3))) continue;
      list.push_back({line, std::string(text.substr(close + 3))});
      break;
    }
  }
  return list;
}

std::vector<LogLine> log_lines(const Diagnostic& diagnostic) {
  static constexpr std::string_view kLine = "line ";
  std::vector<LogLine> list;
  for (const auto& note : diagnostic.notes) {
    const auto colon = note.message.find(": ");
    if (!note.message.starts_with(kLine) || colon == std::string::npos) continue;
    int line = 0;
    const auto [stop, error] = std::from_chars(note.message.data() + kLine.size(), note.message.data() + colon, line);
    if (error == std::errc() && stop == note.message.data() + colon) list.push_back({line, note.message.substr(colon + 2)});
  }
  return list;
}

}  // namespace gexp::jit
