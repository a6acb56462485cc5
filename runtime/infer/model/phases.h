// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <vector>

/// Events that recur at one interval, told by how long accesses take that begin at any time.
namespace gexp::infer::model {

inline constexpr std::size_t kPhases = 24;  // limit: parts of an interval

/// An interval after which accesses take as long again.
struct Recurring {
  double interval = 0;
  double gain = 0;    ///< natural logarithm of the likelihood beyond times that no phase explains; phases and interval are paid for
  double rarest = 0;  ///< accesses that begin in the rarest phase, of what each would have if they began at any time
  std::array<double, kPhases> took{};  ///< the mean of each phase, in the ranks of all: 0 the fastest, 1 the slowest
};

/// The phase of a time.
std::size_t phase_of(double time, double interval);

/// The likeliest interval, from the usual distance of two accesses to a sixteenth of all the time; gain 0 where none is likelier than none.
/// `began` rises; `took` has an entry for each, at least 64.
Recurring find_interval(const std::vector<double>& began, const std::vector<double>& took);

}  // namespace gexp::infer::model
