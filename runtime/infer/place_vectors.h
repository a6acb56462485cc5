// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/records/table.h"

namespace gexp::infer {

/// Lines seen from several points: what each of them takes to reach each line, in units of the noise of such a latency.
struct PlaceVectors {
  std::vector<std::int64_t> offsets;        ///< of the lines, rising
  std::size_t views = 0;                    ///< points: numbers in a vector
  std::vector<std::size_t> points;          ///< by view: its point of the table; others were not measured
  std::vector<double> noise;                ///< by view, in ticks
  std::vector<float> all, even, odd;        ///< by line, then by point: of all visits, and of either half of them
  std::string problem;                      ///< why there are none, and what would help
};
/// Of a table in which all points visit the same lines, each at least twice. CutShort.
PlaceVectors place_vectors(const records::Table& table);

/// Lines that are alike from every point.
struct Places {
  std::vector<std::size_t> of_line;     ///< by line: the number of its place
  std::vector<std::size_t> lines_of;    ///< by place
  double predicted = 0;                 ///< share of lines that the odd visits alone put where the even ones do
  double overlooked = 0;                ///< places that are expected to be taken for others, or that no line lies in
  double nearest = 0;                   ///< root mean square distance of the two places that are most alike, in units of the noise
};
/// CutShort.
Places find_places(const PlaceVectors& lines);

}  // namespace gexp::infer
