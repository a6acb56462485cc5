// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

/// What the tests over files of public repositories share.
namespace gexp::test {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Cases that are known to fail, and why: "name: reason", a line each; a comment begins with #.
inline std::map<std::string, std::string> known_cases(const std::filesystem::path& path) {
  std::map<std::string, std::string> known;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t colon = line.find(": "); colon != std::string::npos && line[0] != '#') known[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return known;
}

}  // namespace gexp::test
