// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "runtime/infer/analysis.h"
#include "runtime/infer/curve_data.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/model_choice.h"

// 32 lanes read words at one stride: where, the pattern of the chase says, and without one x is the stride in words. A bank serves one row at a time, so the latency grows with the most rows that any bank
// is asked for: the ways of the conflict. Each layout of banks predicts the ways of every stride. Under the right one latency is a
// function of the ways alone, and grows with them: a model with one parameter for each number of ways. Others put strides of unlike
// latency into one class, which leaves squares, or strides of like latency into several, which costs parameters. So layouts are
// weighed by their BIC, beside the model in which each stride has a latency of its own. What layouts agree on is as sure as they
// are together.
namespace gexp::infer {
namespace {

constexpr std::int64_t kLanes = 32;  // fact: of a warp

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

/// Where the lanes of a warp read at one point, in 4-byte words, and what it cost.
struct Sample {
  std::vector<std::int64_t> words;  ///< by lane: the first of its access
  double cost = 0;
};

/// Of the first warp; nullopt where the steps of a lap lie differently to each other, so that one cost stands for several conflicts.
std::optional<Sample> sample_of(const Curve::Sample& sample, const records::Point& point, std::int64_t word_bytes) {
  Sample made{{}, sample.y};
  const auto& walk = point.walk;
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    made.words.push_back(walk && walk->steps > 0 ? (lane < walk->threads || walk->threads == 1 ? walk->at(lane, 0) : 0) / 4 : lane * static_cast<std::int64_t>(sample.x) * word_bytes / 4);
  }
  for (std::int64_t step = 1; walk && step < walk->steps; ++step) {
    for (std::int64_t lane = 1; lane < std::min(kLanes, walk->threads); ++lane) {
      if (walk->at(lane, step) - walk->at(0, step) != walk->at(lane, 0) - walk->at(0, 0)) return std::nullopt;
    }
  }
  return made;
}

/// Passes that the whole warp takes.
std::int64_t ways(const Layout& layout, const std::vector<std::int64_t>& words, std::int64_t word_bytes) {
  const auto parts = layout.split ? std::max<std::int64_t>(1, word_bytes / layout.width) : 1;
  std::int64_t passes = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    std::map<std::int64_t, std::set<std::int64_t>> rows;
    for (auto lane = part * kLanes / parts; lane < (part + 1) * kLanes / parts; ++lane) {
      for (std::int64_t w = 0; w < word_bytes / 4; ++w) {
        const auto [bank, row] = place(layout, words[static_cast<std::size_t>(lane)] + w);
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
  CurveFit model;
  double weight = 0;
};

/// One latency for each number of ways; not fitted where more ways cost no more.
Fit fit_of(const Layout& layout, const std::vector<Sample>& samples, std::int64_t word_bytes) {
  Fit fit{layout, {}, {}, 0};
  std::vector<std::int64_t> all;
  for (const auto& sample : samples) fit.by_ways[all.emplace_back(ways(layout, sample.words, word_bytes))].push_back(sample.cost);
  std::map<std::int64_t, double> cost;
  double last = 0;
  for (const auto& [number, costs] : fit.by_ways) {
    const double mean = std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(costs.size());
    if (mean <= last * (1 + model::kSameLatency)) return fit;  // one more row takes a while
    cost[number] = last = mean;
  }
  fit.model.parameters = cost.size();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    fit.model.fitted.push_back(cost[all[i]]);
    const double off = std::log(samples[i].cost / cost[all[i]]);  // a difference counts by its share of the latency
    fit.model.squares += off * off;
  }
  return fit;
}

/// All layouts, with their posterior; their sum falls short of 1 by the weight of strides that have nothing in common.
std::vector<Fit> weighed_layouts(const std::vector<Sample>& samples, std::int64_t word_bytes, double noise) {
  constexpr std::int64_t kMostBanks = 4 * kLanes;  // fact: banks, more than any GPU has
  std::vector<Fit> fits;
  for (std::int64_t banks = 1; banks <= kMostBanks; ++banks) {
    for (const auto& [width, mode] : {std::pair<std::int64_t, std::int64_t>{4, 4}, {8, 4}, {8, 8}}) {
      for (const bool split : {true, false}) {
        if (!split && word_bytes <= width) continue;  // nothing to split
        auto fit = fit_of({banks, width, mode, split}, samples, word_bytes);
        if (fitted(fit.model)) fits.push_back(std::move(fit));
      }
    }
  }
  const auto n = static_cast<double>(samples.size());
  CurveFit own;
  own.parameters = samples.size();
  const auto bic = [&](const CurveFit& model) { return deviance_of(model, n, noise) + penalty_of(model, n); };
  double least = bic(own);
  for (const auto& fit : fits) least = std::min(least, bic(fit.model));
  double sum = std::exp((least - bic(own)) / 2);
  for (auto& fit : fits) sum += fit.weight = std::exp((least - bic(fit.model)) / 2);
  for (auto& fit : fits) fit.weight /= sum;
  std::stable_sort(fits.begin(), fits.end(), [](const Fit& a, const Fit& b) { return a.weight > b.weight; });
  return fits;
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
  std::vector<double> ys;
  for (const auto& sample : points) ys.push_back(sample.y);
  if (*std::min_element(ys.begin(), ys.end()) <= 0) return undetermined(context, "a latency is not above 0");
  std::vector<Sample> warps;
  for (const auto& sample : points) {
    auto made = sample_of(sample, context.table.points[sample.point], static_cast<std::int64_t>(word_bytes->number));
    if (!made) return undetermined(context, "the lanes lie differently to each other from step to step, so one latency stands for several conflicts; a pattern of one step a lane would decide");
    warps.push_back(std::move(*made));
  }
  const double noise = std::hypot(model::kSameLatency, measurement_noise(context, points).least / middle(ys));
  const auto fits = weighed_layouts(warps, static_cast<std::int64_t>(word_bytes->number), noise);
  if (fits.empty() || fits[0].weight <= 0) return undetermined(context, "no layout of 1 to 128 banks of 4 or 8 bytes makes latency grow with the conflict");
  const auto& best = fits[0];
  if (best.by_ways.size() < 2) return undetermined(context, "every stride costs alike: no conflict was met; larger strides, even ones among them, would decide");
  // Layouts that put the strides into the same classes say the same of each; what they disagree on is left out.
  double costs_agree = 0, together = 0;
  std::string which;
  for (const auto& fit : fits) {
    together += fit.weight;
    if (fit.by_ways != best.by_ways) continue;
    costs_agree += fit.weight;
    if (fit.weight < (1 - kMostConfidence) * best.weight) continue;
    which += fmt::format("{}{} banks of {} B ({}{})", which.empty() ? "" : ", ", fit.layout.banks, fit.layout.width, fit.layout.law(), fit.layout.split ? "" : ", all lanes together");
  }
  const auto sure = [&](auto field) {
    double weight = 0;
    for (const auto& fit : fits) weight += field(fit.layout) == field(best.layout) ? fit.weight : 0;
    return std::min(kMostConfidence, weight);
  };
  double confidence = std::min(kMostConfidence, costs_agree);
  if (together < 0.5) {
    return undetermined(context, fmt::format("no layout of 1 to 128 banks of 4 or 8 bytes explains the strides: each has a latency of its own ({:.1f} %)", 100 * (1 - together)));
  }
  if (costs_agree < std::max(context.question.need, model::kGivenPart)) {
    for (const auto& fit : fits) {
      if (fit.by_ways == best.by_ways) continue;
      return undetermined(context, fmt::format("several layouts explain the strides: {} ({:.0f} %), then {} banks of {} B ({}) with other costs; more strides would decide", which, 100 * costs_agree, fit.layout.banks, fit.layout.width, fit.layout.law()));
    }
  }
  List cost, number;
  std::string evidence;
  for (const auto& [n, costs] : best.by_ways) {
    number.emplace_back(static_cast<double>(n));
    cost.emplace_back(middle(costs), kCycles);
    evidence += fmt::format("{}{} ways at {} strides", evidence.empty() ? "" : ", ", n, costs.size());
  }
  Fields fields;
  const auto give = [&](const char* name, double weight, Value value) {
    if (weight < std::max(context.question.need, model::kGivenPart)) return;
    fields[name] = std::move(value), confidence = std::min(confidence, weight);
  };
  give("banks", sure([](const Layout& l) { return l.banks; }), Value(static_cast<double>(best.layout.banks)));
  give("width", sure([](const Layout& l) { return l.width; }), Value(static_cast<double>(best.layout.width), kBytes));
  give("law", sure([](const Layout& l) { return l.law(); }), Value(best.layout.law()));
  const bool one = fields.contains("banks") && fields.contains("width") && fields.contains("law");
  fields["ways"] = Value(std::move(number));
  fields["cost"] = Value(std::move(cost));
  return found(context, Value(std::move(fields)), confidence,
               one ? "of all layouts of 1 to 128 banks, the one under which latency grows with the ways and with nothing else" : "these layouts explain every stride, and these costs are common to them; what they disagree on is left out: " + which,
               evidence, one ? "more repetitions" : "more strides");
}

}  // namespace gexp::infer
