// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/cli/verify_report.h"

namespace gexp::cli {
namespace {

using Tree = nlohmann::ordered_json;
using Key = std::pair<std::uint64_t, std::string>;  // number of the device, and expectation

constexpr std::size_t kListed = 10;  // verdicts that differ

struct Judged {
  std::string word, why;
  double confidence = 0;
};

std::map<Key, Judged> verdicts_of(const Tree& noise) {
  std::map<Key, Judged> found;
  const auto expectations = noise.value("expectations", std::vector<std::string>{});
  for (const auto& device : noise.value("devices", Tree::array())) {
    const auto all = device.value("verdicts", Tree::array());
    for (std::size_t i = 0; i < all.size() && i < expectations.size(); ++i) {
      found[{device.value("number", std::uint64_t{0}), expectations[i]}] = {
          all[i].value("verdict", ""), all[i].value("why", ""), all[i].value("confidence", 0.0)};
    }
  }
  return found;
}

/// The figures of one run, of what both runs have judged.
struct Figures {
  std::size_t right = 0, wrong = 0, abstained = 0, sure = 0, sure_and_wrong = 0;
  std::vector<measure::Claim> claims;
  void add(const Judged& verdict) {
    if (verdict.word == "abstained") ++abstained;
    if (verdict.word == "abstained") return;
    const bool is_wrong = verdict.word == "wrong";
    ++(is_wrong ? wrong : right);
    sure += verdict.confidence >= 0.95;
    sure_and_wrong += is_wrong && verdict.confidence >= 0.95;
    claims.push_back({verdict.confidence, !is_wrong});
  }
};

std::string rows(const Figures& before, const Figures& after) {
  std::string out = fmt::format("  {:<28} {:>10} {:>10}\n", "", "before", "after");
  const auto count = [&](const char* what, std::size_t a, std::size_t b) {
    out += fmt::format("  {:<28} {:>10} {:>10}\n", what, a, b);
  };
  count("right", before.right, after.right);
  count("wrong", before.wrong, after.wrong);
  count("abstained", before.abstained, after.abstained);
  count("claims at 95 % and more", before.sure, after.sure);
  count("of them wrong", before.sure_and_wrong, after.sure_and_wrong);
  const auto was = measure::reliability(before.claims), is = measure::reliability(after.claims);
  out += fmt::format("  {:<28} {:>10.4f} {:>10.4f}\n  {:<28} {:>10.4f} {:>10.4f}\n", "log-loss", was.log_loss,
                     is.log_loss, "Brier score", was.brier, is.brier);
  return out;
}

}  // namespace

std::string verify_changes(const std::string& before, const std::string& after, bool everything) {
  const auto old = Tree::parse(before, nullptr, false), now = Tree::parse(after, nullptr, false);
  if (!old.is_object() || !now.is_object()) return "what it is compared with is no output of `gexp verify --json`\n";
  std::string out;
  for (const auto& [noise, made] : now.items()) {
    if (!old.contains(noise)) continue;
    const auto was = verdicts_of(old.at(noise)), is = verdicts_of(made);
    Figures figures[2];
    std::vector<std::string> changed;
    for (const auto& [key, verdict] : is) {
      const auto found = was.find(key);
      if (found == was.end() || verdict.word == "not here" || found->second.word == "not here") continue;
      figures[0].add(found->second);
      figures[1].add(verdict);
      if (found->second.word == verdict.word) continue;
      changed.push_back(fmt::format("    device {}  {}: {} before, {} now{}{}\n", key.first, key.second,
                                    found->second.word, verdict.word, verdict.why.empty() ? "" : ": ", verdict.why));
    }
    out += fmt::format("noise {}, {} verdicts that both have\n{}", noise,
                       figures[0].right + figures[0].wrong + figures[0].abstained, rows(figures[0], figures[1]));
    for (std::size_t i = 0; i < changed.size() && (everything || i < kListed); ++i)
      out += (i == 0 ? "  changed\n" : "") + changed[i];
    if (!everything && changed.size() > kListed) out += fmt::format("    and {} more\n", changed.size() - kListed);
  }
  return out.empty() ? "the two have no noise in common\n" : out;
}

}  // namespace gexp::cli
