// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/clock_watch.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace gexp::measure {
namespace {

constexpr double kBetween = 0.05;  // seconds between two looks: what a look costs is then no matter
constexpr double kChanged = 0.03;  // of the clock at which most points were measured
constexpr int kMostSilent = 5;     // looks: after a fault the device does not answer at once
constexpr double kSettle = 2;      // seconds

}  // namespace

ClockWatch::ClockWatch(Look look, Clock clock) : look_(std::move(look)), clock_(std::move(clock)), last_(clock_()) { sample(0); }

double ClockWatch::seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void ClockWatch::sample(std::size_t points) {
  if (silent_ == kMostSilent) return;
  const auto now = look_();
  silent_ = now ? 0 : silent_ + 1;
  last_ = clock_();
  if (now) samples_.push_back({points, now->sm_clock_hz, now->slowed});
}

void ClockWatch::point(std::size_t points) {
  if (clock_() - last_ >= kBetween) sample(points);
}

std::vector<std::size_t> ClockWatch::unsteady(std::size_t points) {
  if (samples_.empty() || samples_.back().points < points) sample(points);
  // The first look is at a device that may be idle: it tells nothing of the points.
  std::vector<double> clocks;
  for (std::size_t i = 1; i < samples_.size(); ++i) clocks.insert(clocks.end(), samples_[i].points - samples_[i - 1].points, samples_[i].clock);
  if (clocks.empty()) return {};
  const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  const double usual = *middle;
  const auto odd = [&](const Sample& sample) { return !sample.slowed.empty() || std::fabs(sample.clock - usual) > kChanged * usual; };
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < samples_.size(); ++i) {
    if (!odd(samples_[i]) && (i == 1 || !odd(samples_[i - 1]))) continue;
    for (auto point = samples_[i - 1].points; point < samples_[i].points; ++point) found.push_back(point);
  }
  return found;
}

std::pair<double, double> ClockWatch::range() const {
  std::pair<double, double> range{samples_.size() > 1 ? samples_[1].clock : 0, 0};
  for (std::size_t i = 1; i < samples_.size(); ++i) range = {std::min(range.first, samples_[i].clock), std::max(range.second, samples_[i].clock)};
  return range;
}

std::string ClockWatch::slowed_by() const {
  std::vector<std::string> words;
  for (const auto& sample : samples_) {
    for (const auto& word : sample.slowed) {
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
  }
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool ClockWatch::steady_now() const {
  const auto now = look_();
  return !now || now->slowed.empty();
}

bool ClockWatch::wait_until_steady() const {
  const auto start = clock_();
  while (!steady_now()) {
    if (clock_() - start > kSettle) return false;
    std::this_thread::sleep_for(std::chrono::duration<double>(kBetween));
  }
  return true;
}

}  // namespace gexp::measure
