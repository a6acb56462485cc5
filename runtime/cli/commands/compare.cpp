// SPDX-License-Identifier: Apache-2.0
// Two saved results, or two folders of them: what could explain a difference, then finding by finding, then curve by curve.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

#include "lang/base/in_order.h"
#include "runtime/cli/app.h"
#include "runtime/cli/json.h"
#include "runtime/cli/output.h"
#include "runtime/cli/saved.h"
#include "runtime/cli/shared_options.h"
#include "runtime/result/compare.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;
using result::ComparedFinding;
using result::ComparedCurve;
using infer::Agreement;

struct Asked {
  std::string first, second, store;
  double margin = 2;    ///< percent
  bool strict = false;  ///< what is ambiguous fails too
  bool all = false;     ///< list what is the same too
  bool json = false;
};

struct Results {
  std::map<std::string, Saved> of;  ///< by experiment
  std::vector<Diagnostic> unread;      ///< files of a folder that are no result that can be read
};

std::size_t cores() { return std::max(1u, std::thread::hardware_concurrency()); }

/// By experiment. Of a folder that holds others too, a file that cannot be read is left out, and said.
Result<Results> by_experiment(const std::string& path, std::vector<Result<Saved>> all) {
  Results results;
  for (auto& saved : all) {
    if (!saved) {
      results.unread.push_back(saved.error());
      continue;
    }
    const auto experiment = saved->result.experiment;
    if (const auto other = results.of.find(experiment); other != results.of.end()) {
      return failure("E0733", fmt::format("{} holds two results of experiment `{}`, of {} and {}", path, experiment, other->second.result.device.id, saved->result.device.id), "compare them file by file");
    }
    results.of.emplace(experiment, std::move(*saved));
  }
  if (results.of.empty()) return results.unread.front();
  return results;
}

/// Both sides, whose files are read on all cores.
std::pair<Result<Results>, Result<Results>> read_both(const Asked& options) {
  const auto a = result_files(options.first), b = result_files(options.second);
  auto files = a ? *a : std::vector<std::string>();
  const auto of_a = files.size();
  if (b) files.insert(files.end(), b->begin(), b->end());
  std::vector<Result<Saved>> read(files.size(), failure("E0711", ""));
  in_any_order(files.size(), cores(), [&](std::size_t i) { read[i] = read_saved(files[i], options.store); });
  const auto side = [&](const auto& paths, const std::string& path, std::size_t from) -> Result<Results> {
    if (!paths) return paths.error();
    std::vector<Result<Saved>> own;
    for (std::size_t i = 0; i < paths->size(); ++i) own.push_back(std::move(read[from + i]));
    return by_experiment(path, std::move(own));
  };
  auto first = side(a, options.first, 0), second = side(b, options.second, of_a);
  return {std::move(first), std::move(second)};
}

/// How many of each verdict.
struct Tally {
  std::size_t same = 0, different = 0, ambiguous = 0, undetermined = 0;
  void count(Agreement agreement) {
    ++(agreement == Agreement::Same ? same : agreement == Agreement::Different ? different : agreement == Agreement::Ambiguous ? ambiguous : undetermined);
  }
  [[nodiscard]] std::string text() const {
    auto all = fmt::format("{} SAME, {} DIFFERENT, {} AMBIGUOUS", same, different, ambiguous);
    return undetermined ? all + fmt::format(", {} undetermined on both", undetermined) : all;
  }
  [[nodiscard]] Json json() const { return {{"same", same}, {"different", different}, {"ambiguous", ambiguous}, {"undetermined", undetermined}}; }
};

/// Two results of one experiment.
struct Comparison {
  std::string experiment;
  bool simulated = false;
  std::vector<result::Change> changes;
  std::vector<std::string> same_measurement;  ///< stages
  std::vector<std::string> only_in_a, only_in_b;
  std::vector<ComparedFinding> findings;
  std::vector<ComparedCurve> curves;
};

Result<Comparison> compare_two(const std::string& experiment, const Saved& first, const Saved& second, double margin) {
  const result::ComparedResult a{first.program, first.result, "A"}, b{second.program, second.result, "B"};
  auto curves = result::compare_curves(a, b, margin);
  if (!curves) return curves.error();
  return Comparison{experiment,
                    first.result.device.kind == "simulated" || second.result.device.kind == "simulated",
                    result::provenance(first.result, second.result),
                    result::same_measurement(first.result, second.result),
                    result::only_in(a, b),
                    result::only_in(b, a),
                    result::compare({a, b}, margin),
                    std::move(*curves)};
}

