// SPDX-License-Identifier: Apache-2.0
#include "tests/experiments/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace gexp::papers {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongest = 160;  // of what was found; the result file has it whole
constexpr const char* kEnd = "<!-- end -->";
constexpr const char* kBeside = "<!-- beside";
constexpr const char* kExpected = "<!-- expected: ";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string code(const std::string& text) { return "`" + escaped(text) + "`"; }

std::string shortened(const std::string& text) { return text.size() <= kLongest ? text : text.substr(0, text.rfind(' ', kLongest)) + " …"; }

/// The cells of a table's row; a `|` that is escaped parts none.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cells.back() += line[++i];
    } else if (line[i] == '|') {
      cells.emplace_back();
    } else if (!cells.empty()) {
      cells.back() += line[i];
    }
  }
  if (!cells.empty()) cells.pop_back();
  for (auto& cell : cells) {
    const auto first = cell.find_first_not_of(" `"), last = cell.find_last_not_of(" `");
    cell = first == std::string::npos ? "" : cell.substr(first, last - first + 1);
  }
  return cells;
}

/// Whether a line is what its template says, whatever stands for the braces.
bool fits(const std::string& line, const std::string& wanted) {
  std::size_t at = 0, from = 0;
  for (bool first = true;; first = false) {
    const auto open = wanted.find('{', from);
    const auto piece = wanted.substr(from, open == std::string::npos ? std::string::npos : open - from);
    const auto found = open == std::string::npos && !first ? (line.size() >= at + piece.size() && line.ends_with(piece) ? line.size() - piece.size() : std::string::npos)
                                                           : line.find(piece, at);
    if (found == std::string::npos || (first && found != 0) || (!first && found == at)) return false;
    at = found + piece.size();
    if (open == std::string::npos) return at == line.size();
    from = wanted.find('}', open) + 1;
    if (from == 0) return false;
  }
}

/// "**[cache/structure](…)**: `gexp run …`" names the experiment of the tables that follow.
std::string experiment_of(const std::string& line) {
  const auto end = line.find("](");
  return line.starts_with("**[") && end != std::string::npos ? line.substr(3, end - 3) : "";
}

std::string command_of(const Pair& pair) {
  auto command = fmt::format("gexp run {}.gexp --device sim:{}", pair.name, pair.device);
  std::istringstream settings(pair.settings);
  for (std::string setting; settings >> setting;) command += " --set " + setting;
  return command;
}

}  // namespace

bool same_findings(const std::string& shown, const std::string& found, std::optional<double> tolerance) {
  constexpr std::string_view kCut = " …";
  const bool cut = shown.ends_with(kCut);
  const auto kept = cut ? shown.substr(0, shown.size() - kCut.size()) : shown;
  const char *a = kept.c_str(), *b = found.c_str();
  while (*a != '\0' && *b != '\0') {
    if (std::isdigit(static_cast<unsigned char>(*a)) == 0 || std::isdigit(static_cast<unsigned char>(*b)) == 0) {
      if (*a++ != *b++) return false;
      continue;
    }
    char *a_end = nullptr, *b_end = nullptr;
    const double x = std::strtod(a, &a_end), y = std::strtod(b, &b_end);
    const bool whole = std::find(a, static_cast<const char*>(a_end), '.') == a_end && std::find(b, static_cast<const char*>(b_end), '.') == b_end;
    if (whole ? x != y : tolerance && std::fabs(x - y) > *tolerance * std::max(x, y)) return false;
    a = a_end, b = b_end;
  }
  return *a == '\0' && (cut || *b == '\0');
}

std::string page_of(const std::string& from) {
  const auto paper = from.substr(0, from.find_first_of(" :,"));
  for (const auto& [name, page] : {std::pair{"Mei17", "mei17.md"}, {"Mei14", "mei14.md"}, {"Lashgar15", "lashgar15.md"}, {"S-L1", "s_l1.md"}, {"Wong10", "wong10.md"}}) {
    if (paper == name) return page;
  }
  return "README.md";
}

Pages::Pages(const fs::path& folder) : folder_(folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    Page page;
    page.name = file.filename().string();
    std::ifstream in(file);
    std::string text, experiment;
    std::optional<Block> block;
    bool in_template = false;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (!block) {
        text += line + "\n";
        if (line == kBeside || (line.starts_with(kExpected) && line.ends_with(" -->"))) {
          block.emplace();
          block->beside = in_template = line == kBeside;
          block->at = number;
          const std::size_t head = std::string(kExpected).size();
          std::istringstream names(block->beside ? "" : line.substr(head, line.size() - head - 4));
          for (std::string name; names >> name;) block->experiments.push_back(name);
        }
      } else if (in_template) {
        text += line + "\n";
        if (line == "-->") in_template = false;
        else block->wanted.push_back(line);
      } else if (line == kEnd) {
        page.parts.emplace_back(std::move(text), std::move(block));
        text = line + "\n";
        block.reset();
      } else {
        block->lines.push_back(line);
        if (const auto named = experiment_of(line); !named.empty()) experiment = named;
        const auto cells = cells_of(line);
        if (!block->beside && cells.size() == 5 && cells[0] != "device" && cells[0].find("---") == std::string::npos) {
          page.rows.push_back({experiment, cells[0], cells[1], cells[2], cells[3], cells[4]});
        }
      }
    }
    if (block) page.problems.push_back(fmt::format("{}:{}: no {} follows", page.name, block->at, kEnd));
    page.parts.emplace_back(std::move(text), std::nullopt);
    pages_.push_back(std::move(page));
  }
}

