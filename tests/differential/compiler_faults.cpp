// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/compiler_faults.h"

#include <fmt/format.h>

#include <cstdint>
#include <regex>
#include <sstream>

namespace gexp::differential {

CompilerFaults without_compiler_faults(std::string ptx, const std::string& nvrtc_build) {
  if (!nvrtc_build.starts_with("11.8.")) return {std::move(ptx)};
  static const std::regex field(R"(^(\s*(?:@!?%p\d+\s+)?)bfe\.u64\s+(%rd\d+), (%rd\d+), (\d+), (\d+);$)");
  CompilerFaults made;
  std::istringstream in(ptx);
  for (std::string line; std::getline(in, line);) {
    std::smatch part;
    // Other instructions are not put through the expression: it is slow.
    const bool found = line.find("bfe.u64") != std::string::npos && std::regex_match(line, part, field);
    const int first = found ? std::stoi(part[4]) : 0, length = found ? std::stoi(part[5]) : 0;
    if (first < 64 && length < 64 && first + length > 64) {
      const auto mask = (std::uint64_t{1} << length) - 1;
      line = fmt::format("{0}shr.s64 {1}, {2}, {3};\n{0}and.b64 {1}, {1}, {4};", part[1].str(), part[2].str(), part[3].str(), first, mask);
      ++made.corrected;
    }
    made.ptx += line + "\n";
  }
  return made;
}

}  // namespace gexp::differential
