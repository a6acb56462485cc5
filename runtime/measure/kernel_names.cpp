// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/kernel_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "lang/base/units.h"

// NVRTC names no template that nothing asks for, and PTX has none. So their names are read in the text: the word before the parameters of what
// is declared `__global__`. Words such as `__launch_bounds__(128)` have parentheses, too.
namespace gexp::measure {
namespace {

constexpr std::string_view kGlobal = "__global__";
constexpr std::size_t kMostNames = 8;  // limit: of a hint

bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// The text with blanks for its comments and strings.
std::string code_of(std::string_view text) {
  std::string code(text);
  for (std::size_t i = 0; i < code.size(); ++i) {
    std::size_t end = i;
    if (code.compare(i, 2, "//") == 0) end = code.find('\n', i);
    else if (code.compare(i, 2, "/*") == 0) end = code.find("*/", i + 2) == std::string::npos ? code.size() : code.find("*/", i + 2) + 2;
    else if (code[i] == '"') {
      for (end = i + 1; end < code.size() && code[end] != '"' && code[end] != '\n';) end += code[end] == '\\' ? 2 : 1;
      ++end;
    }
    end = std::min(end, code.size());
    if (end > i) std::fill(code.begin() + static_cast<std::ptrdiff_t>(i), code.begin() + static_cast<std::ptrdiff_t>(end), ' '), i = end - 1;
  }
  return code;
}

/// Behind the bracket that closes the one at `at`; the end: none does.
std::size_t behind_closing(std::string_view code, std::size_t at, char open, char close) {
  int depth = 0;
  for (; at < code.size(); ++at) {
    if (code[at] == open) ++depth;
    if (code[at] == close && --depth == 0) return at + 1;
  }
  return code.size();
}

/// The name that is declared from `at` on.
std::string declared_name(std::string_view code, std::size_t at) {
  std::string word;
  while (at < code.size() && code[at] != ';' && code[at] != '{') {
    if (in_word(code[at])) {
      const auto from = at;
      while (at < code.size() && in_word(code[at])) ++at;
      word = code.substr(from, at - from);
    } else if (code[at] == '(') {
      if (!word.empty() && !word.starts_with("__")) return word;
      at = behind_closing(code, at, '(', ')');
    } else {
      ++at;
    }
  }
  return "";
}

/// "typename T" of the `template <typename T>` that begins the declaration before `at`.
std::string template_before(std::string_view code, std::size_t at) {
  const auto ended = code.substr(0, at).find_last_of(";}");
  const auto head = code.substr(ended == std::string_view::npos ? 0 : ended + 1, at - (ended == std::string_view::npos ? 0 : ended + 1));
  const auto word = head.find("template"), open = head.find('<', word == std::string_view::npos ? head.size() : word);
  if (open == std::string_view::npos) return "";
  const auto close = behind_closing(head, open, '<', '>');
  return std::string(head.substr(open + 1, close - open - 2));
}

}  // namespace

std::vector<TextKernel> kernels_of_text(std::string_view text) {
  const auto code = code_of(text);
  std::vector<TextKernel> kernels;
  for (auto at = code.find(kGlobal); at != std::string::npos; at = code.find(kGlobal, at + kGlobal.size())) {
    auto name = declared_name(code, at + kGlobal.size());
    const auto same = [&](const TextKernel& kernel) { return kernel.name == name; };
    if (!name.empty() && std::none_of(kernels.begin(), kernels.end(), same)) kernels.push_back({std::move(name), template_before(code, at)});
  }
  return kernels;
}

std::string meant_kernel(std::string_view wanted, const std::vector<TextKernel>& kernels, const std::vector<std::string>& compiled) {
  const auto name = wanted.substr(0, wanted.find('<'));
  const bool given = name.size() < wanted.size();
  for (const auto& kernel : kernels) {
    if (kernel.name != name) continue;
    if (kernel.parameters.empty()) return given ? fmt::format("`{}` is no template: leave `template` out", name) : "";
    return fmt::format("`{}` is a template of <{}>: {}", name, kernel.parameters, given ? "give a value for each of them" : "write `template` and a value for each, such as `template \"float\"`");
  }
  std::vector<std::string> has = compiled;
  std::vector<std::string_view> names;
  for (const auto& each : compiled) names.push_back(std::string_view(each).substr(0, each.find('(')));
  for (const auto& kernel : kernels) {
    if (kernel.parameters.empty()) continue;
    names.push_back(kernel.name);
    has.push_back(fmt::format("{}<{}>", kernel.name, kernel.parameters));
  }
  if (has.empty()) return "a kernel of CUDA is a __global__ function, one of PTX an .entry";
  const bool more = has.size() > kMostNames;
  if (more) has.resize(kMostNames);
  const auto near = nearest(name, names);
  return fmt::format("{}it has {}{}", near ? fmt::format("did you mean `{}`? ", *near) : "", fmt::join(has, "; "), more ? "; …" : "");
}

}  // namespace gexp::measure
