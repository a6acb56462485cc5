// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/result/point_table.h"

namespace gexp::result {

std::map<std::string, Value> coordinates(const records::Table& table, const records::Point& point) {
  std::map<std::string, Value> at;
  for (const auto& column : table.columns) at[column] = point.at.at(column);
  return at;
}

void sort_points(records::Table& table) {
  std::stable_sort(table.points.begin(), table.points.end(), [&](const records::Point& a, const records::Point& b) {
    for (const auto& column : table.columns) {
      const auto* x = a.at.at(column).get<Number>();
      const auto* y = b.at.at(column).get<Number>();
      if (!x || !y) return false;  // names keep the order in which they were measured
      if (x->number != y->number) return x->number < y->number;
    }
    return false;
  });
}

}  // namespace gexp::result
