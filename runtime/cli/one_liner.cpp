// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/one_liner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "compiler/pipeline.h"
#include "compiler/plan/expand.h"
#include "compiler/plan/plan.h"
#include "lang/memory_spaces.h"
#include "lang/vocabulary.h"
#include "lang/words.h"
#include "runtime/cli/app.h"
#include "runtime/cli/typed_text.h"

// Text becomes text: statements stay as they were typed, what is missing is put around them, and the result is read like any
// other file. So the short form has no meaning of its own, and whatever the language learns, it knows.
namespace gexp::cli {
namespace {

using std::string_view;

constexpr const char* kShortForms = "write an operation, as in 'chase uniform(128B, 64KiB) via ca', or a whole file, which begins with `gexp 1`";
constexpr std::size_t kMostPoints = 64;  // planned to see how much memory the pattern needs; beyond them the ends of the sweeps

/// Where something stands that is neither space nor comment.
std::size_t first_visible(string_view text) {
  std::size_t at = 0;
  while (at < text.size() && string_view(" \t\r\n#").find(text[at]) != string_view::npos) {
    at = text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at + 1;
  }
  return at;
}

class Short {
 public:
  explicit Short(const Source& typed) : text_(typed.text()) {}

  /// The statements and what the operation says; a diagnostic where that cannot be told.
  std::optional<Diagnostic> read() {
    const Words scan(text_);
    if (scan.unclosed) return wrong(*scan.unclosed, fmt::format("this `{}` is not closed", text_[scan.unclosed->begin]));
    for (const auto word : scan.all) {
      const auto name = slice(word);
      threads_ = threads_ || name == "lane" || name == "tid" || name == "warp" || name == "gtid" || name == "bank";
    }
    std::vector<Span> begins;
    for (const auto word : scan.outside) {
      if (begins_statement(word, begins.empty() ? string_view() : slice(begins.back()))) begins.push_back(word);
    }
    const auto first = first_visible(text_);
    if (begins.empty() || begins[0].begin != first) {
      const auto end = scan.outside.empty() ? static_cast<std::uint32_t>(text_.size()) : std::max<std::uint32_t>(scan.outside[0].end, static_cast<std::uint32_t>(first) + 1);
      return wrong({static_cast<std::uint32_t>(first), end}, "neither a file nor an operation begins here", kShortForms);
    }
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const auto end = i + 1 < begins.size() ? begins[i + 1].begin : static_cast<std::uint32_t>(text_.size());
      if (auto problem = statement(begins[i], trimmed({begins[i].begin, end}))) return problem;
    }
    if (operations_.empty() && !timed_) return wrong({0, static_cast<std::uint32_t>(text_.size())}, "nothing is timed here", kShortForms);
    return std::nullopt;
  }

  [[nodiscard]] bool needs_memory() const { return chases_ && memory_.empty(); }
  [[nodiscard]] bool small_space() const { return space_ && lang::find_space(slice(*space_)) && lang::find_space(slice(*space_))->most_bytes > 0; }

  [[nodiscard]] Made file(const std::string& length) const {
    Made made;
    made << "gexp 1\nexperiment one_liner\n";
    for (const auto span : of_file_) line(made, "", span);
    if (needs_memory()) {
      made << fmt::format("memory A: u32[{}] in ", length);
      if (space_) made.typed(text_, *space_);
      else made << (bank_ ? "shared" : "global");
      made << "\n";
    }
    made << "\nstage run {\n";
    for (const auto span : before_) line(made, "  ", span);
    if (pattern_) {
      made << "  pattern ring = ";
      labelled(made, *pattern_);
      made << "\n";
    }
    if (!launch_) made << fmt::format("  launch grid 1 block {}\n", threads_ ? 32 : 1);
    if (pattern_ && !cold_ && !warm_block_) {
      made << "  warm { ";
      chase(made, true);
      made << " }\n";
    }
    const auto timing = how();
    if (!timed_) {
      made << fmt::format("  timed lat {} {{ ", timing);
      for (const auto& operation : operations_) {
        if (chases_ && operation.begin == chase_.begin) chase(made, false);
        else made.typed(text_, operation);
        made << " ";
      }
      made << "}\n";
    }
    const auto record = timed_ ? std::string(slice(record_)) : "lat";
    const bool each = timing == "each";
    for (const auto span : timed_blocks_) line(made, "  ", span);
    if (!repeat_) made << (each ? fmt::format("  repeat 3..20 until stable(misses({}))\n", record) : fmt::format("  repeat 5..50 until ci(median({})) < 2%\n", record));
    for (const auto span : after_) line(made, "  ", span);
    if (!find_) {
      if (each) made << fmt::format("  find classes: list = latency_classes({})\n", record);
      if (each && !sweep_) made << fmt::format("  find missing: count = value(misses({}))\n", record);
      if (!each && !sweep_) made << fmt::format("  find time: {} = value(median({}))\n", timing == "wall" ? "s" : "cycles", record);
      if (!each && sweep_) made << fmt::format("  find times: list = clusters(median({}))\n", record);
    }
    made << "}\n";
    return made;
  }