std::optional<Shown> Pages::shown(const std::string& experiment, const std::string& device, const std::string& text) const {
  for (const auto& page : pages_) {
    for (const auto& row : page.rows) {
      if (row.experiment == experiment && row.device == device && row.text == text) return row;
    }
  }
  return std::nullopt;
}

std::vector<std::string> Pages::check(const Heads& heads) const {
  std::vector<std::string> problems = heads.problems;
  std::set<std::string> wanted;
  for (const auto& row : heads.rows) {
    const auto page = page_of(row.from);
    wanted.insert(fmt::format("{}|{}|{}|{}", page, row.experiment, row.device, row.text));
    std::size_t times = 0;
    for (const auto& each : pages_) {
      for (const auto& shown : each.rows) {
        if (shown.experiment != row.experiment || shown.device != row.device || shown.text != row.text) continue;
        ++times;
        if (each.name != page) problems.push_back(fmt::format("{}: {} on {} belongs to {}: {}", each.name, row.experiment, row.device, page, row.text));
        if (shown.from != row.from) problems.push_back(fmt::format("{}: {} on {} is from \"{}\": {}", each.name, row.experiment, row.device, row.from, row.text));
        if (row.run == (shown.verdict == "not run")) problems.push_back(fmt::format("{}: {} on {} is {}run: {}", each.name, row.experiment, row.device, row.run ? "" : "not ", row.text));
      }
    }
    if (times != 1) problems.push_back(fmt::format("{}: {} on {} is there {} times: {}", page, row.experiment, row.device, times, row.text));
  }
  for (const auto& page : pages_) {
    problems.insert(problems.end(), page.problems.begin(), page.problems.end());
    for (const auto& shown : page.rows) {
      if (!wanted.contains(fmt::format("{}|{}|{}|{}", page.name, shown.experiment, shown.device, shown.text))) {
        problems.push_back(fmt::format("{}: {} expects no such thing on {}: {}", page.name, shown.experiment, shown.device, shown.text));
      }
    }
    for (const auto& [text, block] : page.parts) {
      if (!block || !block->beside) continue;
      bool same = block->lines.size() == block->wanted.size();
      for (std::size_t i = 0; same && i < block->lines.size(); ++i) same = fits(block->lines[i], block->wanted[i]);
      if (!same) problems.push_back(fmt::format("{}:{}: the table is not what is made of the comment above it", page.name, block->at));
    }
  }
  if (!problems.empty()) problems.push_back("./dev papers writes these pages");
  return problems;
}

std::vector<std::string> Pages::table(const std::string& page, const Block& block, const Heads& heads, const Found& found) const {
  std::vector<std::string> lines;
  for (const auto& experiment : block.experiments) {
    std::vector<std::string> commands;
    for (const auto& pair : heads.pairs) {
      const auto here = [&](const Row& row) { return row.experiment == pair.name && row.device == pair.device && page_of(row.from) == page; };
      if (pair.name == experiment && std::any_of(heads.rows.begin(), heads.rows.end(), here)) commands.push_back(command_of(pair));
    }
    if (!lines.empty()) lines.emplace_back();
    lines.push_back(fmt::format("**[{}](../../experiments/{}.gexp)**{}", experiment, experiment, commands.empty() ? "" : ":"));
    for (const auto& command : commands) lines.push_back(fmt::format("`{}`{}", command, &command == &commands.back() ? "" : " ·"));
    lines.insert(lines.end(), {"", "| device | published, as the file expects it | source | found | verdict |", "|---|---|---|---|---|"});
    for (const auto& row : heads.rows) {
      if (row.experiment != experiment || page_of(row.from) != page) continue;
      auto now = row.run ? found(row) : std::pair<std::string, std::string>("", "not run");
      if (const auto before = shown(row.experiment, row.device, row.text); !now && before) now.emplace(before->found, before->verdict);
      if (!now) now.emplace("", "");
      lines.push_back(fmt::format("| {} | {} | {} | {} | {} |", row.device, code(row.text), escaped(row.from), escaped(shortened(now->first)), now->second));
    }
  }
  return lines;
}

std::vector<std::string> Pages::fill(const Heads& heads, const Found& found, const Cell& cell) {
  std::vector<std::string> changed;
  for (const auto& page : pages_) {
    std::string all;
    bool differs = false;
    for (const auto& [text, block] : page.parts) {
      all += text;
      if (!block) continue;
      auto lines = block->lines;
      if (!block->beside) {
        lines = table(page.name, *block, heads, found);
      } else {
        std::vector<std::string> made;
        bool whole = true;
        for (auto line : block->wanted) {
          for (std::size_t open = line.find('{'); open != std::string::npos && whole; open = line.find('{', open)) {
            const auto close = line.find('}', open);
            const auto value = close == std::string::npos ? std::nullopt : cell(line.substr(open + 1, close - open - 1));
            whole = value.has_value();
            if (whole) line.replace(open, close - open + 1, escaped(*value)), open += value->size();
          }
          made.push_back(line);
        }
        if (whole) lines = made;
      }
      differs = differs || lines != block->lines;
      for (const auto& line : lines) all += line + "\n";
    }
    if (!differs) continue;
    changed.push_back(page.name);
    std::ofstream(folder_ / page.name) << all;
  }
  return changed;
}

}  // namespace gexp::papers
