// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/result/result.h"

namespace gexp::report {

/// What a result tells of every multiprocessor.
struct ChipMap {
  /// One number for each multiprocessor, by its number.
  struct Column {
    std::string finding;
    Dimension dimension;
    std::vector<double> of;
    std::size_t groups = 0;  ///< that points are in
  };
  std::vector<Column> groups;  ///< findings of `alike`, the one with the fewest groups first
  std::vector<Column> values;  ///< findings that are lists
};

/// Of the findings with as many numbers as the device has multiprocessors. Nothing without one of `alike` among them.
std::optional<ChipMap> chip_map(const result::RunResult& result);

/// Drawn as a figure: a box for each group of the first finding, in it a row for each group of the second one, in that a frame around each
/// group of the third one; coloured by the first value.
std::string chip_html(const ChipMap& map);

}  // namespace gexp::report
