// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lang/base/units.h"

/// Tables whose rows have names such as `add.u32`.
namespace gexp::lang {

/// The row of this name; null: there is none.
template <class Rows>
auto find_row(const Rows& rows, std::string_view name) -> decltype(rows.data()) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

/// The name that was probably meant: that of the first row with a type behind it, or the nearest; empty: there is none.
template <class Rows>
std::string meant_row(const Rows& rows, std::string_view name) {
  const auto typed = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name.starts_with(std::string(name) + "."); });
  if (typed != rows.end()) return std::string(typed->name);
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return nearest(name, names).value_or("");
}

}  // namespace gexp::lang