 private:
  [[nodiscard]] string_view slice(Span span) const { return string_view(text_).substr(span.begin, span.end - span.begin); }
  [[nodiscard]] Span trimmed(Span span) const {
    while (span.end > span.begin && string_view(" \t\r\n;").find(text_[span.end - 1]) != string_view::npos) --span.end;
    while (span.begin < span.end && string_view(" \t\r\n").find(text_[span.begin]) != string_view::npos) ++span.begin;
    return span;
  }
  [[nodiscard]] Diagnostic wrong(Span span, std::string message, std::string hint = {}) const {
    auto problem = failure("E0103", std::move(message), std::move(hint));
    problem.span = span;
    return problem;
  }
  void line(Made& made, string_view indent, Span span) const {
    made << indent;
    made.typed(text_, span);
    made << "\n";
  }
  [[nodiscard]] std::string how() const {
    if (how_) return std::string(slice(*how_));
    return chases_ ? "each" : "total";
  }

  [[nodiscard]] bool begins_statement(Span word, string_view last) const {
    const auto name = slice(word);
    const auto next = text_.find_first_not_of(" \t\r\n", word.end);
    if (!lang::is_statement_word(name) || (name == "repeat" && word.end < text_.size() && text_[word.end] == '(')) return false;
    if (name != "memory" || last != "budget") return true;
    auto end = next;  // `budget memory 4MiB` is one statement, `memory A: …` the next
    while (end < text_.size() && lang::is_word(text_[end])) ++end;
    return next < text_.size() && lang::is_word_start(text_[next]) && text_.find_first_not_of(" \t\r\n", end) == text_.find(':', end);
  }

  std::optional<Diagnostic> statement(Span word, Span whole) {
    const auto name = slice(word);
    const auto inside = string_view(text_).substr(word.end, whole.end - word.end);
    const bool block = inside.find('{') != string_view::npos;
    if (name == "gexp" || name == "experiment" || name == "stage") return wrong(word, fmt::format("`{}` belongs to a whole file", name), kShortForms);
    if (name == "meta" || name == "use" || name == "param" || name == "budget" || name == "seed" || name == "memory") {
      of_file_.push_back(whole);
      if (name == "memory" && memory_.empty()) memory_ = std::string(second_word(word, whole));
    } else if (name == "timed" && block) {
      timed_ = true;
      const Words words(text_.substr(0, whole.end), word.end);
      if (words.outside.size() < 2) return wrong(whole, "a record and a way of timing are wanted after `timed`", "write `timed lat each { … }`");
      record_ = words.outside[0], how_ = words.outside[1];
      timed_blocks_.push_back(whole);
    } else if (name == "timed") {
      if (word.end < whole.end) how_ = trimmed({word.end, whole.end});
    } else if (name == "warm" && !block) {
      laps_before_ = trimmed({word.end, whole.end});
      if (laps_before_->empty()) return wrong(word, "a number of laps is wanted after `warm`");
    } else if (name == "chase" && !has_word(word, whole, "by")) {
      if (chases_) return wrong(word, "a short form chases once", "the second chase is written `chase A by PATTERN laps N`, with a `pattern` of its own");
      return short_chase(word, whole);
    } else if (lang::is_operation_word(name)) {
      operations_.push_back(whole);
    } else {
      launch_ = launch_ || name == "launch", repeat_ = repeat_ || name == "repeat", find_ = find_ || name == "find", sweep_ = sweep_ || name == "sweep";
      warm_block_ = warm_block_ || name == "warm";
      const bool first = name == "sweep" || name == "let" || name == "pattern" || name == "skip" || name == "require" || name == "launch" || name == "flush" || name == "warm";
      (first ? before_ : after_).push_back(whole);
    }
    return std::nullopt;
  }

