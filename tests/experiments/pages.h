// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/experiments/heads.h"

/// The pages of the papers (docs/papers): written by hand but for what stands between two kinds of comment and `<!-- end -->`.
///
///     <!-- beside
///     | | published | found |
///     |---|---|---|
///     | size | 12 KB | {cache/structure gtx780 capacity.C} |
///     -->
///     (the same lines, with what was found in place of the braces)
///     <!-- end -->
///
///     <!-- expected: cache/structure tlb/structure -->
///     (for each of these experiments how to run it, and a table of what it expects with a source that this page is of)
///     <!-- end -->
namespace gexp::papers {

/// One row of a table of expectations, as it stands in a page.
struct Shown {
  std::string experiment, device, text, from, found, verdict;
};

class Pages {
 public:
  explicit Pages(const std::filesystem::path& folder);

  /// Every row that the heads say, once, in the page of its paper, and nothing else; what stands beside is made of its comment.
  /// Each problem is a line that says where.
  [[nodiscard]] std::vector<std::string> check(const Heads& heads) const;
  /// What the page says was found; nothing when it has no such row.
  [[nodiscard]] std::optional<Shown> shown(const std::string& experiment, const std::string& device, const std::string& text) const;

  /// Fills the pages anew. `found` gives the found text and the verdict of a row, `cell` what is put for braces; either gives nothing
  /// where it was not run, and then what stands in the page stays. Returns the names of pages that changed, which are written.
  using Found = std::function<std::optional<std::pair<std::string, std::string>>(const Row&)>;
  using Cell = std::function<std::optional<std::string>(const std::string&)>;
  std::vector<std::string> fill(const Heads& heads, const Found& found, const Cell& cell);

 private:
  struct Block {
    std::vector<std::string> wanted;  ///< `beside`: the template's lines
    std::vector<std::string> experiments;  ///< `expected`
    std::vector<std::string> lines;   ///< what stands there
    bool beside = false;
    std::size_t at = 0;               ///< its first line's number
  };
  using Part = std::pair<std::string, std::optional<Block>>;  ///< text, then maybe a block
  struct Page {
    std::string name;
    std::vector<Part> parts;
    std::vector<std::string> problems;
    std::vector<Shown> rows;
  };
  [[nodiscard]] std::vector<std::string> table(const std::string& page, const Block& block, const Heads& heads, const Found& found) const;

  std::filesystem::path folder_;
  std::vector<Page> pages_;
};

/// The NVRTC release whose figures the pages show.
constexpr const char* kRelease = "13.";
/// Share by which a figure with a decimal point may differ from its page with that release: of two runs, as a page rounds.
constexpr double kSameFigure = 0.01;

/// Whether a page's text still says what was found. Words and whole numbers must be equal, and figures with a decimal point within the
/// share `tolerance` of each other; without one they may differ, as with a release that the pages do not show (docs/papers/README.md).
/// A text that ends in ` …` was cut: what was found goes on.
bool same_findings(const std::string& shown, const std::string& found, std::optional<double> tolerance = kSameFigure);

/// "mei17.md" for "Mei17 Table V"; "README.md" where the source is no paper.
std::string page_of(const std::string& from);

}  // namespace gexp::papers
