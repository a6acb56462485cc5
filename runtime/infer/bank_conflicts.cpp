// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "runtime/infer/analysis.h"

// 32 lanes read lane * stride * word. A bank serves one row at a time, so the latency grows with the most rows that any bank
// is asked for: the ways of the conflict. Each layout of banks predicts the ways of every stride; the right one makes latency a
// function of the ways alone, and a growing one: equal ways cost alike, more ways cost more. Others put strides of unlike
// latency into one class, or strides of like latency into several.
namespace gexp::infer {
namespace {

constexpr std::int64_t kLanes = 32;

struct Layout {
  std::int64_t banks;
  std::int64_t width;      ///< bytes of a bank
  std::int64_t mode;       ///< bytes that successive banks take turns at: 4 or 8
  bool split;              ///< accesses wider than a bank go a part of the warp at a time, else all lanes together
  [[nodiscard]] std::string law() const { return width == 4 ? "gcd" : mode == 4 ? "rows, 4-byte mode" : "rows, 8-byte mode"; }
};

/// Mei14 section 4.1 and Figure 6: a row of 8-byte banks holds two words a bank; 4-byte mode puts words w and w + 32 together.
std::pair<std::int64_t, std::int64_t> place(const Layout& layout, std::int64_t word) {
  if (layout.width == 4) return {word % layout.banks, word};
  const auto bank = layout.mode == 4 ? word % layout.banks : word / 2 % layout.banks;
  return {bank, word / (2 * layout.banks)};
}

/// Passes that the whole warp takes.
std::int64_t ways(const Layout& layout, std::int64_t stride, std::int64_t word_bytes) {
  const auto parts = layout.split ? std::max<std::int64_t>(1, word_bytes / layout.width) : 1;
  std::int64_t passes = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    std::map<std::int64_t, std::set<std::int64_t>> rows;
    for (auto lane = part * kLanes / parts; lane < (part + 1) * kLanes / parts; ++lane) {
      for (std::int64_t w = 0; w < word_bytes / 4; ++w) {
        const auto [bank, row] = place(layout, lane * stride * word_bytes / 4 + w);
        rows[bank].insert(row);
      }
    }
    std::size_t most = 1;
    for (const auto& [bank, of_bank] : rows) most = std::max(most, of_bank.size());
    passes += static_cast<std::int64_t>(most);
  }
  return passes;
}

struct Fit {
  Layout layout;
  std::map<std::int64_t, std::vector<double>> by_ways;
};

double tolerance(double value) { return std::max(0.3, 0.003 * value); }

/// Whether latency is a growing function of the ways; then the latencies by ways.
bool fits(Fit& fit, const std::vector<Curve::Sample>& samples, std::int64_t word_bytes) {
  for (const auto& sample : samples) fit.by_ways[ways(fit.layout, static_cast<std::int64_t>(sample.x), word_bytes)].push_back(sample.y);
  double last = -INFINITY;
  for (auto& [number, costs] : fit.by_ways) {
    const auto [low, high] = std::minmax_element(costs.begin(), costs.end());
    if (*high - *low > 2 * tolerance(*high)) return false;
    if (*low <= last + tolerance(last)) return false;
    last = *high;
  }
  return fit.by_ways.size() >= 2;
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double value = values[values.size() / 2];
  return std::fabs(value - std::round(value)) < 1e-6 ? std::round(value) : value;
}

}  // namespace

Finding bank_conflicts(const Context& context) {
  const auto samples = curve(context);
  if (!samples) return undetermined(context, samples.error().message);
  const auto word = argument_value(context, "word");
  const auto* word_bytes = word.get<Number>();
  if (!word_bytes || (word_bytes->number != 4 && word_bytes->number != 8 && word_bytes->number != 16)) return undetermined(context, "a word is 4, 8 or 16 bytes");
  const auto& points = samples->samples;
  if (points.size() < 4) return undetermined(context, "a law of conflicts needs more strides");
  const auto [low, high] = std::minmax_element(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
  if (high->y - low->y <= tolerance(high->y)) return undetermined(context, "every stride costs alike: no conflict was met; larger strides, even ones among them, would decide");

  std::vector<Fit> fitting;
  for (const std::int64_t banks : {8, 16, 32, 64, 128}) {
    for (const auto& [width, mode] : {std::pair<std::int64_t, std::int64_t>{4, 4}, {8, 4}, {8, 8}}) {
      for (const bool split : {true, false}) {
        if (!split && word_bytes->number <= static_cast<double>(width)) continue;  // nothing to split
        Fit fit{{banks, width, mode, split}, {}};
        if (fits(fit, points, static_cast<std::int64_t>(word_bytes->number))) fitting.push_back(std::move(fit));
      }
    }
  }
  if (fitting.empty()) return undetermined(context, "no layout of 8 to 128 banks of 4 or 8 bytes makes latency a function of the conflict alone");
  const auto same = [&](auto field) { return std::all_of(fitting.begin(), fitting.end(), [&](const Fit& fit) { return field(fit.layout) == field(fitting[0].layout); }); };
  const bool same_costs = std::all_of(fitting.begin(), fitting.end(), [&](const Fit& fit) { return fit.by_ways == fitting[0].by_ways; });
  std::string which;
  for (const auto& fit : fitting) {
    which += fmt::format("{}{} banks of {} B ({}{})", which.empty() ? "" : ", ", fit.layout.banks, fit.layout.width, fit.layout.law(), fit.layout.split ? "" : ", all lanes together");
  }
  if (!same_costs) return undetermined(context, "several layouts explain every stride: " + which + "; more strides would decide");
  const auto& best = fitting[0];
  List cost, number;
  std::string evidence;
  for (const auto& [n, costs] : best.by_ways) {
    number.emplace_back(static_cast<double>(n));
    cost.emplace_back(middle(costs), kCycles);
    evidence += fmt::format("{}{} ways at {} strides", evidence.empty() ? "" : ", ", n, costs.size());
  }
  Fields fields;
  if (same([](const Layout& l) { return l.banks; })) fields["banks"] = Value(static_cast<double>(best.layout.banks));
  if (same([](const Layout& l) { return l.width; })) fields["width"] = Value(static_cast<double>(best.layout.width), kBytes);
  if (same([](const Layout& l) { return l.law(); })) fields["law"] = Value(best.layout.law());
  fields["ways"] = Value(std::move(number));
  fields["cost"] = Value(std::move(cost));
  return found(context, Value(std::move(fields)), fitting.size() == 1 ? 0.99 : 0.95,
               fitting.size() == 1 ? "the only layout under which latency grows with the ways and with nothing else" : "these layouts explain every stride, and these costs are common to them; what they disagree on is left out: " + which, evidence,
               fitting.size() == 1 ? kNothingMore : "more strides");
}

}  // namespace gexp::infer
