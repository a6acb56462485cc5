// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lang/base/result.h"

namespace gexp::compiler {

/// Values of a template's holes by name.
using Holes = std::map<std::string, std::string>;

/// CUDA text with holes `${name}`, or `${name:spec}`, a format specification of fmt for a string.
class Template {
 public:
  /// E0505: a hole that is not closed. `file` is for messages.
  static Result<Template> parse(std::string file, const std::string& text);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::set<std::string>& holes() const { return holes_; }
  /// E0505: a hole without a value, a value without a hole, a specification that fmt refuses.
  [[nodiscard]] Result<std::string> fill(const Holes& values) const;

 private:
  struct Piece {
    std::string text;        ///< before the hole
    std::string hole, spec;  ///< no hole: the end of the text
  };
  std::string file_;
  std::vector<Piece> pieces_;
  std::set<std::string> holes_;
};

/// A kind of kernel: a file of templates/, and the holes that it has.
struct KernelTemplate {
  std::string_view file;
  std::array<std::string_view, 18> holes{};  ///< empty ones are none
};
inline constexpr KernelTemplate kEachTemplate{
    "each.cu", {"name", "element", "bytes", "load", "chained", "letter", "address", "placing", "leave"}};
inline constexpr KernelTemplate kTotalTemplate{"total.cu", {"name", "load"}};
inline constexpr KernelTemplate kBodyTemplate{
    "body.cu", {"name", "bounds", "constants", "parameters", "placing", "leave", "cta", "setup", "first_pass", "passes", "warm", "addresses", "alone", "timed",
                "settle", "record", "calibrate"}};

inline constexpr KernelTemplate kRolesTemplate{"roles.cu", {"name", "constants", "parameters", "claims", "roles"}};

/// A kernel of a file of somebody else: its text stands as it is, and its holes say how it is compiled (codegen/file_kernel.h).
inline constexpr KernelTemplate kFileKernel{"kernel", {}};

/// Reads a kernel's template, without the comment at its head. `folder` replaces the built-in templates where it is not empty.
/// E0506: it cannot be read; E0505: it has other holes than its kind.
Result<Template> load_template(const KernelTemplate& kind, const std::string& folder = {});

}  // namespace gexp::compiler
