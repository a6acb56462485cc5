// SPDX-License-Identifier: Apache-2.0
// The papers' results on the simulated devices: every experiment that ships on the devices that its head names, and a row for
// each thing that it expects there.
//
//   suite GEXP EXPERIMENTS PAGES [FILTER]            runs them, prints the table, and compares what was found with what the pages say;
//                                                    with --two, two at once: most of a run is one thread's, and each takes longer then
//   suite --papers GEXP EXPERIMENTS PAGES KEPT [FILTER | --kept]   the long runs too, and writes the pages; results stay in KEPT,
//                                                    and what FILTER leaves out, or all with --kept, is read from there
//   suite --check EXPERIMENTS PAGES                  runs nothing: whether the pages name every result that the heads say is run
//   suite --same SHOWN FOUND                         whether a page with SHOWN may stand where FOUND was found
//
// Each published result that holds must be able to fail: of what was found one value is changed, and all are judged again.
//
// Where GEXP_COMPILED_BEFORE is set, by with_each_compiler.sh, a run with another compiler came before. What then hangs on the compiler is the
// code of each experiment: each runs on one device of its head, the first by name, and nothing is changed to see that it can fail.
//
// Heads: `# simulated: gtx560ti gtx780 with most=32`, a line for each group of devices with the same settings. The exit code is 1
// if anything did not hold or a page says something else, 2 if nothing ran.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <thread>

#include "tests/experiments/can_fail.h"
#include "tests/experiments/heads.h"
#include "tests/experiments/pages.h"
#include "tests/experiments/results.h"

namespace {

namespace fs = std::filesystem;
using namespace gexp::papers;

constexpr int kTries = 3;
constexpr std::size_t kCell = 56;  // columns of a cell; what is longer takes more lines

/// Whole words in lines of at most kCell columns; a longer word is cut.
std::vector<std::string> wrapped(const std::string& text) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    const auto space = std::min(text.find(' ', at), text.size());
    auto word = text.substr(at, space - at);
    at = space + 1;
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > kCell) lines.emplace_back();
    for (; word.size() > kCell; word = word.substr(kCell)) lines.back() += word.substr(0, kCell), lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

struct Run {
  const Pair* pair;
  Answer answer;
};

void print_table(const std::vector<Run>& runs) {
  constexpr const char* kRow = "{:<8} {:<26} {:<11} {:>7}  {:<56}  {}";
  const auto line = [&](const auto&... cells) {
    auto text = fmt::format(kRow, cells...);
    text.erase(text.find_last_not_of(' ') + 1);
    std::puts(text.c_str());
  };
  std::puts("");
  line("verdict", "experiment", "device", "seconds", "published", "found");
  for (const auto& [pair, answer] : runs) {
    for (const auto& judged : answer.judged) {
      const bool first = &judged == &answer.judged.front();
      auto published = wrapped(judged.text);
      if (!judged.from.empty()) {
        const auto source = wrapped("[" + judged.from + "]");
        published.insert(published.end(), source.begin(), source.end());
      }
      const auto found = wrapped(judged.found);
      for (std::size_t i = 0; i < std::max(published.size(), found.size()); ++i) {
        line(i ? "" : judged.verdict, i || !first ? "" : pair->name, i || !first ? "" : pair->device, i || !first ? "" : fmt::format("{:.1f}", answer.seconds),
             i < published.size() ? published[i] : "", i < found.size() ? found[i] : "");
      }
    }
  }
  std::puts("");
}

int check(const fs::path& experiments, const fs::path& folder) {
  const auto heads = read_heads(experiments);
  const auto problems = Pages(folder).check(heads);
  for (const auto& problem : problems) std::puts(problem.c_str());
  std::puts(fmt::format("{} published results of {} runs, {} problems", heads.rows.size(), heads.pairs.size(), problems.size()).c_str());
  return heads.rows.empty() ? 2 : !problems.empty();
}

/// What the pages say otherwise.
std::vector<std::string> stale(const std::vector<Run>& runs, const Pages& pages) {
  std::vector<std::string> lines;
  for (const auto& [pair, answer] : runs) {
    const auto tolerance = answer.nvrtc.starts_with(kRelease) ? std::optional(kSameFigure) : std::nullopt;
    for (const auto& judged : answer.judged) {
      if (judged.from.empty()) continue;
      const auto shown = pages.shown(pair->name, pair->device, judged.text);
      if (shown && shown->verdict == judged.verdict && same_findings(shown->found, judged.found, tolerance)) continue;
      lines.push_back(fmt::format("{} says of {} on {}: {}", page_of(judged.from), pair->name, pair->device, shown ? shown->found + ", " + shown->verdict : "nothing"));
    }
  }
  return lines;
}

/// Calls `use` with each number below `count`, on `jobs` threads.
void for_each_of(std::size_t count, std::size_t jobs, const std::function<void(std::size_t)>& use) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (auto i = next++; i < count; i = next++) use(i);
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < jobs; ++i) others.emplace_back(work);
  work();
  for (auto& other : others) other.join();
}

/// Runs them, `jobs` at once.
std::map<const Pair*, Results::Ran> run_all(const Results& results, const std::vector<const Pair*>& pairs, std::size_t jobs) {
  std::vector<Results::Ran> ran(pairs.size());
  for_each_of(pairs.size(), jobs, [&](std::size_t i) {
    ran[i] = results.run(*pairs[i]);
    std::fputs(fmt::format("{:<28} {:<11} {:6.1f} s\n", pairs[i]->name, pairs[i]->device, ran[i].seconds).c_str(), stderr);
  });
  std::map<const Pair*, Results::Ran> all;
  for (std::size_t i = 0; i < pairs.size(); ++i) all[pairs[i]] = std::move(ran[i]);
  return all;
}