  [[nodiscard]] string_view second_word(Span word, Span whole) const {
    const Words words(text_.substr(0, whole.end), word.end);
    return words.outside.empty() ? string_view("A") : slice(words.outside[0]);
  }
  [[nodiscard]] bool has_word(Span word, Span whole, string_view wanted) const {
    const Words words(text_.substr(0, whole.end), word.end);
    return std::any_of(words.outside.begin(), words.outside.end(), [&](Span w) { return slice(w) == wanted; });
  }

  /// chase [of] PATTERN {in SPACE | laps N | steps N | as WIDTH | via PATH | cold}
  std::optional<Diagnostic> short_chase(Span word, Span whole) {
    chases_ = true;
    chase_ = whole;
    operations_.push_back(whole);
    auto from = word.end;
    std::vector<Span> clauses;
    const Words scan(text_.substr(0, whole.end), word.end);
    for (const auto each : scan.outside) {
      const auto name = slice(each);
      if (name == "of" && trimmed({word.end, each.begin}).empty()) from = each.end;
      if (name == "in" || name == "laps" || name == "steps" || name == "as" || name == "via" || name == "cold") clauses.push_back(each);
    }
    pattern_ = trimmed({from, clauses.empty() ? whole.end : clauses[0].begin});
    if (pattern_->empty()) return wrong(word, "a pattern is wanted after `chase`", kShortForms);
    const Words inside(text_.substr(0, pattern_->end), pattern_->begin);
    bank_ = std::any_of(inside.all.begin(), inside.all.end(), [&](Span w) { return slice(w) == "bank"; });
    for (std::size_t i = 0; i < clauses.size(); ++i) {
      const auto name = slice(clauses[i]);
      const auto value = trimmed({clauses[i].end, i + 1 < clauses.size() ? clauses[i + 1].begin : whole.end});
      auto& slot = name == "in" ? space_ : name == "as" ? width_ : name == "via" ? via_ : count_;
      if (name == "cold" ? !value.empty() : value.empty()) {
        return name == "cold" ? wrong(value, "`cold` is followed by nothing of its own") : wrong(clauses[i], fmt::format("a value is wanted after `{}`", name));
      }
      if (name != "cold" && slot) return wrong(clauses[i], fmt::format("`{}` is said already", name));
      if (name == "cold") cold_ = true;
      else slot = value;
      if (name == "steps") steps_ = true;
    }
    return std::nullopt;
  }

  void chase(Made& made, bool warm) const {
    const auto begin = made.text().size();
    made << fmt::format("chase {} by ring ", memory_.empty() ? "A" : memory_);
    if (warm) {
      made << "laps ";
      if (laps_before_) made.typed(text_, *laps_before_);
      else made << "1";
    } else {
      made << (steps_ ? "steps " : "laps ");
      if (count_) made.typed(text_, *count_);
      else made << "2";
    }
    for (const auto& [slot, name] : {std::pair{&width_, "as"}, std::pair{&via_, "via"}}) {
      if (!*slot) continue;
      made << fmt::format(" {} ", name);
      made.typed(text_, **slot);
    }
    made.stands_for(begin, chase_);
  }

  /// A pattern with the labels that may be left out in the short form: uniform(128B, 64KiB).
  void labelled(Made& made, Span span) const {
    const Words scan(text_.substr(0, span.end), span.begin);
    auto done = span.begin;
    for (const auto word : scan.all) {
      const auto* callable = lang::find_callable(slice(word));
      if (!callable || callable->kind != lang::Callable::Kind::Pattern || callable->most != 0 || callable->free_labels) continue;
      if (word.end >= span.end || text_[word.end] != '(') continue;
      std::size_t argument = 0;
      int depth = 0;
      bool fresh = true;
      for (auto i = word.end; i < span.end; ++i) {
        const char c = text_[i];
        if (c == '(' || c == '[') ++depth;
        if ((c == ')' || c == ']') && --depth == 0) break;
        const bool begins = i > word.end && fresh && c != ' ' && c != '\t' && c != '\n';
        if (begins) {
          auto end = i;
          while (end < span.end && lang::is_word(text_[end])) ++end;
          const auto colon = text_.find_first_not_of(" \t\n", end);
          const bool has_label = lang::is_word_start(c) && colon < text_.size() && text_[colon] == ':';
          if (!has_label && argument < callable->labels.size() && !callable->labels[argument].name.empty() && i >= done) {
            if (i > done) made.typed(text_, {done, i});
            made << std::string(callable->labels[argument].name) + ": ";
            done = i;
          }
          fresh = false;
        }
        if (c == ',' && depth == 1) ++argument, fresh = true;
      }
    }
    made.typed(text_, {done, span.end});
  }

