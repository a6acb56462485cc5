// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

/// How often something happens in each of many cells: by one rate for all, or by a rate of each cell's own.
namespace gexp::infer {

/// Trials of a cell, and how many of them were slow.
struct Cell {
  std::uint32_t trials = 0, slow = 0;
};

/// Log of the Bayes factor of 'each cell has its own rate' against 'one rate for all', in nats. Own rates are drawn from a Beta
/// distribution (the beta-binomial of Skellam 1948) with the mean that was seen; how unlike they are, the intraclass correlation,
/// is averaged over. 0 where no cell has two trials: nothing can tell.
double own_rates(const std::vector<Cell>& cells);

/// log(exp(a) + exp(b) + …), without overflow.
double log_sum(const std::vector<double>& logs);
double log_sum(double one, double other);

/// Log of the number of ways to choose k of n things.
double log_of_choices(double n, double k);

}  // namespace gexp::infer
