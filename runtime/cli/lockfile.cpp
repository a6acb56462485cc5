// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/lockfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/cli/app.h"

namespace gexp::cli {
namespace {

using Tree = nlohmann::ordered_json;
constexpr const char* kSchema = "gexp.lock/1";

std::string settings_text(const result::RunResult& result) {
  std::string text;
  for (const auto& [name, value] : result.settings) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text.empty() ? "none" : text;
}

std::string uses_text(const result::RunResult& result) {
  std::string text;
  for (const auto& used : result.used) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", used.path, used.sha256.substr(0, 12));
  return text.empty() ? "none" : text;
}

}  // namespace

std::string lockfile(const result::RunResult& result) {
  Tree uses = Tree::array(), settings = Tree::object(), kernels = Tree::array();
  for (const auto& used : result.used) uses.push_back({{"path", used.path}, {"sha256", used.sha256}});
  for (const auto& [name, value] : result.settings) settings[name] = value;
  for (const auto& kernel : result.kernels) kernels.push_back({{"template", kernel.file}, {"key", kernel.key}});
  const auto& device = result.device;
  const Tree json = {{"schema", kSchema}, {"experiment", result.experiment}, {"spec", {{"path", result.spec_path}, {"sha256", result.spec_sha256}, {"uses", uses}, {"settings", settings}, {"seed", result.seed}}},
                     {"device", {{"kind", device.kind}, {"id", device.id}, {"name", device.name}, {"driver", device.driver}, {"model_sha256", device.model_sha256}}},
                     {"toolchain", {{"gexp", result.gexp_version}, {"nvrtc", result.nvrtc}, {"kernels", kernels}}}};
  return json.dump(1, ' ', false, Tree::error_handler_t::replace) + "\n";
}

Result<Locked> read_lockfile(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.error();
  try {
    const auto json = Tree::parse(*text);
    if (!json.is_object() || json.value("schema", "") != kSchema) return failure("E0917", fmt::format("{} is no lock file", path), "`gexp export RESULT FILE.lock` writes one");
    Locked locked;
    auto& made_of = locked.made_of;
    made_of.experiment = json.at("experiment").get<std::string>();
    const auto& spec = json.at("spec");
    made_of.spec_path = spec.at("path").get<std::string>();
    made_of.spec_sha256 = spec.at("sha256").get<std::string>();
    for (const auto& used : spec.at("uses")) made_of.used.push_back({"", used.at("path").get<std::string>(), "", used.at("sha256").get<std::string>(), ""});
    for (const auto& [name, value] : spec.at("settings").items()) {
      made_of.settings.emplace_back(name, value.get<std::string>());
      locked.set.push_back(name + "=" + value.get<std::string>());
    }
    locked.seed = made_of.seed = spec.at("seed").get<std::uint64_t>();
    const auto& device = json.at("device");
    made_of.device.kind = device.at("kind").get<std::string>();
    locked.device = made_of.device.id = device.at("id").get<std::string>();
    made_of.device.name = device.at("name").get<std::string>();
    made_of.device.driver = device.at("driver").get<std::string>();
    made_of.device.model_sha256 = device.at("model_sha256").get<std::string>();
    const auto& toolchain = json.at("toolchain");
    made_of.gexp_version = toolchain.at("gexp").get<std::string>();
    made_of.nvrtc = toolchain.at("nvrtc").get<std::string>();
    for (const auto& kernel : toolchain.at("kernels")) made_of.kernels.push_back({kernel.at("template").get<std::string>(), kernel.at("key").get<std::string>(), false, 0, nullptr});
    return locked;
  } catch (const nlohmann::json::exception& problem) {
    return failure("E0917", fmt::format("{} is no lock file, or damaged: {}", path, problem.what()), "`gexp export RESULT FILE.lock` writes one");
  }
}

std::vector<std::string> differences(const result::RunResult& there, const result::RunResult& here) {
  std::vector<std::string> lines;
  const auto tell = [&](const char* what, const std::string& before, const std::string& now) {
    if (before != now) lines.push_back(fmt::format("{}: {} there, {} here", what, before.empty() ? "none" : before, now.empty() ? "none" : now));
  };
  tell("spec", there.spec_sha256.substr(0, 12), here.spec_sha256.substr(0, 12));
  tell("used files", uses_text(there), uses_text(here));
  tell("settings", settings_text(there), settings_text(here));
  tell("seed", std::to_string(there.seed), std::to_string(here.seed));
  tell("device", there.device.name, here.device.name);
  tell("device model", there.device.model_sha256.substr(0, 12), here.device.model_sha256.substr(0, 12));
  tell("driver", there.device.driver, here.device.driver);
  tell("gexp", there.gexp_version, here.gexp_version);
  tell("NVRTC", there.nvrtc, here.nvrtc);
  if (!there.kernels.empty() && !here.kernels.empty()) {
    std::set<std::string> a, b;
    for (const auto& kernel : there.kernels) a.insert(kernel.key);
    for (const auto& kernel : here.kernels) b.insert(kernel.key);
    const auto changed = std::count_if(b.begin(), b.end(), [&](const auto& key) { return !a.contains(key); });
    if (changed > 0) lines.push_back(fmt::format("kernels: {} of {} here are none of those there", changed, b.size()));
  }
  return lines;
}

}  // namespace gexp::cli
