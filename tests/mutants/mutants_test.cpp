// SPDX-License-Identifier: Apache-2.0
// A file with one token left out, or two neighbours swapped, is still valid or is refused at the place of the mistake. An example may
// hold what cannot be run yet: errors that the file itself has do not count. Of the others
//   - each has a message and a place inside the text;
//   - the first in the text begins in the statement of the changed tokens or in the one after it (a statement's text runs to the next
//     one's; the header of the file, `stage NAME {` and a stage's `}` count as statements);
//   - where a brace or `stage` is changed, which moves everything below it to another level, the first begins anywhere from the
//     statement of the tokens on.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <set>

#include "compiler/pipeline.h"
#include "tests/lang/support.h"
#include "tests/mutants/tokens.h"

using namespace gexp;
using namespace gexp::test;

namespace {

/// Where the statements of a file begin, in order.
std::vector<std::uint32_t> statement_begins(const Source& source, const lang::File& file) {
  std::vector<std::uint32_t> begins{0};
  const auto& text = source.text();
  for (const auto& statement : file.statements) {
    begins.push_back(statement.span.begin);
    const auto* stage = std::get_if<lang::Stage>(&statement.node);
    if (!stage) continue;
    for (const auto& item : stage->items) begins.push_back(item.span.begin);
  }
  // A stage's `}`: the last brace before the next statement of the file.
  for (std::size_t i = 0; i < file.statements.size(); ++i) {
    if (!std::holds_alternative<lang::Stage>(file.statements[i].node)) continue;
    const auto end = i + 1 < file.statements.size() ? file.statements[i + 1].span.begin : static_cast<std::uint32_t>(text.size());
    std::uint32_t close = 0;
    for (const auto place : token_places(text)) {
      if (place.begin < end && source.slice(place) == "}") close = place.begin;
    }
    begins.push_back(close);
  }
  std::sort(begins.begin(), begins.end());
  return begins;
}

struct Outcome {
  std::vector<Diagnostic> diagnostics;
  std::string shown;
  bool failed = false;
};

Result<lang::LoadedText> load(const std::string& path, const std::string& by) {
  const auto found = std::filesystem::path(by).parent_path() / path;
  if (!std::filesystem::exists(found)) return failure("E0122", "there is no such file");
  return lang::LoadedText{found.string(), read(found)};
}

Outcome run(const std::string& path, const std::string& text, bool lowering) {
  const Source source(path, text);
  Diagnostics diagnostics;
  compiler::Options options;
  options.load = load;
  if (lowering) {
    compiler::compile(source, options, diagnostics);
  } else {
    const auto file = lang::parse(source, diagnostics);
    if (!diagnostics.has_errors()) lang::check_with_uses(file, source, load, diagnostics);
    // What cannot be run yet is refused where it stands, mutant or not: that must only do no harm.
    Diagnostics others;
    if (!diagnostics.has_errors()) compiler::compile(source, options, others);
  }
  Outcome outcome{diagnostics.sorted(), "", diagnostics.has_errors()};
  for (const auto& diagnostic : outcome.diagnostics) outcome.shown += render(diagnostic, &source);
  return outcome;
}

class Mutants {
 public:
  explicit Mutants(const std::filesystem::path& path) : source_(path.string(), read(path)) {
    Diagnostics diagnostics;
    begins_ = statement_begins(source_, lang::parse(source_, diagnostics));
    REQUIRE_FALSE(diagnostics.has_errors());
    lowering_ = !run(source_.path(), source_.text(), true).failed;
    for (const auto& diagnostic : run(source_.path(), source_.text(), lowering_).diagnostics) own_.emplace(diagnostic.span.begin, diagnostic.message);
  }

  void all() {
    places_ = token_places(source_.text());
    const auto& places = places_;
    REQUIRE(places.size() > 50);
    for (std::size_t i = 0; i < places.size(); ++i) {
      judge(i, i, "", "");
      if (i + 1 == places.size()) break;
      const auto first = source_.slice(places[i]), second = source_.slice(places[i + 1]);
      const auto gap = source_.slice({places[i].end, places[i + 1].begin});
      judge(i, i + 1, joined(std::string(second), joined(std::string(gap), first)), second);
    }
    MESSAGE(source_.path() << ": " << count_ << " mutants, " << valid_ << " of them valid, slowest " << slowest_ << " ms");
  }

