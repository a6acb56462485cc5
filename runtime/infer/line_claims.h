// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>

#include "runtime/infer/model/walks.h"
#include "runtime/records/table.h"

namespace gexp::infer {

/// Whether the walks of ever larger values of the column `sweep`, in bytes, are the first one but for a range.
bool is_hole(const records::Table& table, const std::string& sweep);

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

/// Why lines of the upper end of `told`, in bytes, do not explain the walks: two of them visit the same lines of that length, and what of
/// them misses differs by more than one policy makes it. Empty where no two do.
std::string unlike_over_same_lines(std::pair<double, double> told, const model::Walks& walks);

/// Why lines of the upper end of `told`, in bytes, do not explain a walk: of what it reads of one line, right after another word of it and
/// as far from that, some misses and some does not. A line goes as a whole, and comes back as a whole or in equal parts. Empty where none does.
std::string unlike_within_lines(std::pair<double, double> told, const model::Walks& walks);

/// The same of a walk in which an address hits, and the next one, of the same line, misses. It was read right after that one in the lap before,
/// too. So the line was whole, or that part of it was there, and it goes as a whole.
std::string misses_after_hits(std::pair<double, double> told, const model::Walks& walks);

/// Why a line of twice the upper end of `told`, in bytes, or of more, may do as well: no two walks over the same lines of that length miss
/// unlike. Empty where none does, and for what is longer than a line.
std::string longer_lines(std::pair<double, double> told, const model::Walks& walks);

/// Why shorter lines may do, of which the walk before the upper end of `told` visits more than there is room for. It is out of the question
/// where some walk of at least as many such lines misses less. `before`: the walks that do not fit yet, at the sweep's value before;
/// `walks`: all of the file through the same cache. Empty where no shorter line does.
std::string too_many_shorter_lines(std::pair<double, double> told, const model::Walks& before, const model::Walks& walks);

}  // namespace gexp::infer