  const std::string& text_;
  std::vector<Span> of_file_, before_, timed_blocks_, after_, operations_;
  std::optional<Span> pattern_, space_, width_, via_, count_, how_, laps_before_;
  std::string memory_;
  Span record_, chase_;
  bool steps_ = false, cold_ = false, chases_ = false, timed_ = false, bank_ = false, threads_ = false;
  bool launch_ = false, repeat_ = false, find_ = false, sweep_ = false, warm_block_ = false;
};

/// The end of the furthest access of the chase over the points of the sweeps.
Result<std::int64_t> memory_needed(const compiler::Program& program) {
  auto scope = compiler::file_scope(program);
  if (!scope) return scope.error();
  const auto& stage = program.stages.front();
  std::vector<std::pair<compiler::Names, compiler::Coordinates>> places{{compiler::Names(&*scope), {}}};
  for (const auto& sweep : stage.sweeps) {
    std::vector<std::pair<compiler::Names, compiler::Coordinates>> more;
    for (const auto& [names, at] : places) {
      auto values = compiler::sweep_values(sweep, names);
      if (!values) return values.error();
      if (places.size() * values->size() > kMostPoints) values->erase(values->begin() + 1, values->end() - 1);
      for (const auto& value : *values) {
        more.emplace_back(names, at);
        compiler::bind_sweep(sweep, value, more.back().first);
        for (const auto& name : sweep.names) more.back().second.emplace_back(name, *more.back().first.lookup(name));
      }
    }
    places = std::move(more);
  }
  std::int64_t most = 1;
  for (const auto& [names, at] : places) {
    bool skipped = false;
    auto plan = compiler::plan_point(program, stage, at, *scope, skipped);
    if (!plan) return plan.error();
    for (const auto& links : plan->links) {
      for (const auto offset : links.offsets) most = std::max(most, offset + links.width);
    }
  }
  return most;
}

std::string rounded(std::int64_t bytes) {
  auto kib = (bytes + 1023) / 1024;
  if (kib % 1048576 == 0) return fmt::format("{}GiB", kib / 1048576);
  return kib % 1024 == 0 ? fmt::format("{}MiB", kib / 1024) : fmt::format("{}KiB", kib);
}

}  // namespace

bool is_short_form(const std::string& text) {
  const auto begin = first_visible(text);
  auto end = begin;
  while (end < text.size() && lang::is_word(text[end])) ++end;
  return text.compare(begin, end - begin, "gexp") != 0 && !string_view(text).starts_with("\xef\xbb\xbf");
}

std::optional<Source> expand_short_form(const std::string& text, const std::vector<std::pair<std::string, std::string>>& settings,
                                        const lang::Loader& load) {
  const Source typed("-e", text);
  Short form(typed);
  if (const auto problem = form.read()) {
    print(*problem, &typed);
    return std::nullopt;
  }
  auto made = form.file(form.small_space() ? "65520B" : "8000GiB");
  const auto full = std::make_shared<const Source>("-e, in full", made.text());
  std::vector<std::pair<std::string, Span>> shown;  // what was typed once stands in the warm-up too
  const auto show = [&](Diagnostic diagnostic) {
    if (diagnostic.in) return print(diagnostic, &typed);
    const auto place = [&](Span& span, std::shared_ptr<const Source>& in) {
      if (const auto origin = made.origin(span)) span = *origin;
      else if (!span.empty()) in = full;
    };
    place(diagnostic.span, diagnostic.in);
    for (auto& note : diagnostic.notes) {
      if (!note.in) place(note.span, note.in);
    }
    const std::pair<std::string, Span> place_and_message{diagnostic.message, diagnostic.span};
    if (std::find(shown.begin(), shown.end(), place_and_message) != shown.end()) return;
    shown.push_back(place_and_message);
    print(diagnostic, &typed);
  };
  Diagnostics diagnostics;
  compiler::Options options;
  options.settings = settings;
  options.load = load;
  const auto program = compiler::compile(*full, options, diagnostics);
  for (const auto& diagnostic : diagnostics.sorted()) {
    if (diagnostic.severity == Severity::Error) show(diagnostic);  // warnings come again with the file
  }
  if (!program) return std::nullopt;
  if (!form.needs_memory()) return *full;
  const auto bytes = memory_needed(*program);
  if (!bytes) {
    show(bytes.error());
    return std::nullopt;
  }
  return Source("-e, in full", form.file(form.small_space() ? fmt::format("{}B", (*bytes + 15) / 16 * 16) : rounded(*bytes)).text());
}

}  // namespace gexp::cli