 private:
  /// One text after the other, two words of them still two.
  static std::string joined(std::string left, std::string_view right) {
    const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%'; };
    if (!left.empty() && !right.empty() && word(left.back()) && word(right.front())) left += ' ';
    return left.append(right);
  }

  /// The tokens from `first` to `last` replaced by a text that begins with the token `second`.
  void judge(std::size_t first, std::size_t last, const std::string& by, std::string_view second) {
    const Span changed{places_[first].begin, places_[last].end};
    const auto before = joined(source_.text().substr(0, changed.begin), by);
    const auto text = joined(before, std::string_view(source_.text()).substr(changed.end));
    const auto longer = static_cast<std::int64_t>(text.size()) - static_cast<std::int64_t>(source_.text().size());
    /// The same place in the file; inside what is changed, one there.
    const auto back = [&](std::uint32_t at) {
      return at < changed.begin ? at : at < before.size() ? std::min(at, changed.end - 1) : static_cast<std::uint32_t>(at - longer);
    };
    const auto start = std::clock();
    const auto outcome = run(source_.path(), text, lowering_);
    const double took = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    slowest_ = std::max(slowest_, took);
    ++count_;
    CAPTURE(source_.path());
    CAPTURE(source_.position(changed.begin).line);
    CAPTURE(source_.slice(changed));
    CAPTURE(outcome.shown);
    CHECK(took < 1000);
    for (const auto& diagnostic : outcome.diagnostics) {
      if (diagnostic.code == "E0112") continue;  // there are too many: about no place
      CHECK_FALSE(diagnostic.message.empty());
      CHECK(diagnostic.code.size() == 5);
      CHECK(diagnostic.span.begin <= diagnostic.span.end);
      CHECK(diagnostic.span.end <= text.size());
    }
    const auto allowed = there(changed, second);
    bool failed = false, found = false;
    for (const auto& diagnostic : outcome.diagnostics) {
      const auto at = back(diagnostic.span.begin);
      if (diagnostic.severity != Severity::Error || own_.contains({at, diagnostic.message})) continue;
      if (!failed) found = found || (allowed.begin <= at && at <= allowed.end);
      // What holds of two places is told at one; a note then shows the other.
      for (const auto& note : diagnostic.notes) {
        const auto begin = back(note.span.begin), end = back(note.span.end);
        if (!failed && note.span.end > 0) found = found || (begin <= allowed.end && allowed.begin <= end);
      }
      failed = true;
    }
    if (!failed) ++valid_;
    CHECK(found == failed);
  }

  [[nodiscard]] Span there(Span changed, std::string_view second) const {
    const auto index = [&](std::uint32_t at) { return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), at) - begins_.begin()) - 1; };
    const auto first = index(changed.begin), last = index(changed.end - 1);
    const auto end = static_cast<std::uint32_t>(source_.text().size());
    const auto from = begins_[first];
    for (const auto& token : {source_.slice(changed).substr(0, 1), second.substr(0, 1)}) {
      if (token == "{" || token == "}") return {from, end};
    }
    if (source_.slice(changed).starts_with("stage") || second == "stage") return {from, end};
    return {from, last + 2 < begins_.size() ? begins_[last + 2] - 1 : end};
  }

  Source source_;
  std::vector<std::uint32_t> begins_;
  std::vector<Span> places_;
  std::set<std::pair<std::uint32_t, std::string>> own_;  ///< diagnostics of the file itself
  bool lowering_ = false;
  int count_ = 0, valid_ = 0;
  double slowest_ = 0;
};

}  // namespace

TEST_CASE("one token left out, or two neighbours swapped, is told where it is" * doctest::test_suite("long")) {
  for (const char* folder : {"tests/cases/examples", "experiments"}) {
    for (const auto& path : files_under(folder, ".gexp")) Mutants(path).all();
  }
}
