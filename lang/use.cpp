// SPDX-License-Identifier: Apache-2.0
#include "lang/use.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lang/base/sha256.h"
#include "lang/check.h"
#include "lang/number_file.h"
#include "lang/parse.h"

// A file is read anew for every statement that uses it, since each gives its params values of its own (`--set m.limit=…`).
// That makes the work exponential in the depth where every file uses the next one twice: hence limits on all files together.
namespace gexp::lang {
namespace {

constexpr std::size_t kMaxDepth = 8, kMaxFiles = 64, kMaxUsedBytes = 8u << 20, kMaxBinaryBytes = 3u << 20, kMaxPath = 200;

/// One file has one name in the circle, however it is written.
std::string normal(const std::string& path) { return std::filesystem::path(path).lexically_normal().generic_string(); }

/// Not the text of `-e`, nor a file of the library.
bool is_file(const Source& source) { return source.path().ends_with(".gexp") && !source.path().starts_with('<'); }

class Reader {
 public:
  explicit Reader(const Loader& load) : load_(load) {}

  Exports run(const File& file, const Source& source, Uses& uses, Diagnostics& diagnostics, Declarations* declared = nullptr) {
    chain_.push_back(normal(source.path()));
    Diagnostics of_uses;  // an unknown name is a mistake even where a used file has some
    Modules modules;
    for (const auto& statement : file.statements) {
      const auto* use = std::get_if<Use>(&statement.node);
      if (!use) continue;
      uses.push_back(read(*use, statement.span, source, of_uses));
      modules.push_back(uses.back().exports);
    }
    chain_.pop_back();
    auto exports = check(file, source, diagnostics, modules, declared);
    for (auto& problem : of_uses.sorted()) diagnostics.add(std::move(problem));
    return exports;
  }

 private:
  Used read(const Use& use, Span span, const Source& by, Diagnostics& diagnostics) {
    Used used;
    used.span = use.path.span;
    used.path = use.path.text;
    const auto fail = [&](const char* code, Span at, std::string message, std::string hint = {}) {
      diagnostics.error(code, at, std::move(message), std::move(hint));
      return std::move(used);
    };
    if (auto why = refused_use(used.path)) {
      return fail("E0120", use.path.span, fmt::format("`{}` cannot be used: {}", used.path, *why),
                  "name a file in this file's folder or below it, or one of the library");
    }
    if (chain_.size() > kMaxDepth) return fail("E0125", span, fmt::format("files use each other more than {} deep here", kMaxDepth));
    if (files_ >= kMaxFiles) return fail("E0125", span, fmt::format("more than {} files are used", kMaxFiles));
    ++files_;
    auto found = load_ ? load_(used.path, by.path()) : failure("E0122", "there are no files here");
    if (!found) {
      return fail(found.error().code.c_str(), use.path.span, fmt::format("`{}` cannot be used: {}", used.path, found.error().message), found.error().hint);
    }
    bytes_ += found->text.size();
    if (bytes_ > kMaxUsedBytes) {
      return fail("E0125", span, fmt::format("the files used have more than {} MiB together", kMaxUsedBytes >> 20));
    }
    if (used.path.ends_with(".npy") && found->text.size() > kMaxBinaryBytes) {
      return fail("E0125", span, fmt::format("`{}` has more than {} MiB", used.path, kMaxBinaryBytes >> 20), "save smaller numbers, or fewer");
    }
    if (const auto first = std::find(chain_.begin(), chain_.end(), normal(found->path)); first != chain_.end()) {
      std::string circle;
      for (auto link = first; link != chain_.end(); ++link) circle += *link + " → ";
      return fail("E0124", span, fmt::format("files use each other in a circle: {}{}", circle, *first), "move what both need into a file of its own");
    }
    used.sha256 = sha256_hex(found->text);
    used.source = std::make_shared<const Source>(std::move(found->path), std::move(found->text));
    const auto with_hash = fmt::format("use \"{}\" as {} sha256 \"{}\"", used.path, use.as.text, used.sha256);
    if (!check_lock({use.path, use.sha256, span, with_hash}, used.sha256, used.source->path(), by, diagnostics)) return used;
    if (is_number_file(used.path)) return numbers(std::move(used), diagnostics);
    Diagnostics own;
    auto file = std::make_shared<File>(parse(*used.source, own));
    if (!own.has_errors()) {
      auto exports = std::make_shared<Exports>(run(*file, *used.source, used.uses, own));
      exports->source = used.source;
      exports->file = file;
      if (!own.has_errors()) used.exports = std::move(exports);
    }
    used.file = std::move(file);
    hand_on(own, used.source, used.span, diagnostics);
    return used;
  }

