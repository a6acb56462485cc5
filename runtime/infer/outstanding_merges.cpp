// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/infer/curve_data.h"
#include "runtime/infer/model/common_step.h"
#include "runtime/infer/requests.h"
#include "runtime/infer/statistics.h"

// A warp sends one request for a line, however many of its threads want it. So a line is asked for twice only by two
// warps (or by two loads), and threads of one warp say nothing of merging. An entry that merges M requests lets M warps
// wait for one line together; the next one waits until the line is there, and then finds it or asks again. As more
// warps ask for the same lines, time rises there, whatever the number of lines, in all curves at the same number of
// requests a line. How warps are issued and scheduled makes rises, too. So the curve beside it counts, of as many warps
// and loads whose warps ask for lines of their own: what sharing adds is flat until entries merge no more.
//
// Where no such curve is beside, nothing is said of merging.
namespace gexp::infer {
namespace {

struct Asked {
  double x = 0, y = 0, instructions = 0, a_line = 0;
};

std::vector<Asked> asked_of(const Context& context, const CurveSeries& series) {
  std::vector<Asked> all;
  for (const auto& sample : series.samples) {
    const auto asked = requests_at(context, sample.point);
    if (!asked || asked->lines <= 0) return {};
    all.push_back({sample.x, sample.y, asked->instructions, asked->a_line()});
  }
  return all;
}

/// The first points, in which every line was asked for as often; without the others, sharing may be uneven.
std::vector<Asked> evenly_shared(const Context& context, const CurveSeries& series) {
  auto all = asked_of(context, series);
  if (all.empty() || all.front().a_line != 1) return {};
  std::size_t alone = 0;
  while (alone < all.size() && all[alone].a_line == 1) ++alone;
  const auto lines = [&](std::size_t i) { return requests_at(context, series.samples[i].point)->lines; };
  std::size_t end = alone;
  while (end < all.size() && lines(end) == lines(alone - 1) && all[end].a_line > 1) ++end;
  all.resize(end == alone ? 0 : end);
  return all;
}

/// What sharing adds at each number of requests a line, beside `alone`.
XyCurve added_by_sharing(const std::vector<Asked>& shared, const std::vector<Asked>& alone) {
  std::map<double, std::vector<double>> added;
  for (const auto& at : shared) {
    const auto same = std::find_if(alone.begin(), alone.end(), [&](const Asked& other) { return other.x == at.x && other.instructions == at.instructions; });
    if (same != alone.end()) added[at.a_line].push_back(at.y - same->y);
  }
  XyCurve curve;
  for (auto& [requests, values] : added) curve.x.push_back(requests), curve.y.push_back(median(std::move(values)));
  return curve;
}

}  // namespace

Merges merges_of(const Context& context, const std::vector<CurveSeries>& groups, double no_wait) {
  Merges merges;
  if (!argument(context, "accesses")) return merges;
  std::vector<std::vector<Asked>> alone;
  for (const auto& group : groups) {
    auto asked = asked_of(context, group);
    const auto end = std::find_if(asked.begin(), asked.end(), [&](const Asked& at) { return at.a_line != 1 || at.y >= no_wait; });
    asked.erase(end, asked.end());  // what waits for an entry tells nothing of issuing
    alone.push_back(std::move(asked));
  }
  std::vector<SteppedCurve> curves;
  for (const auto& group : groups) {
    const auto shared = evenly_shared(context, group);
    if (shared.empty()) continue;
    XyCurve most;
    for (const auto& control : alone) {
      auto curve = added_by_sharing(shared, control);
      if (curve.x.size() > most.x.size()) most = std::move(curve);
    }
    if (most.x.size() < 2) continue;
    merges.seen = std::max(merges.seen, most.x.back());
    const double noise = std::sqrt(2.0) * textbook_noise(context, group.samples, most.y);
    curves.push_back({std::move(most), {noise, true}});
  }
  if (curves.empty()) return merges;
  merges.compared = true;
  const auto step = common_step(curves);
  merges.most = step.before, merges.weight = step.weight, merges.without = step.none;
  // Between two numbers of requests that were measured, entries may merge any.
  merges.exact = step.after - step.before == 1;
  merges.next = step.after;
  return merges;
}

}  // namespace gexp::infer
