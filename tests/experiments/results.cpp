// SPDX-License-Identifier: Apache-2.0
#include "tests/experiments/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <regex>
#include <sstream>

#include "lang/base/units.h"

namespace gexp::papers {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string shell_word(const std::string& text) { return "'" + text + "'"; }

std::string output_of(const std::string& command) {
  std::string text;
  if (FILE* out = popen(command.c_str(), "r")) {
    char part[65536];
    while (const auto n = std::fread(part, 1, sizeof part, out)) text.append(part, n);
    pclose(out);
  }
  return text;
}

/// At most two digits behind the point: what is measured here is not known better.
std::string number_text(double value) {
  auto text = std::fabs(value) < 10 ? fmt::format("{:.3g}", value) : std::fabs(value) < 1000 ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
  if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

struct Shape {
  Dimension dimension;
  std::string unit;   ///< asked for by `as` or `in`
  double scale = 1;   ///< of that unit
  bool bare = false;  ///< `in`: without the unit's name
};

std::string written(const Json& value, const Shape& shape) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) {
    const auto n = value.get<double>();
    if (!shape.unit.empty()) return number_text(n / shape.scale) + (shape.bare ? "" : " " + shape.unit);
    return shape.dimension.none() ? number_text(n) : show(n, shape.dimension);
  }
  if (value.is_array()) {
    std::string text;
    for (const auto& item : value) text += (text.empty() ? "" : ", ") + written(item, shape);
    return text.empty() ? "none" : text;
  }
  return value.is_null() ? "not found" : value.dump();
}

/// "policy.kind.probabilities[1]": the finding "policy.kind", then the rest.
const Json* descend(const Json& finding, const std::string& rest, std::string& why) {
  const Json* at = &finding;
  for (std::size_t i = 0; i < rest.size();) {
    if (rest[i] == '[') {
      const auto end = rest.find(']', i);
      auto number = std::strtol(rest.c_str() + i + 1, nullptr, 10);
      const auto size = at->is_array() ? static_cast<long>(at->size()) : 0;
      if (number < 0) number += size;
      if (number < 0 || number >= size) return why = "no item " + rest.substr(i, end + 1 - i), nullptr;
      at = &(*at)[static_cast<std::size_t>(number)];
      i = end + 1;
      continue;
    }
    const auto end = std::min(rest.find_first_of(".[", i + 1), rest.size());
    const auto field = rest.substr(i + 1, end - i - 1);
    if (!at->is_object() || !at->contains(field)) return why = "no field " + field, nullptr;
    at = &at->at(field);
    i = end;
  }
  return at;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) fields.emplace_back();
    else fields.back() += c;
  }
  return fields;
}

/// "4B", "512", "48KiB": in base units; a word that is no number as it is.
bool same(const std::string& wanted, const std::string& measured) {
  char* end = nullptr;
  const double number = std::strtod(wanted.c_str(), &end);
  if (end == wanted.c_str()) return wanted == measured;
  const auto unit = find_unit(end);
  return std::fabs(number * (unit ? unit->scale : 1) - std::strtod(measured.c_str(), nullptr)) < 1e-9;
}

}  // namespace

fs::path Results::file_of(const std::string& experiment, const std::string& device) const {
  auto name = experiment;
  for (auto& c : name) c = c == '/' ? '_' : c;
  return folder_ / fmt::format("{}-{}.json", name, device);
}