  static Used numbers(Used used, Diagnostics& diagnostics) {
    Diagnostics own;
    if (auto fields = read_numbers(*used.source, own)) {
      auto exports = std::make_shared<Exports>();
      exports->type = type_of(Value(*fields));
      exports->source = used.source;
      used.exports = std::move(exports);
      used.numbers = std::make_shared<const Fields>(std::move(*fields));
    }
    if (!used.path.ends_with(".npy")) {
      hand_on(own, used.source, used.span, diagnostics);
      return used;
    }
    for (auto& problem : own.sorted()) {  // of which there is no line to show
      diagnostics.error(problem.code, used.span, fmt::format("`{}` cannot be used: {}", used.path, problem.message), problem.hint);
    }
    return used;
  }

  const Loader& load_;
  std::vector<std::string> chain_;  ///< the files that lead to the one being read
  std::size_t files_ = 0, bytes_ = 0;
};

}  // namespace

bool check_lock(const Locked& locked, const std::string& sha256, const std::string& found_at, const Source& by, Diagnostics& diagnostics) {
  const auto& path = locked.path.text;
  if (locked.sha256.span.empty()) {
    auto& problem = diagnostics.warning("E0126", locked.statement,
                                        fmt::format("`{}` may change without notice: no `sha256` holds it", path),
                                        fmt::format("write `{}`", locked.with_hash));
    if (is_file(by)) problem.notes.push_back({{}, fmt::format("`gexp lock {}` writes the hash", by.path())});
    return true;
  }
  if (locked.sha256.text == sha256) return true;
  auto& problem = diagnostics.error("E0123", locked.sha256.span, fmt::format("`{}` is another file than the one that was locked", path),
                                    is_file(by) ? fmt::format("when the change is wanted, `gexp lock {}` writes the new hash", by.path())
                                                : "when the change is wanted, write the new hash");
  problem.notes.push_back({{}, fmt::format("wanted: \"{}\"", locked.sha256.text)});
  problem.notes.push_back({{}, fmt::format("found:  \"{}\" in {}", sha256, found_at)});
  return false;
}

std::optional<std::string> refused_path(const std::string& path, const std::vector<std::string_view>& endings) {
  if (path.empty()) return "the path is empty";
  if (path.size() > kMaxPath) return fmt::format("the path is longer than {} characters", kMaxPath);
  if (path.find('\\') != std::string::npos) return "folders are separated by `/`, not `\\`";
  if (path.front() == '/' || path.find(':') != std::string::npos) return "the path is not relative to this file's folder";
  if (path.find_first_of("<>|*?") != std::string::npos) return "no `<`, `>`, `|`, `*` or `?` stands in a path";
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    const auto part = path.substr(at, end - at);
    if (part == "..") return "`..` leads out of this file's folder";
    if (part.empty() || part == ".") return "a folder of the path has no name";
    at = end + 1;
  }
  if (std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return path.ends_with(ending); })) return std::nullopt;
  std::string all;
  for (const auto ending : endings) all += fmt::format("{}`{}`", all.empty() ? "" : " or ", ending);
  return endings.size() == 1 ? fmt::format("a used file's name ends with {}", all) : fmt::format("its name ends with {}", all);
}

std::optional<std::string> refused_use(const std::string& path) {
  static const auto endings = [] {
    std::vector<std::string_view> all{".gexp"};
    all.insert(all.end(), number_endings().begin(), number_endings().end());
    return all;
  }();
  return refused_path(path, endings);
}

void hand_on(const Diagnostics& from, const std::shared_ptr<const Source>& text, Span use, Diagnostics& into) {
  for (auto& problem : from.sorted()) {
    if (!problem.in) problem.in = text;
    for (auto& note : problem.notes) {
      if (!note.in) note.in = text;
    }
    problem.notes.push_back({use, "it is used here"});
    into.add(std::move(problem));
  }
}

Uses check_with_uses(const File& file, const Source& source, const Loader& load, Diagnostics& diagnostics, Declarations* declared) {
  Uses uses;
  Reader(load).run(file, source, uses, diagnostics, declared);
  return uses;
}

}  // namespace gexp::lang
