// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

/// What the experiments that ship say of themselves, read from their texts without running them.
namespace gexp::papers {

/// One run: an experiment on a device that its head names (`# simulated: gtx560ti gtx780 with most=32`; `# simulated long: …`
/// where it takes minutes, so that only the pages of the papers want it).
struct Pair {
  std::filesystem::path file;
  std::string name, device, settings;  ///< name: "cache/structure"; settings: "most=32 laps=4"
  bool is_long = false;
};

/// One published result: an `expect … from "…"` on one device.
struct Row {
  std::string experiment, device;
  std::string text, from;  ///< the condition as written, and its source
  bool run = false;        ///< the head has it run on this device
};

struct Heads {
  std::vector<Pair> pairs;  ///< by name and device
  std::vector<Row> rows;    ///< in the order of the files and of their expectations
  std::vector<std::string> problems;
};
Heads read_heads(const std::filesystem::path& experiments);

/// One space where the text has any: an expectation may take several lines.
std::string on_one_line(const std::string& text);

}  // namespace gexp::papers
