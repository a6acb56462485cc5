// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/verify_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gexp::cli {
namespace {

using measure::Reliability;
using measure::Verdict;
using measure::Verification;

constexpr std::size_t kShown = 5;  // wrong claims, and reasons of abstention, that are listed
constexpr int kBar = 40;           // characters of the reliability diagram

std::string share(std::size_t part, std::size_t all) {
  return fmt::format("{:6} {:5.1f} %", part, all ? 100.0 * static_cast<double>(part) / static_cast<double>(all) : 0.0);
}

/// A reason without its numbers: those that differ in nothing else are one reason.
std::string kind_of_reason(const std::string& why) {
  std::string kind;
  for (std::size_t i = 0; i < why.size(); ++i) {
    const bool digit = why[i] >= '0' && why[i] <= '9';
    if (!digit)
      kind += why[i];
    else if (kind.empty() || kind.back() != '#')
      kind += '#';
  }
  return kind;
}

std::string range(const Reliability::Bin& bin) {
  return bin.to > 1 ? fmt::format("{:g} % and more", 100 * bin.from)
                    : fmt::format("{:g} % to {:g} %", 100 * bin.from, 100 * bin.to);
}

/// Doubt by doubt, on a logarithmic scale: from 1 of 1 at the left to 1 of 10,000 at the right.
int column(double wrong) {
  return wrong <= 0 ? kBar - 1 : std::clamp(static_cast<int>(-std::log10(wrong) / 4 * (kBar - 1) + 0.5), 0, kBar - 1);
}

/// One line of the diagram: what share of the claims is wrong (the interval that is sure to 95 %), beside what was
/// stated.
std::string diagram(const Reliability::Bin& bin) {
  std::string bar(kBar, ' ');
  const auto least = column(1 - bin.low), most = column(1 - bin.high);
  for (int i = least; i <= most; ++i) bar[static_cast<std::size_t>(i)] = '-';
  bar[static_cast<std::size_t>(column(1 - bin.stated))] = '|';
  return bar;
}

std::string calibration(const Reliability& reliability) {
  std::string out = "\n  claims by stated confidence\n";
  for (const auto& bin : reliability.bins) {
    out += fmt::format("    {:<18} {:6} claims, {} wrong, {:6.3f} % stated  [{}]\n", range(bin), bin.claims,
                       share(bin.wrong, bin.claims), 100 * (1 - bin.stated), diagram(bin));
  }
  if (reliability.claims > 0)
    out += fmt::format("    log-loss {:.4f}, Brier score {:.4f}\n", reliability.log_loss, reliability.brier);
  return out;
}

}  // namespace

VerifySummary summarise(const Verification& verification, const std::function<std::string(std::uint64_t)>& name) {
  VerifySummary summary;
  summary.each.resize(verification.expectations.size());
  std::vector<measure::Claim> claims;
  for (const auto& device : verification.devices) {
    for (std::size_t i = 0; i < device.verdicts.size(); ++i) {
      const auto& verdict = device.verdicts[i];
      summary.each[i].add(verdict.kind);
      summary.all.add(verdict.kind);
      for (const auto& interval : verdict.intervals) ++summary.intervals, summary.held += interval.holds();
      summary.by_interval += verdict.by_interval;
      if (verdict.kind == Verdict::Kind::NotHere) continue;
      if (verdict.kind == Verdict::Kind::Abstained) {
        ++summary.reasons.try_emplace(kind_of_reason(verdict.why), 0, device.number).first->second.first;
        continue;
      }
      claims.push_back({verdict.confidence, verdict.kind == Verdict::Kind::Right});
      if (verdict.confidence >= 0.95) summary.at_95.add(verdict.kind);
      if (verdict.kind != Verdict::Kind::Wrong) continue;
      const auto done = device.mutations.empty() ? "" : fmt::format("\n      {}", fmt::join(device.mutations, "; "));
      summary.wrong.push_back(fmt::format("{}  {}: {}, at {:.5g} %{}", name(device.number),
                                          verification.expectations[i], verdict.why, 100 * verdict.confidence, done));
    }
  }
  summary.reliability = measure::reliability(claims);
  return summary;
}