/// The experiments that both have, in order; on all cores.
std::vector<std::optional<Result<Comparison>>> compare_all(const Results& a, const Results& b, double margin) {
  std::vector<std::pair<const Saved*, const Saved*>> pairs;
  for (const auto& [name, saved] : a.of) {
    if (const auto other = b.of.find(name); other != b.of.end()) pairs.emplace_back(&saved, &other->second);
  }
  std::vector<std::optional<Result<Comparison>>> compared(pairs.size());
  const auto work = [&](std::size_t i) { compared[i] = compare_two(pairs[i].first->result.experiment, *pairs[i].first, *pairs[i].second, margin); };
  in_any_order(pairs.size(), cores(), work);
  return compared;
}

constexpr std::size_t kLongest = 48;  // bytes of a value; --json has it whole

std::string shortened(const std::string& text) {
  auto end = std::min(text.size(), kLongest);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // no character in halves
  return end == text.size() ? text : text.substr(0, end) + " …";
}

/// "83 cycles → 91 cycles, +9.6 % [8.9, 10.3] % (99 %)"
std::string difference_text(const infer::Difference& difference, Dimension unit) {
  auto text = fmt::format("{} → {}", show(difference.a, unit), show(difference.b, unit));
  if (difference.a == 0 || !std::isfinite(difference.low)) return text;
  const double percent = 100 / std::fabs(difference.a);
  text += fmt::format(", {:+.3g} %", percent * (difference.b - difference.a));
  if (difference.exact()) return text + " in every repetition";
  text += fmt::format(" [{:.3g}, {:.3g}] % ({:g} %)", percent * difference.low, percent * difference.high, 100 * (1 - result::kCurveChance));
  return difference.agreement == Agreement::Ambiguous ? text + fmt::format(" of {} repetitions", difference.repetitions) : text;
}

/// "48 points: 47 SAME, 1 DIFFERENT: at n = 16 KiB 83 cycles → 91 cycles, …"
std::string curve_text(const ComparedCurve& curve) {
  auto text = fmt::format("{} point{}:", curve.points, curve.points == 1 ? "" : "s");
  const char* comma = " ";
  for (const auto& [count, what] : {std::pair{curve.same(), "SAME"}, {curve.different, "DIFFERENT"}, {curve.ambiguous, "AMBIGUOUS"}, {curve.undetermined, "without a value"}}) {
    if (count) text += fmt::format("{}{} {}", std::exchange(comma, ", "), count, what);
  }
  if (curve.points == 0) text = "AMBIGUOUS";
  if (!curve.why.empty()) text += ": " + curve.why;
  if (const auto& worst = curve.worst) {
    text += worst->at.empty() ? ":" : fmt::format(": at {}", worst->at);
    if (worst->difference.repetitions > 0) text += " " + difference_text(worst->difference, curve.dimension);
    if (!worst->why.empty()) text += fmt::format(" ({})", worst->why);
  }
  if (curve.only_in_a + curve.only_in_b > 0) text += fmt::format("; {} points only in A, {} only in B", curve.only_in_a, curve.only_in_b);
  return text;
}

std::string text_of(const Comparison& two, bool all) {
  auto text = two.experiment + (two.simulated ? "  SIMULATED" : "") + "\n";
  for (const auto& change : two.changes) text += fmt::format("  {:<12}  {} → {}\n", change.what, change.a, change.b);
  if (two.changes.empty()) text += "  the same device, driver, NVRTC, gexp, spec, seed and settings\n";
  if (!two.same_measurement.empty())
    text += fmt::format("  one measurement on both sides, which one of them kept: {}\n", fmt::join(two.same_measurement, ", "));
  for (const auto& [list, side] : {std::pair{&two.only_in_a, "A"}, {&two.only_in_b, "B"}}) {
    for (const auto& what : *list) text += fmt::format("  {} is only in {}\n", what, side);
  }
  std::size_t width = 8;
  const auto shown = [&](Agreement agreement) { return all || agreement == Agreement::Different || agreement == Agreement::Ambiguous; };
  for (const auto& row : two.findings) width = shown(row.agreement) ? std::max(width, row.id.size()) : width;
  for (const auto& curve : two.curves) width = shown(curve.agreement) ? std::max(width, curve.stage.size() + curve.column.size() + 1) : width;
  for (const auto& row : two.findings) {
    if (!shown(row.agreement)) continue;
    const auto values = row.values[0] == row.values[1] ? shortened(row.values[0]) : shortened(row.values[0]) + " → " + shortened(row.values[1]);
    text += fmt::format("  {:<{}}  {:<9}  {}{}\n", row.id, width, infer::word(row.agreement), values, row.why.empty() ? "" : " (" + row.why + ")");
  }
  for (const auto& curve : two.curves) {
    if (shown(curve.agreement)) text += fmt::format("  {:<{}}  {}\n", curve.stage + " " + curve.column, width, curve_text(curve));
  }
  return text;
}

Json json_of(const infer::Difference& difference) {
  return {{"a", difference.a}, {"b", difference.b}, {"low", difference.low}, {"high", difference.high}, {"margin", difference.margin}, {"repetitions", difference.repetitions}};
}