struct Again {
  Margins margins;
  std::size_t passed = 0, judged = 0;  ///< published results that held, and how many of them held again
};

Again again(const Run& run, const Results& results) {
  const auto& judged = run.answer.judged;
  Again made;
  made.passed = static_cast<std::size_t>(std::count_if(judged.begin(), judged.end(), [](const auto& each) { return each.verdict == "pass" && !each.from.empty(); }));
  // What is found again has fractions of a second at its end, which a busy machine may take away.
  for (int tries = 0; tries < kTries && (tries == 0 || made.judged != made.passed); ++tries) {
    made.margins = margins_of(results.file_of(run.pair->name, run.pair->device));
    made.judged = made.margins.near + made.margins.further + made.margins.held.size();
  }
  return made;
}

/// How far the results of all runs are from failing; prints those that cannot. Each is inferred again, which takes as long as half of the runs.
bool all_can_fail(const std::vector<Run>& runs, const Results& results, std::size_t jobs) {
  std::size_t near = 0, further = 0, held = 0;
  std::vector<Again> all(runs.size());
  for_each_of(runs.size(), jobs, [&](std::size_t i) { all[i] = again(runs[i], results); });
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto* pair = runs[i].pair;
    const auto& [margins, passed, judged_again] = all[i];
    near += margins.near, further += margins.further, held += margins.held.size();
    for (const auto& text : margins.held) std::puts(fmt::format("holds whatever is found: {} on {}: {}", pair->name, pair->device, text).c_str());
    if (judged_again == passed) continue;
    std::puts(fmt::format("judged again, other results hold: {} on {}", pair->name, pair->device).c_str());
    ++held;
  }
  std::puts(fmt::format("of the published results that hold, {} fail where one finding is half or twice what it is, {} where it is further off, {} never", near, further, held).c_str());
  return held == 0;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  const auto option = [&](const std::string& name) { return std::erase(words, name) > 0; };
  const bool only_compare = option("--same"), two = option("--two"), only_check = option("--check"), write = option("--papers"), all_kept = option("--kept");
  const std::size_t least = only_check || only_compare ? 2 : write ? 4 : 3;
  if (words.size() < least) return std::fputs("suite GEXP EXPERIMENTS PAGES [FILTER]\n", stderr), 2;
  if (only_compare) return !same_findings(words[0], words[1]);
  if (only_check) return check(words[0], words[1]);

  const fs::path root = fs::absolute(words[1]);
  setenv("GEXP_EXPERIMENTS", root.c_str(), 1);
  const auto scratch = fs::temp_directory_path() / fmt::format("gexp-suite-{}", getpid());
  const auto filter = words.size() > least ? words[least] : "";
  const auto heads = read_heads(root);
  Results results(fs::absolute(words[0]).string(), write ? fs::absolute(words[3]) : scratch);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Run> runs;
  std::size_t judged = 0, wrong = 0;
  std::vector<const Pair*> asked, made;
  const bool compiled_before = std::getenv("GEXP_COMPILED_BEFORE") != nullptr;
  for (const auto& pair : heads.pairs) {
    const bool wanted = (pair.name + " " + pair.device).find(filter) != std::string::npos && !all_kept;
    if (write ? false : !wanted || pair.is_long) continue;
    if (compiled_before && !asked.empty() && asked.back()->name == pair.name) continue;
    asked.push_back(&pair);
    if (wanted) made.push_back(&pair);
  }
  const std::size_t jobs = two ? 2 : 1;
  const auto ran = run_all(results, made, jobs);
  for (const auto* pair : asked) {
    const auto own = ran.find(pair);
    const bool wanted = own != ran.end();
    Run run{pair, results.answer(*pair, wanted ? &own->second : nullptr)};
    if (!wanted && run.answer.judged.front().verdict == "broken") continue;  // never run, and not to be now
    judged += run.answer.judged.size();
    wrong += run.answer.wrong;
    runs.push_back(std::move(run));
  }
  const bool can_fail = compiled_before || all_can_fail(runs, results, jobs);
  std::error_code none;
  fs::remove_all(scratch, none);
  print_table(runs);
  Pages pages(words[2]);
  bool missing = false;
  std::vector<std::string> lines;
  if (write) {
    const auto found = [&](const Row& row) -> std::optional<std::pair<std::string, std::string>> {
      for (const auto& [pair, answer] : runs) {
        if (pair->name != row.experiment || pair->device != row.device) continue;
        for (const auto& each : answer.judged) {
          if (each.text == row.text) return std::pair(each.found, each.verdict);
        }
      }
      return std::nullopt;
    };
    const auto cell = [&](const std::string& what) -> std::optional<std::string> {
      std::string why;
      auto text = results.cell(what, why);
      if (why.empty()) return text;
      std::puts(fmt::format("{{{}}}: {}", what, why).c_str());
      missing = true;
      return std::nullopt;
    };
    for (const auto& name : pages.fill(heads, found, cell)) std::puts(fmt::format("written {}", name).c_str());
  } else {
    lines = stale(runs, pages);
    missing = !lines.empty();
  }
  std::puts(fmt::format("{} of {} expectations held in {} runs, {:.1f} s", judged - wrong, judged, runs.size(), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()).c_str());
  if (!lines.empty()) std::puts("FAIL: pages say other than what was found; ./dev papers writes them");
  for (const auto& line : lines) std::puts(line.c_str());
  return judged == 0 ? 2 : wrong > 0 || missing || !can_fail;
}