std::string verify_text(const Verification& verification, const VerifySummary& summary, bool everything) {
  std::size_t width = 20;
  for (const auto& text : verification.expectations) width = std::max(width, text.size());
  std::string out = fmt::format("  {:<{}}  {:>14}  {:>14}  {:>14}\n", "", width, "right", "wrong", "abstained");
  const auto row = [&](const std::string& name, const Tally& tally) {
    out += fmt::format("  {:<{}}  {}  {}  {}\n", name, width, share(tally.right, tally.all()),
                       share(tally.wrong, tally.all()), share(tally.abstained, tally.all()));
  };
  for (std::size_t i = 0; i < summary.each.size(); ++i) row(verification.expectations[i], summary.each[i]);
  if (summary.each.size() > 1) row("together", summary.all);
  if (summary.all.not_here > 0)
    out += fmt::format("  not asked {} times: the device lacks what is asked for, or the expectation's `where` leaves it out\n", summary.all.not_here);
  out += calibration(summary.reliability);
  if (summary.intervals > 0)
    out += fmt::format("    of {} intervals, {} hold the truth{}\n", summary.intervals, summary.held,
                       summary.by_interval > 0
                           ? fmt::format("; {} of the right claims are so by their interval alone", summary.by_interval)
                           : "");
  if (!summary.reasons.empty()) {
    std::vector<std::pair<std::string, std::pair<std::size_t, std::uint64_t>>> reasons(summary.reasons.begin(),
                                                                                       summary.reasons.end());
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
    out += "\n  abstained because\n";
    for (std::size_t i = 0; i < reasons.size() && (everything || i < kShown); ++i)
      out += fmt::format("    {:5} times, first on {}: {}\n", reasons[i].second.first, reasons[i].second.second,
                         reasons[i].first);
    if (!everything && reasons.size() > kShown)
      out += fmt::format("    and {} more reasons\n", reasons.size() - kShown);
  }
  if (!summary.wrong.empty()) {
    out += "\n  wrong\n";
    for (std::size_t i = 0; i < summary.wrong.size() && (everything || i < kShown); ++i)
      out += fmt::format("    {}\n", summary.wrong[i]);
    if (!everything && summary.wrong.size() > kShown)
      out += fmt::format("    and {} more\n", summary.wrong.size() - kShown);
  }
  return out;
}

Json verify_json(const Verification& verification, const VerifySummary& summary) {
  Json json;
  json["expectations"] = verification.expectations;
  json["devices"] = Json::array();
  for (const auto& device : verification.devices) {
    auto verdicts = Json::array();
    for (const auto& verdict : device.verdicts) {
      const char* word = verdict.kind == Verdict::Kind::Right       ? "right"
                         : verdict.kind == Verdict::Kind::Wrong     ? "wrong"
                         : verdict.kind == Verdict::Kind::Abstained ? "abstained"
                                                                    : "not here";
      Json one{{"verdict", word}, {"confidence", verdict.confidence}, {"why", verdict.why}};
      if (verdict.by_interval) one["by_interval"] = true;
      if (!verdict.intervals.empty()) one["intervals"] = Json::array();
      for (const auto& each : verdict.intervals) {
        one["intervals"].push_back({{"finding", each.finding},
                                    {"low", each.low},
                                    {"high", each.high},
                                    {"truth", each.truth},
                                    {"holds", each.holds()}});
      }
      verdicts.push_back(std::move(one));
    }
    Json one{{"number", device.number}, {"verdicts", verdicts}};
    if (!device.mutations.empty()) one["mutations"] = device.mutations;
    json["devices"].push_back(std::move(one));
  }
  auto bins = Json::array();
  for (const auto& bin : summary.reliability.bins) {
    bins.push_back({{"from", bin.from},
                    {"to", std::min(1.0, bin.to)},
                    {"claims", bin.claims},
                    {"wrong", bin.wrong},
                    {"stated", bin.stated},
                    {"low", bin.low},
                    {"high", bin.high}});
  }
  json["reliability"] = Json{{"claims", summary.reliability.claims},
                             {"wrong", summary.reliability.wrong},
                             {"log_loss", summary.reliability.log_loss},
                             {"brier", summary.reliability.brier},
                             {"bins", bins}};
  json["seconds"] = verification.seconds;
  return json;
}

}  // namespace gexp::cli
