// SPDX-License-Identifier: Apache-2.0
// docs/diagnostics.md is made of lang/base/codes.h, of the goldens under tests/cases and of the words below. GEXP_BLESS=1 writes
// it anew.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "lang/base/codes.h"
#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kHead = R"(# Diagnostics

<!-- Made by tests/compiler/catalogue_test.cpp from lang/base/codes.h and tests/cases; GEXP_BLESS=1 rewrites it. -->

What each code of a diagnostic means, with an example of most.

Every diagnostic has one form: `file:line:column: error[CODE]: message`, the line with a caret, notes with further
places, and a hint: what to write instead.

- A file is read to its end. One run reports every mistake, in the order of the text.
- A file that does not parse (E010, E011) is not checked (E02, E03).
- A file with mistakes is not given values (E04).

All examples, and several of most codes, are cases in `tests/cases`.

)";

constexpr const char* kTail = R"(## For editors

`gexp check --json FILE…` writes one JSON array to the standard output and nothing else: an item for each diagnostic of
each file, in the files' order. `[]` says that there is none.

It exits with 2 if a file has an error or cannot be read. Warnings alone exit with 0.

```json
[
 {
  "file": "ring.gexp",
  "code": "E0105",
  "severity": "error",
  "message": "a unit touches its number",
  "line": 3,
  "column": 15,
  "end_line": 3,
  "end_column": 21,
  "hint": "write `48KiB`",
  "notes": []
 }
]
```

| member | meaning |
|---|---|
| `file` | the path as it was given; for a mistake inside a used file, the path of that file |
| `code` | one of those above |
| `severity` | `error` or `warning` |
| `message`, `hint` | what is wrong, and what to write instead; `hint` is `""` if there is none |
| `line`, `column` | where it begins, from 1; a column is a byte of the line; 0 if it is about no place |
| `end_line`, `end_column` | one past its last byte; equal to the beginning if something is missing there |
| `notes` | further places: objects with `message`, `file`, `line`, `column`, `end_line`, `end_column`, 0 if they are about no place |
)";

/// The part of a golden that is the first diagnostic of this code.
std::optional<std::string> excerpt(const std::string& golden, const std::string& code) {
  const auto mark = golden.find("[" + code + "]: ");
  if (mark == std::string::npos) return std::nullopt;
  const auto begin = golden.rfind('\n', mark) == std::string::npos ? 0 : golden.rfind('\n', mark) + 1;
  std::string text;
  for (auto at = begin; at < golden.size();) {
    const auto end = std::min(golden.find('\n', at), golden.size());
    const auto line = golden.substr(at, end - at);
    if (at != begin && (line.find(": error[") != std::string::npos || line.find(": warning[") != std::string::npos)) break;
    text += line + "\n";
    at = end + 1;
  }
  return text;
}

std::optional<std::string> example_of(const Code& code) {
  for (const char* corpus : {"diagnostics", "models"}) {
    const auto golden = fs::path(GEXP_SOURCE_DIR) / "tests/cases" / corpus / code.example / (std::string(code.example) + ".err");
    if (fs::exists(golden)) return excerpt(read(golden), std::string(code.code));
  }
  return std::nullopt;
}

/// The group of the longest prefix.
const CodeGroup* group_of(std::string_view code) {
  const CodeGroup* best = nullptr;
  for (const auto& group : kCodeGroups) {
    if (code.starts_with(group.prefix) && (!best || group.prefix.size() > best->prefix.size())) best = &group;
  }
  return best;
}

/// In lines of at most 120 columns.
std::string wrapped(std::string_view text) {
  std::string lines;
  for (std::size_t columns = 0; !text.empty();) {
    const auto word = text.substr(0, text.find(' '));
    const bool fits = columns + 1 + word.size() <= 120;
    lines += columns == 0 ? "" : fits ? " " : "\n";
    columns = columns > 0 && fits ? columns + 1 + word.size() : word.size();
    lines += word;
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return lines;
}

std::string catalogue() {
  std::string text = kHead;
  for (const auto& group : kCodeGroups) {
    text += fmt::format("## {}: {}\n\n{}{}| code | meaning |\n|---|---|\n", group.prefix, group.title, wrapped(group.about), group.about.empty() ? "" : "\n\n");
    std::string examples;
    for (const auto& code : kCodes) {
      if (group_of(code.code) != &group) continue;
      text += fmt::format("| {} | {} |\n", code.code, code.meaning);
      if (code.example.empty()) continue;
      const auto example = example_of(code);
      CHECK_MESSAGE(example, code.code, " is not in the golden of the case ", code.example);
      examples += example.value_or("") + "\n";
    }
    if (!examples.empty()) text += "\n```text\n" + examples.substr(0, examples.size() - 1) + "```\n";
    text += "\n";
  }
  return text + kTail;
}

}  // namespace

TEST_CASE("every code belongs to a group") {
  for (const auto& code : kCodes) CHECK_MESSAGE(group_of(code.code), std::string(code.code));
}

TEST_CASE("docs/diagnostics.md is the catalogue") {
  const auto path = fs::path(GEXP_SOURCE_DIR) / "docs/diagnostics.md";
  const auto text = catalogue();
  if (std::getenv("GEXP_BLESS")) std::ofstream(path, std::ios::binary) << text;
  CHECK_MESSAGE(text == read(path), "docs/diagnostics.md is not what is made of lang/base/codes.h and the cases: GEXP_BLESS=1 writes it");
}