Json json_of(const Comparison& two) {
  Json json = {{"experiment", two.experiment}, {"changes", Json::array()}, {"only_in_a", two.only_in_a}, {"only_in_b", two.only_in_b}, {"findings", Json::array()}, {"curves", Json::array()}};
  json["same_measurement"] = two.same_measurement;
  for (const auto& change : two.changes) json["changes"].push_back({{"what", change.what}, {"a", change.a}, {"b", change.b}});
  for (const auto& row : two.findings) json["findings"].push_back({{"id", row.id}, {"verdict", infer::word(row.agreement)}, {"a", row.values[0]}, {"b", row.values[1]}, {"why", row.why}});
  for (const auto& curve : two.curves) {
    Json one = {{"stage", curve.stage},         {"column", curve.column},       {"unit", name(curve.dimension)},          {"verdict", infer::word(curve.agreement)},
                {"points", curve.points},       {"same", curve.same()},         {"different", curve.different},           {"ambiguous", curve.ambiguous},
                {"without_value", curve.undetermined}, {"only_in_a", curve.only_in_a}, {"only_in_b", curve.only_in_b}, {"why", curve.why},
                {"worst", nullptr}};
    if (const auto& worst = curve.worst) {
      one["worst"] = {{"at", worst->at}, {"why", worst->why}};
      one["worst"].update(json_of(worst->difference));
    }
    json["curves"].push_back(std::move(one));
  }
  return json;
}

int compare(const Asked& options) {
  const auto [a, b] = read_both(options);
  for (const auto* results : {&a, &b}) {
    if (*results) continue;
    print(results->error(), nullptr);
    return kEnvironment;
  }
  bool unread = false;
  for (const auto* results : {&a, &b}) {
    for (const auto& problem : (*results)->unread) print(problem, nullptr);
    unread = unread || !(*results)->unread.empty();
  }
  Json json = {{"schema", "gexp.compare/1"}, {"a", options.first}, {"b", options.second}, {"margin", options.margin / 100}, {"confidence", 1 - result::kCurveChance}, {"experiments", Json::array()}};
  auto text = fmt::format("A = {}, B = {}\n", options.first, options.second);
  Tally findings, curves;
  std::vector<std::string> only_in_a, only_in_b;
  bool alone = false;
  const auto compared = compare_all(*a, *b, options.margin / 100);
  std::size_t next = 0;
  for (const auto& [name, result] : a->of) {
    const auto other = b->of.find(name);
    if (other == b->of.end()) {
      only_in_a.push_back(name);
      continue;
    }
    const auto& two = *compared[next++];
    if (!two) {
      print(two.error(), nullptr);
      return kEnvironment;
    }
    for (const auto& row : two->findings) findings.count(row.agreement);
    for (const auto& curve : two->curves) curves.count(curve.agreement);
    alone = alone || !two->only_in_a.empty() || !two->only_in_b.empty();
    text += "\n" + text_of(*two, options.all);
    json["experiments"].push_back(json_of(*two));
  }
  for (const auto& [name, result] : b->of) {
    if (!a->of.contains(name)) only_in_b.push_back(name);
  }
  for (const auto& [list, side] : {std::pair{&only_in_a, "A"}, {&only_in_b, "B"}}) {
    for (const auto& name : *list) text += fmt::format("\n{} is only in {}\n", name, side);
  }
  json["only_in_a"] = only_in_a, json["only_in_b"] = only_in_b;
  json["findings"] = findings.json(), json["curves"] = curves.json();
  if (options.json) print_out("{}\n", json.text());
  else print_out("{}\nfindings  {}\ncurves    {}\n", text, findings.text(), curves.text());
  if (unread) return kEnvironment;
  const bool differ = findings.different + curves.different > 0 || alone || !only_in_a.empty() || !only_in_b.empty();
  return differ || (options.strict && findings.ambiguous + curves.ambiguous > 0) ? kNotHeld : kDone;
}

class Compare final : public Command {
 public:
  void declare(Options& options) override {
    options.add("first", &asked_.first, "a result as `gexp infer` takes it, or a folder that `survey --out` wrote").must_be_given().offers(Offers::Results);
    options.add("second", &asked_.second, "what it is compared with").must_be_given().offers(Offers::Results);
    options.add("--margin", &asked_.margin, "percent by which times and rates may differ and still be the same").checked_by(from_zero).shows_default();
    options.add("--strict", &asked_.strict, "exit 1 where something is ambiguous, too");
    options.add("--all", &asked_.all, "list what is the same, too");
    options.add("--json", &asked_.json, "everything, as JSON");
    add_store(options, asked_.store);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::vector<std::string>{written_by_reading(asked_.first, asked_.store), written_by_reading(asked_.second, asked_.store)}; }
  int run() override { return compare(asked_); }

 private:
  Asked asked_;
};

}  // namespace

std::unique_ptr<Command> new_compare() { return std::make_unique<Compare>(); }

}  // namespace gexp::cli
