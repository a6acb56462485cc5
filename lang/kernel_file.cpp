// SPDX-License-Identifier: Apache-2.0
#include "lang/kernel_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "lang/base/sha256.h"
#include "lang/base/visible.h"
#include "lang/words.h"

// NVRTC compiles in this process and opens what `#include` names, wherever that is, and its messages quote what stands there. So a text
// that could ask for it does not reach NVRTC. Directives are not made by macros, so it is enough to look at the lines as translation
// phases 1 to 3 leave them: trigraphs, lines joined by a backslash, comments.
namespace gexp::lang {
namespace {

constexpr std::size_t kMaxKernelFiles = 64, kMaxKernelBytes = 8u << 20;

/// The text after those phases; `from` says where each of its characters stood.
struct Plain {
  std::string text;
  std::vector<std::uint32_t> from;
};

/// One character of the text, with what stands for it: `??=` for `#`, `??/` for a backslash. 0 behind the end.
char character(const std::string& text, std::size_t at, std::size_t& length) {
  length = 1;
  if (at >= text.size()) return '\0';
  if (text.compare(at, 2, "??") == 0 && at + 2 < text.size()) {
    const char third = text[at + 2];
    if (third == '=' || third == '/') {
      length = 3;
      return third == '=' ? '#' : '\\';
    }
  }
  return text[at];
}

bool is_break(char c) { return c == '\n' || c == '\r'; }

Plain joined(const std::string& text) {
  Plain plain;
  for (std::size_t at = 0, length = 1; at < text.size(); at += length) {
    const char c = character(text, at, length);
    if (c == '\\') {
      auto next = at + length;
      while (next < text.size() && (text[next] == ' ' || text[next] == '\t')) ++next;  // compilers allow blanks there
      if (next < text.size() && is_break(text[next])) {
        length = next + (text[next] == '\r' && next + 1 < text.size() && text[next + 1] == '\n' ? 2 : 1) - at;
        continue;
      }
    }
    plain.text += c;
    plain.from.push_back(static_cast<std::uint32_t>(at));
  }
  plain.from.push_back(static_cast<std::uint32_t>(text.size()));
  return plain;
}

constexpr auto kReadingDirectives = std::to_array<std::string_view>({"include", "include_next", "import", "embed"});
constexpr auto kReadingWords = std::to_array<std::string_view>({"__has_include", "__has_include_next", "__has_embed"});

template <class Words>
bool one_of(std::string_view word, const Words& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view word_at(std::string_view text, std::size_t at) {
  auto end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

/// Behind blanks and whole comments.
std::size_t skip_blanks(std::string_view text, std::size_t at) {
  for (;;) {
    if (text.substr(at, 2) == "/*")
      at = std::min(text.size(), std::min(text.find("*/", at + 2), text.size() - 2) + 2);
    else if (at < text.size() && !is_break(text[at]) && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
    else
      return at;
  }
}

class Reader {
 public:
  Reader(const Source& by, const Loader& load, Diagnostics& diagnostics, const Outside& outside)
      : by_(by), load_(load), diagnostics_(diagnostics), outside_(outside) {}

  void read(const KernelCall& call) {
    const auto& path = call.path.text;
    const KernelFile* file = known(path);
    if (!file && !refused_.contains(path)) file = load(call);
    if (!file)
      refused_.insert(path);
    else if (!call.sha256.span.empty() || unlocked_.insert(path).second)  // a file that nothing holds is told of once
      check_lock({call.path, call.sha256, call.path.span, fmt::format("kernel \"{}\" sha256 \"{}\"", path, file->sha256)}, file->sha256,
                 file->source->path(), by_, diagnostics_);
  }

  KernelFiles take() { return std::move(files_); }

 private:
  const KernelFile* known(const std::string& path) const {
    const auto found = std::find_if(files_.begin(), files_.end(), [&](const KernelFile& file) { return file.path == path; });
    return found == files_.end() ? nullptr : &*found;
  }

  const KernelFile* load(const KernelCall& call) {
    const auto& path = call.path.text;
    const auto fail = [&](const char* code, std::string message, std::string hint = {}) {
      diagnostics_.error(code, call.path.span, std::move(message), std::move(hint));
      return nullptr;
    };
    constexpr const char* kWhere = "name a .cu or .ptx file below this file's folder, or allow another folder with --allow";
    if (auto why = refused_kernel_path(path, by_.path(), outside_))
      return fail("E0120", fmt::format("`{}` is no kernel's file: {}", path, *why), kWhere);
    if (files_.size() >= kMaxKernelFiles) return fail("E0125", fmt::format("more than {} files of kernels", kMaxKernelFiles));
    auto found = load_ ? load_(path, by_.path()) : failure("E0122", "there are no files here");
    if (!found)
      return fail(found.error().code.c_str(), fmt::format("`{}` cannot be read: {}", path, found.error().message),
                  found.error().hint.empty() ? kWhere : found.error().hint);
    bytes_ += found->text.size();
    if (bytes_ > kMaxKernelBytes)
      return fail("E0125", fmt::format("the files of kernels have more than {} MiB together", kMaxKernelBytes >> 20));
    KernelFile file{path, nullptr, sha256_hex(found->text)};
    file.source = std::make_shared<const Source>(std::move(found->path), std::move(found->text));
    if (!is_text(call, file)) return nullptr;
    refuse_reads(call, file);
    return &files_.emplace_back(std::move(file));
  }

  /// Nothing in it controls a terminal: it is shown as it stands.
  bool is_text(const KernelCall& call, const KernelFile& file) {
    const auto& text = file.source->text();
    auto at = find_control(text, 0);
    while (at < text.size() && (text[at] == '\r' || text[at] == '\f')) at = find_control(text, at + 1);
    if (at >= text.size()) return true;
    const auto control = control_at(text, at);
    const Span span{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + control.bytes)};
    add("E0101", span, fmt::format("the character {} belongs in no text", control.shown), "take it out", call, file);
    return false;
  }

  /// Of the file itself, with a note where the spec names it.
  void add(const char* code, Span span, std::string message, std::string hint, const KernelCall& call, const KernelFile& file) {
    Diagnostic problem(code, span, std::move(message), std::move(hint), Severity::Error);
    problem.in = file.source;
    problem.notes.push_back({call.path.span, "it is launched here"});
    diagnostics_.add(std::move(problem));
  }

  void refuse_reads(const KernelCall& call, const KernelFile& file) {
    for (const auto span : reads_of_files(file.source->text())) {
      add("E0127", span, "a kernel's file is compiled alone: it reads no other",
          "write what it needs into this file; threadIdx, atomics and the like need no header", call, file);
    }
  }

  const Source& by_;
  const Loader& load_;
  Diagnostics& diagnostics_;
  const Outside& outside_;
  KernelFiles files_;
  std::set<std::string> refused_, unlocked_;
  std::size_t bytes_ = 0;
};

void visit_body(const std::vector<Op>& body, const std::function<void(const Op&)>& visit) {
  for (const auto& op : body) {
    if (op.kind == Op::Kind::Kernel) visit(op);
    visit_body(op.body, visit);
    visit_body(op.otherwise, visit);
  }
}

}  // namespace

void for_each_kernel(const File& file, const std::function<void(const Op&)>& visit) {
  for (const auto& statement : file.statements) {
    const auto* stage = std::get_if<Stage>(&statement.node);
    if (!stage) continue;
    for (const auto& item : stage->items) {
      if (const auto* warm = std::get_if<Warm>(&item.node)) visit_body(warm->body, visit);
      if (const auto* timed = std::get_if<Timed>(&item.node)) visit_body(timed->body, visit);
    }
  }
}

std::optional<std::string> refused_kernel_path(const std::string& path, const std::string& by, const Outside& outside) {
  auto why = refused_path(path, {".cu", ".ptx"});
  if (!why || !outside) return why;
  // What is left without the parts that lead outside is to be a path like any other.
  std::string inside;
  bool fresh = true;
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const auto part = path.substr(at, end - at);
    const bool leads_out = part == ".." || (part.empty() && at == 0);
    if (!leads_out) inside += (fresh ? "" : "/") + part;
    fresh = fresh && leads_out;
    at = end + 1;
  }
  return !refused_path(inside, {".cu", ".ptx"}) && outside(path, by) ? std::nullopt : why;
}

KernelFiles read_kernel_files(const File& file, const Source& source, const Loader& load, Diagnostics& diagnostics,
                              const Outside& outside) {
  Reader reader(source, load, diagnostics, outside);
  for_each_kernel(file, [&](const Op& op) { reader.read(op.kernel); });
  return reader.take();
}

bool is_ptx(const std::string& path) { return path.ends_with(".ptx"); }

// What is a comment and what a text is not told: both may hold the signs of the other. A directive has nothing before it on its line but
// blanks and comments, so it is one wherever that could be so; of what is none, only a commented-out directive is taken for one.
std::vector<Span> reads_of_files(const std::string& text) {
  const auto plain = joined(text);
  const std::string_view all = plain.text;
  std::vector<Span> found;
  const auto add = [&](std::size_t begin, std::size_t end) { found.push_back({plain.from[begin], plain.from[end - 1] + 1}); };
  bool fresh = true;
  for (std::size_t i = 0; i < all.size();) {
    const bool digraph = all.substr(i, 2) == "%:";
    if (fresh && (all[i] == '#' || digraph)) {
      const auto at = skip_blanks(all, i + (digraph ? 2 : 1));
      const auto word = word_at(all, at);
      const bool escaped = at < all.size() && all[at] == '\\';  // letters by their number
      if (one_of(word, kReadingDirectives) || escaped) add(i, at + std::max<std::size_t>(word.size(), 1));
      i += digraph ? 2 : 1;
      fresh = false;
    } else if (is_word_start(all[i])) {
      const auto word = word_at(all, i);
      if (one_of(word, kReadingWords)) add(i, i + word.size());
      i += word.size();
      fresh = false;
    } else {
      const bool closes = all.substr(i, 2) == "*/";
      fresh = closes || is_break(all[i]) || (fresh && std::isspace(static_cast<unsigned char>(all[i])));
      i += closes ? 2 : 1;
    }
  }
  return found;
}

}  // namespace gexp::lang
