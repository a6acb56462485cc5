// SPDX-License-Identifier: Apache-2.0
// The papers' results on the simulated devices: every experiment that ships on the devices that its head names, and a line for
// each thing that it expects there. suite GEXP EXPERIMENTS [FILTER]; the exit code is 1 if anything did not hold, 2 if nothing ran.
// Heads: `# simulated: gtx560ti gtx780 with most=32`, a line for each group of devices with the same settings.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Pair {
  fs::path file;
  std::string name, device, settings;  ///< settings: "most=32 laps=4"
};

std::vector<Pair> pairs_of(const fs::path& root) {
  std::vector<Pair> pairs;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".gexp") continue;
    std::ifstream in(entry.path());
    const auto name = entry.path().lexically_relative(root).replace_extension().string();
    for (std::string line; std::getline(in, line) && line.starts_with("#");) {
      const std::string head = "# simulated: ";
      if (!line.starts_with(head)) continue;
      const auto with = line.find(" with ");
      std::istringstream devices(line.substr(head.size(), with == std::string::npos ? with : with - head.size()));
      for (std::string device; devices >> device;) pairs.push_back({entry.path(), name, device, with == std::string::npos ? "" : line.substr(with + 6)});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return std::tie(a.name, a.device) < std::tie(b.name, b.device); });
  return pairs;
}

std::string shell_word(const std::string& text) { return "'" + text + "'"; }

struct Answer {
  std::vector<std::string> lines;
  std::size_t judged = 0, wrong = 0;
};

/// Runs one pair; a run of which nothing can be read counts as one thing that did not hold.
Answer run(const std::string& gexp, const Pair& pair) {
  std::string command = fmt::format("{} run {} --device sim:{} --quiet --json", shell_word(gexp), shell_word(pair.file.string()), pair.device);
  std::istringstream settings(pair.settings);
  for (std::string setting; settings >> setting;) command += " --set " + shell_word(setting);
  const auto begin = std::chrono::steady_clock::now();
  std::string text;
  if (FILE* out = popen((command + " 2>&1 </dev/null").c_str(), "r")) {
    char part[65536];
    while (const auto n = std::fread(part, 1, sizeof part, out)) text.append(part, n);
    pclose(out);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto line = [&](const std::string& verdict, const std::string& rest) { return fmt::format("{:<8} {:6.1f} s  {:<28} {:<10}  {}", verdict, seconds, pair.name, pair.device, rest); };
  Answer answer;
  const auto result = Json::parse(text, nullptr, false);
  if (result.is_discarded() || !result.contains("expectations")) return {{line("broken", text.substr(0, text.find('\n')))}, 1, 1};
  for (const auto& expectation : result["expectations"]) {
    const auto verdict = expectation.value("status", "");
    if (verdict == "not here") continue;
    ++answer.judged;
    answer.wrong += verdict != "pass" && verdict != "xfail";
    answer.lines.push_back(line(verdict, fmt::format("published: {}  [{}]  found: {}", expectation.value("text", ""), expectation.value("from", ""), expectation.value("observed", ""))));
  }
  if (answer.judged == 0) return {{line("empty", "expects nothing of this device")}, 1, 1};
  return answer;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return std::fputs("suite GEXP EXPERIMENTS [FILTER]\n", stderr), 2;
  const std::string gexp = fs::absolute(arguments[1]).string(), filter = count > 3 ? arguments[3] : "";
  const fs::path root = fs::absolute(arguments[2]);
  setenv("GEXP_EXPERIMENTS", root.c_str(), 1);
  auto pairs = pairs_of(root);
  std::erase_if(pairs, [&](const Pair& pair) { return (pair.name + " " + pair.device).find(filter) == std::string::npos; });
  const auto begin = std::chrono::steady_clock::now();
  std::size_t judged = 0, wrong = 0;
  for (const auto& pair : pairs) {
    const auto answer = run(gexp, pair);
    judged += answer.judged;
    wrong += answer.wrong;
    for (const auto& line : answer.lines) std::puts(line.c_str());
    std::fflush(stdout);
  }
  std::puts(fmt::format("{} of {} expectations held in {} runs, {:.1f} s", judged - wrong, judged, pairs.size(), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()).c_str());
  return judged == 0 ? 2 : wrong > 0;
}
