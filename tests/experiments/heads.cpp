// SPDX-License-Identifier: Apache-2.0
#include "tests/experiments/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <tuple>

#include "lang/parse.h"

namespace gexp::papers {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void read_head(const fs::path& path, const std::string& name, const std::string& text, Heads& heads) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line) && line.starts_with("#");) {
    for (const std::string head : {"# simulated: ", "# simulated long: "}) {
      if (!line.starts_with(head)) continue;
      const auto with = line.find(" with ");
      std::istringstream devices(line.substr(head.size(), with == std::string::npos ? with : with - head.size()));
      for (std::string device; devices >> device;) {
        heads.pairs.push_back({path, name, device, with == std::string::npos ? "" : line.substr(with + 6), head.ends_with("long: ")});
      }
    }
  }
}

/// Names of models have no space and are no architecture: "gtx780", not "NVIDIA H200" or "sm_90".
bool is_model(const std::string& selector) { return selector.find(' ') == std::string::npos && !selector.starts_with("sm_"); }

void add_rows(const lang::Expect& expect, const std::string& name, const Source& source, Heads& heads) {
  if (expect.from.empty()) return;
  std::vector<std::string> devices;
  for (const auto& pair : heads.pairs) {
    const bool here = expect.on.empty() || std::any_of(expect.on.begin(), expect.on.end(), [&](const auto& on) { return on.text == pair.device; });
    if (pair.name == name && here) devices.push_back(pair.device);
  }
  const auto run = devices.size();
  for (const auto& on : expect.on) {
    if (is_model(on.text) && std::find(devices.begin(), devices.end(), on.text) == devices.end()) devices.push_back(on.text);
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    heads.rows.push_back({name, devices[i], on_one_line(std::string(source.slice(expect.condition->span))), expect.from, i < run});
  }
}

}  // namespace

std::string on_one_line(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string word; in >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

Heads read_heads(const fs::path& experiments) {
  Heads heads;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(experiments)) {
    if (entry.path().extension() == ".gexp") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const auto name = file.lexically_relative(experiments).replace_extension().string();
    const auto text = text_of(file);
    read_head(file, name, text, heads);
    const Source source(name, text);
    Diagnostics diagnostics;
    const auto tree = lang::parse(source, diagnostics);
    if (diagnostics.has_errors()) heads.problems.push_back(fmt::format("{} does not parse", name));
    for (const auto& statement : tree.statements) {
      if (const auto* expect = std::get_if<lang::Expect>(&statement.node)) add_rows(*expect, name, source, heads);
      const auto* stage = std::get_if<lang::Stage>(&statement.node);
      if (!stage) continue;
      for (const auto& item : stage->items) {
        if (const auto* expect = std::get_if<lang::Expect>(&item.node)) add_rows(*expect, name, source, heads);
      }
    }
  }
  std::sort(heads.pairs.begin(), heads.pairs.end(), [](const Pair& a, const Pair& b) { return std::tie(a.name, a.device) < std::tie(b.name, b.device); });
  return heads;
}

}  // namespace gexp::papers
