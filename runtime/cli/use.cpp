// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/use.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "lang/base/base64.h"
#include "lang/base/embedded.h"
#include "lang/base/files.h"
#include "runtime/cli/app.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = 4u << 20;

Result<lang::LoadedText> from_library(const std::string& path, const std::string& looked_at) {
  std::vector<std::string_view> names;
  for (const auto& file : embedded::experiment_library()) {
    if (file.name == path) return lang::LoadedText{kLibrary + path, file.text};
    names.push_back(file.name);
  }
  const auto near = nearest(path, names);
  return failure("E0122", looked_at.empty() ? "the library has no such file" : fmt::format("there is no {}, and no such file in the library", looked_at),
                 near ? fmt::format("did you mean `{}`?", *near) : fmt::format("the library has {}", fmt::join(names, ", ")));
}

bool below(const fs::path& file, const fs::path& folder) {
  const auto rest = file.lexically_relative(folder);
  return !rest.empty() && *rest.begin() != "..";
}

/// As they were allowed, without links in them.
std::vector<fs::path>& allowed() {
  static std::vector<fs::path> paths;
  return paths;
}

bool is_allowed(const fs::path& real) {
  return std::any_of(allowed().begin(), allowed().end(), [&](const fs::path& each) { return real == each || below(real, each); });
}

}  // namespace

void allow_kernels(const std::vector<std::string>& paths) {
  for (const auto& path : paths) {
    std::error_code error;
    if (auto real = fs::canonical(path, error); !error) allowed().push_back(std::move(real));
  }
}

bool kernel_allowed(const std::string& path, const std::string& by) {
  std::error_code error;
  const auto real = fs::canonical(fs::path(by).parent_path() / path, error);
  return !error && is_allowed(real);
}

Result<lang::LoadedText> load_used(const std::string& path, const std::string& by) {
  const bool kernel = !path.ends_with(".gexp");  // of which the library has none
  if (by.rfind(kLibrary, 0) == 0) return kernel ? failure("E0122", "the library has no such file") : from_library(path, "");
  const auto folder = fs::path(by).parent_path();
  const auto file = (folder / path).lexically_normal();
  std::error_code error;
  if (fs::symlink_status(file, error).type() == fs::file_type::not_found) {
    return kernel ? failure("E0122", fmt::format("there is no {}", file.string())) : from_library(path, file.string());
  }
  const auto real = fs::canonical(file, error);
  if (error) return failure("E0122", fmt::format("cannot read {}: {}", file.string(), error.message()));
  const auto home = fs::canonical(folder.empty() ? "." : folder, error);
  const bool inside = !error && (below(real, home) || (kernel && is_allowed(real)));
  if (!inside) return failure("E0121", fmt::format("{} is a link that leads out of its folder", file.string()), kernel ? "copy the file it leads to, or allow its folder with --allow" : "copy the file it leads to");
  if (!fs::is_regular_file(real, error)) return failure("E0122", fmt::format("{} is no file", file.string()));
  if (fs::file_size(real, error) > kMaxBytes || error) return failure("E0122", fmt::format("{} is larger than {} MiB", file.string(), kMaxBytes >> 20));
  auto text = read_regular_file(real.string(), kMaxBytes);  // whatever has taken its place by now
  if (!text) return failure("E0122", text.error().message);
  return lang::LoadedText{file.string(), std::move(*text)};
}

lang::Loader stored(const std::vector<compiler::UsedFile>& files) {
  return [&files](const std::string& path, const std::string& by) -> Result<lang::LoadedText> {
    for (const auto& file : files) {
      if (file.by != by || file.path != path) continue;
      if (!path.ends_with(".npy")) return lang::LoadedText{file.file, file.text};
      auto bytes = from_base64(file.text);
      return bytes ? Result<lang::LoadedText>(lang::LoadedText{file.file, std::move(*bytes)}) : failure("E0904", "the result holds it damaged");
    }
    return failure("E0122", "the result does not hold it");
  };
}

}  // namespace gexp::cli
