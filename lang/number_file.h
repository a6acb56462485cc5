// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "lang/base/diagnostic.h"
#include "lang/base/value.h"
#include "lang/dimensions.h"

/// Files of numbers that a spec uses: lists of indices, of sizes, of offsets. `use "gather.json" as g` makes them values.
namespace gexp::lang {

/// The endings of their names.
const std::vector<std::string_view>& number_endings();
bool is_number_file(std::string_view path);

/// What such a file holds, by name. E0130, at its place in the file, where it is malformed or holds what is no number.
/// A CSV file has a list a column; an NPY file one list, `items`; a JSON file the members of its object, or `items`, or what a list of objects
/// holds, as Spatter has them: `run0`, `run1`, …
std::optional<Fields> read_numbers(const Source& source, Diagnostics& diagnostics);

/// The type of a value that these files can hold.
Type type_of(const Value& value);

/// Why a text names no pattern of Spatter, such as UNIFORM:8:1, MS1:8:4:32 or LAPLACIAN:2:2:100; else its indices.
struct SpatterPattern {
  List indices;
  std::string problem;
};
SpatterPattern spatter_pattern(std::string_view text);

/// The parts that number_file.cpp joins. `most`: the numbers that a file may hold.
inline constexpr std::size_t kMostNumbers = std::size_t{1} << 20;
std::optional<Fields> read_json_numbers(const Source& source, Diagnostics& diagnostics);

}  // namespace gexp::lang
