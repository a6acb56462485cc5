// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

/// The few distributions that the analyses argue with.
namespace gexp::infer {

/// Chance that a Poisson variable of this mean is at least `count`.
double poisson_at_least(double count, double mean);
/// Chance that a Poisson variable of this mean is at most `count`.
double poisson_at_most(double count, double mean);
/// The least count whose chance under this mean is below `chance`.
double poisson_beyond(double mean, double chance);
/// Chance that this many of all events fall into a sample of this share of all trials, or more, when one rate rules everywhere.
double share_at_least(double count, double all, double share);
/// Chance that chi-square with so many degrees of freedom is larger.
double chi_square_above(double value, double freedom);
/// Half the width of a 95 % interval of a mean of few values, in their standard errors (Student).
double student_95(double freedom);

double median(std::vector<double> values);

}  // namespace gexp::infer