Results::Ran Results::run(const Pair& pair) const {
  const auto file = file_of(pair.name, pair.device);
  fs::create_directories(folder_);
  std::error_code none;
  fs::remove(file, none);
  auto command = fmt::format("{} run {} --device sim:{} --quiet --out {}", shell_word(gexp_), shell_word(pair.file.string()), pair.device, shell_word(file.string()));
  std::istringstream settings(pair.settings);
  for (std::string setting; settings >> setting;) command += " --set " + shell_word(setting);
  const auto begin = std::chrono::steady_clock::now();
  auto said = output_of(command + " 2>&1 </dev/null");
  return {std::move(said), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

Answer Results::answer(const Pair& pair, const Ran* ran) {
  const auto file = file_of(pair.name, pair.device);
  const auto said = ran ? ran->said : "";
  Answer answer;
  answer.seconds = ran ? ran->seconds : 0;
  std::ifstream in(file);
  const auto result = Json::parse(in, nullptr, false);
  if (result.is_discarded() || !result.contains("expectations")) {
    answer.judged.push_back({"", "", "broken", said.substr(0, said.find('\n'))});
    answer.wrong = 1;
    return answer;
  }
  if (!ran) answer.seconds = result["timing"].value("seconds", 0.0);
  if (result.contains("toolchain")) answer.nvrtc = result["toolchain"].value("nvrtc", "");
  known_[{pair.name, pair.device}] = {{"findings", result["findings"]}};
  if (const auto end = result.value("end", ""); end != "complete") {
    answer.judged.push_back({"", "", "broken", "the run ended early: " + end});
    answer.wrong = 1;
  }
  for (const auto& expectation : result["expectations"]) {
    const auto verdict = expectation.value("status", "");
    if (verdict == "not here") continue;
    // Where a statement lies in PTX is the compiler's own.
    static const std::regex kPlace(R"( \((at `[^`]*`, )?PTX line [0-9]+\))");
    const auto found = std::regex_replace(expectation.value("observed", ""), kPlace, "");
    answer.judged.push_back({on_one_line(expectation.value("text", "")), expectation.value("from", ""), verdict, found});
    answer.wrong += verdict != "pass" && verdict != "xfail";
  }
  if (answer.judged.empty()) {
    answer.judged.push_back({"", "", "empty", "expects nothing of this device"});
    answer.wrong = 1;
  }
  return answer;
}

const Results::Points* Results::points(const std::string& experiment, const std::string& device, const std::string& stage, std::string& why) {
  const auto key = experiment + " " + device + " " + stage;
  if (const auto known = points_.find(key); known != points_.end()) return &known->second;
  std::istringstream in(output_of(fmt::format("{} infer {} --points {} 2>&1 </dev/null", shell_word(gexp_), shell_word(file_of(experiment, device).string()), shell_word(stage))));
  Points points;
  for (std::string line; std::getline(in, line);) {
    if (points.columns.empty()) {
      if (line.find("error[") != std::string::npos) return why = line, nullptr;
      for (const auto& title : fields_of(line)) {
        const auto space = title.rfind(' ');
        const bool has_unit = space != std::string::npos && find_unit(title.substr(space + 1));
        points.columns.push_back(has_unit ? title.substr(0, space) : title);
        points.units.push_back(has_unit ? title.substr(space + 1) : "");
      }
      continue;
    }
    points.rows.push_back(fields_of(line));
  }
  return &(points_[key] = std::move(points));
}

std::string Results::cell(const std::string& what, std::string& why) {
  std::istringstream in(what);
  std::string experiment, device, value, word;
  in >> experiment >> device >> value;
  Shape shape;
  std::vector<std::pair<std::string, std::string>> at;
  while (in >> word) {
    if (word == "as" || word == "in") {
      shape.bare = word == "in";
      in >> word;
      const auto unit = find_unit(word);
      if (!unit) return why = "no unit " + word, "";
      shape.unit = word;
      shape.scale = unit->scale;
      continue;
    }
    const auto equals = word.find('=');
    if (equals == std::string::npos) return why = "no COLUMN=VALUE: " + word, "";
    at.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  const auto known = known_.find({experiment, device});
  if (known == known_.end()) return why = fmt::format("{} was not run on {}", experiment, device), "";
  if (const auto middle = value.find('@'); middle != std::string::npos) {
    const auto* table = points(experiment, device, value.substr(0, middle), why);
    if (!table) return "";
    const auto index = [&](const std::string& name) { return std::find(table->columns.begin(), table->columns.end(), name) - table->columns.begin(); };
    const auto column = static_cast<std::size_t>(index(value.substr(middle + 1)));
    if (column == table->columns.size()) return why = "no column " + value.substr(middle + 1), "";
    const std::vector<std::string>* found = nullptr;
    for (const auto& row : table->rows) {
      bool here = row.size() == table->columns.size();
      for (const auto& [name, wanted] : at) {
        const auto c = static_cast<std::size_t>(index(name));
        if (c == table->columns.size()) return why = "no column " + name, "";
        here = here && same(wanted, row[c]);
      }
      if (here && found) return why = "several points are there", "";
      if (here) found = &row;
    }
    if (!found) return why = "no point is there", "";
    if (const auto unit = find_unit(table->units[column]); unit) shape.dimension = unit->dimension;
    const auto& text = (*found)[column];
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    return written(end == text.c_str() ? Json(text) : Json(number), shape);
  }
  const auto dot = value.find('.');
  const auto end = std::min(value.find_first_of(".[", dot + 1), value.size());
  for (const auto& finding : known->second["findings"]) {
    if (finding.value("id", "") != value.substr(0, end)) continue;
    if (finding.value("status", "") == "undetermined") return "not found";
    if (const auto unit = find_unit(finding.value("unit", "")); unit) shape.dimension = unit->dimension;
    const auto* part = descend(finding["value"], value.substr(end), why);
    return part ? written(*part, shape) : "";
  }
  return why = "no finding " + value.substr(0, end), "";
}

}  // namespace gexp::papers
