// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>

#include "runtime/infer/model/walks.h"
#include "runtime/records/table.h"

namespace gexp::infer {

/// Why a line is no length that a hole told. Walks leave out ever more, by the column `sweep` in bytes, and with a hole of the upper end of
/// `told`, in bytes, nothing misses any more. Lines are aligned to their length where it is a power of two, so each length says with which
/// hole some line is left out entirely: it has to be this one for the upper end, and for no length outside `told`. Empty where it stands,
/// where the walks are no holes in each other, or where it is longer than a line may be.
std::string not_a_line(const records::Table& table, const std::string& sweep, std::pair<double, double> told);

/// Why a hole may have left out several lines, each too many in a set of its own, rather than one long line. A shorter line is out of the
/// question where the walk with the smallest hole has one such line more than some walk that fits, and the first line that a hole leaves
/// out is of a set that overflows: without it, all would have fitted. `walks`: all of the file through the same cache. Empty where no
/// shorter line is possible.
std::string several_lines(const records::Table& table, const std::string& sweep, std::pair<double, double> told, const model::Walks& walks);

}  // namespace gexp::infer
