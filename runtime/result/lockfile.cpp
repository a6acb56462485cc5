// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/lockfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "lang/base/files.h"
#include "runtime/result/checked_json.h"

namespace gexp::result {
namespace {

using Tree = nlohmann::ordered_json;
constexpr const char* kLockSchema = "gexp.lock/1";

std::string settings_text(const RunResult& result) {
  std::string text;
  for (const auto& [name, value] : result.settings) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text.empty() ? "none" : text;
}

std::string uses_text(const RunResult& result) {
  std::string text;
  for (const auto& used : result.used) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", used.path, used.sha256.substr(0, 12));
  return text.empty() ? "none" : text;
}

}  // namespace

std::string lockfile(const RunResult& result) {
  Tree uses = Tree::array(), settings = Tree::object(), kernels = Tree::array();
  for (const auto& used : result.used) uses.push_back({{"path", used.path}, {"sha256", used.sha256}});
  for (const auto& [name, value] : result.settings) settings[name] = value;
  for (const auto& kernel : result.kernels) kernels.push_back({{"template", kernel.file}, {"key", kernel.key}});
  const auto& device = result.device;
  const Tree json = {{"schema", kLockSchema}, {"experiment", result.experiment}, {"spec", {{"path", result.spec_path}, {"sha256", result.spec_sha256}, {"uses", uses}, {"settings", settings}, {"seed", result.seed}}},
                     {"device", {{"kind", device.kind}, {"id", device.id}, {"name", device.name}, {"driver", device.driver}, {"model_sha256", device.model_sha256}}},
                     {"toolchain", {{"gexp", result.gexp_version}, {"nvrtc", result.nvrtc}, {"kernels", kernels}}}};
  return json.dump(1, ' ', false, Tree::error_handler_t::replace) + "\n";
}

namespace {

Locked read_locked(const CheckedJson& json) {
  constexpr std::size_t kMostFiles = 4096;
  Locked locked;
  auto& made_of = locked.made_of;
  made_of.experiment = json.at("experiment").name();
  const auto spec = json.at("spec");
  made_of.spec_path = spec.at("path").line();
  made_of.spec_sha256 = spec.at("sha256").hash();
  const auto uses = spec.at("uses");
  for (std::size_t i = 0; i < uses.list(kMostFiles).size(); ++i) made_of.used.push_back({"", uses.item(i).at("path").line(), "", uses.item(i).at("sha256").hash(), ""});
  const auto settings = spec.at("settings");
  for (const auto& [name, json_value] : settings.object().json().items()) {
    if (!is_word(name)) settings.wrong("settings of parameters");
    const auto value = CheckedJson(json_value, name).line();
    made_of.settings.emplace_back(name, value);
    locked.set.push_back(name + "=" + value);
  }
  locked.seed = made_of.seed = spec.at("seed").natural();
  const auto device = json.at("device");
  made_of.device.kind = device.at("kind").name();
  locked.device = made_of.device.id = device.at("id").line();
  made_of.device.name = device.at("name").line();
  made_of.device.driver = device.at("driver").line();
  made_of.device.model_sha256 = device.at("model_sha256").hash(true);
  const auto toolchain = json.at("toolchain");
  made_of.gexp_version = toolchain.at("gexp").line();
  made_of.nvrtc = toolchain.at("nvrtc").line();
  const auto kernels = toolchain.at("kernels");
  for (std::size_t i = 0; i < kernels.list().size(); ++i) made_of.kernels.push_back({kernels.item(i).at("template").line(), kernels.item(i).at("key").hash(), false, 0, nullptr});
  return locked;
}

}  // namespace

Result<Locked> read_lock_text(const std::string& text, const std::string& path) {
  constexpr const char* kHint = "`gexp export RESULT FILE.lock` writes one";
  const auto tree = parse_json(text, path);
  if (!tree) return failure("E0917", fmt::format("{} is no lock file: {}", path, tree.error().message), kHint);
  try {
    const CheckedJson json(*tree);
    if (!tree->is_object() || !json.has("schema") || json.at("schema").line() != kLockSchema) return failure("E0917", fmt::format("{} is no lock file", path), kHint);
    return read_locked(json);
  } catch (const BadShape& problem) {
    return failure("E0917", fmt::format("{} is no lock file, or damaged: {}", path, problem.what), kHint);
  }
}

Result<Locked> read_lockfile(const std::string& path) {
  constexpr std::uint64_t kMostBytes = 16u << 20;
  auto text = read_regular_file(path, kMostBytes);
  if (!text) return text.error();
  return read_lock_text(*text, path);
}

std::vector<std::string> differences(const RunResult& there, const RunResult& here) {
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

}  // namespace gexp::result
