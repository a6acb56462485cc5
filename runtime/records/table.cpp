// SPDX-License-Identifier: Apache-2.0
#include "runtime/records/table.h"

#include <fmt/format.h>

namespace gexp::records {

std::string coordinates_text(const std::vector<std::pair<std::string, Value>>& at) {
  std::string text;
  for (const auto& [name, value] : at) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, show(value));
  return text;
}

std::string coordinates_text(const Table& table, const Point& point) {
  std::vector<std::pair<std::string, Value>> at;
  for (const auto& column : table.columns) at.emplace_back(column, point.at.at(column));
  return coordinates_text(at);
}

std::string place_text(const std::string& stage, const Table& table, const Point& point) {
  const auto at = coordinates_text(table, point);
  return at.empty() ? stage : stage + ", " + at;
}

}  // namespace gexp::records
