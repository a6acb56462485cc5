// SPDX-License-Identifier: Apache-2.0
#include "lang/number_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "lang/base/budget.h"
#include "lang/words.h"

namespace gexp::lang {
namespace {

constexpr double kLargestExact = 9007199254740992.0;  // 2^53
constexpr const char* kCode = "E0130";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::optional<double> number_of_text(std::string_view text) {
  double number = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && is_word_start(text[0]) && std::all_of(text.begin(), text.end(), is_word) && !is_reserved(text);
}

/// Rows of cells between commas. The first row may hold names; without it a lone column is `items`, and several are c1, c2, …
class Csv {
 public:
  Csv(const Source& source, Diagnostics& diagnostics) : source_(source), diagnostics_(diagnostics) {}

  std::optional<Fields> run() {
    const std::string_view text = source_.text();
    for (std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      const auto line = trimmed(text.substr(at, end - at));
      if (!line.empty() && line.front() != '#' && !row(text.substr(at, end - at), at)) return std::nullopt;
      at = end + 1;
    }
    if (columns_.empty() || columns_[0].empty()) {
      diagnostics_.error(kCode, {0, 0}, "this file holds no number", "write one number a line");
      return std::nullopt;
    }
    Fields fields;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto name = !names_.empty() ? names_[i] : columns_.size() == 1 ? std::string("items") : fmt::format("c{}", i + 1);
      fields[name] = Value(std::move(columns_[i]));
    }
    return fields;
  }

 private:
  bool row(std::string_view line, std::size_t at) {
    std::vector<std::pair<std::string_view, std::size_t>> cells;
    for (std::size_t begin = 0;;) {
      const auto end = std::min(line.find(',', begin), line.size());
      const auto cell = trimmed(line.substr(begin, end - begin));
      cells.emplace_back(cell, at + (cell.empty() ? begin : static_cast<std::size_t>(cell.data() - line.data())));
      if (end == line.size()) break;
      begin = end + 1;
    }
    const bool first = columns_.empty();
    if (first) {
      columns_.resize(cells.size());
      if (std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return is_name(cell.first); })) return header(cells);
    }
    if (cells.size() != columns_.size()) {
      return fail(at, line.size(), fmt::format("this row has {} cells, and the first one has {}", cells.size(), columns_.size()), "every row has a number in each column");
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto number = number_of_text(cells[i].first);
      if (!number) return fail(cells[i].second, std::max<std::size_t>(cells[i].first.size(), 1), fmt::format("`{}` is no number", cells[i].first), "cells are numbers such as 64 or 0.5");
      if (++numbers_ > kMostNumbers) return fail(cells[i].second, 1, fmt::format("more than {} numbers", kMostNumbers), "compute what follows a rule: `[x * 4B for x in 0..7]`");
      columns_[i].push_back(Value(*number));
    }
    return true;
  }

  bool header(const std::vector<std::pair<std::string_view, std::size_t>>& cells) {
    for (const auto& [name, at] : cells) {
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) return fail(at, name.size(), fmt::format("two columns are called `{}`", name), "give each a name of its own");
      names_.emplace_back(name);
    }
    return true;
  }

  bool fail(std::size_t at, std::size_t length, std::string message, std::string hint) {
    diagnostics_.error(kCode, {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + length)}, std::move(message), std::move(hint));
    return false;
  }

  const Source& source_;
  Diagnostics& diagnostics_;
  std::vector<std::string> names_;
  std::vector<List> columns_;
  std::size_t numbers_ = 0;
};

/// The value of `'key': ` in the header of an NPY file, up to what ends it.
std::string_view header_value(std::string_view header, std::string_view key, char end) {
  const auto at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  auto rest = trimmed(header.substr(at + key.size() + 3));
  const auto stop = rest.find(end, 1);
  return stop == std::string_view::npos ? std::string_view() : rest.substr(0, stop + (end == ',' ? 0 : 1));
}

template <class T> double element(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

/// A file of numpy.save: a list of numbers of 1 to 8 bytes, the low byte first.
std::optional<Fields> read_npy(const Source& source, Diagnostics& diagnostics) {
  const std::string& text = source.text();
  const auto fail = [&](std::string message, std::string hint = "save one list of whole numbers: `numpy.save(\"p.npy\", p.astype(\"int64\"))`") {
    diagnostics.error(kCode, {0, 0}, std::move(message), std::move(hint));
    return std::nullopt;
  };
  if (text.size() < 12 || !text.starts_with("\x93NUMPY")) return fail("this is no NPY file");
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(text[at])); };
  const bool longer = byte(6) >= 2;
  const std::size_t begin = longer ? 12 : 10, length = longer ? byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24 : byte(8) | byte(9) << 8;
  if (length > text.size() - begin) return fail("this NPY file is cut short");
  const auto header = std::string_view(text).substr(begin, length);
  const auto type = header_value(header, "descr", ','), order = header_value(header, "fortran_order", ','), shape = header_value(header, "shape", ')');
  using Read = double (*)(const char*);
  static const std::vector<std::tuple<std::string_view, std::size_t, Read>> kTypes{
      {"'|i1'", 1, element<std::int8_t>}, {"'|u1'", 1, element<std::uint8_t>}, {"'<i2'", 2, element<std::int16_t>}, {"'<u2'", 2, element<std::uint16_t>},
      {"'<i4'", 4, element<std::int32_t>}, {"'<u4'", 4, element<std::uint32_t>}, {"'<i8'", 8, element<std::int64_t>}, {"'<u8'", 8, element<std::uint64_t>},
      {"'<f4'", 4, element<float>}, {"'<f8'", 8, element<double>}};
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& each) { return std::get<0>(each) == type; });
  if (found == kTypes.end()) return fail(fmt::format("this NPY file holds {}, and numbers of 1 to 8 bytes are read", type.empty() ? "no type" : type));
  std::size_t count = 0;
  const auto digits = shape.size() > 3 ? trimmed(shape.substr(1, shape.find(',') == std::string_view::npos ? shape.size() - 2 : shape.find(',') - 1)) : std::string_view();
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  const bool one = !shape.empty() && std::count(shape.begin(), shape.end(), ',') == 1 && trimmed(shape.substr(shape.find(',') + 1)) == ")";
  if (!one || digits.empty() || parsed.ec != std::errc() || order.empty()) return fail(fmt::format("this NPY file has the shape {}, and a list is wanted", shape), "save it as one list: `numpy.save(\"p.npy\", p.ravel())`");
  const auto [name, bytes, read] = *found;
  if (count == 0) return fail("this NPY file holds no number");
  if (count > kMostNumbers) return fail(fmt::format("more than {} numbers", kMostNumbers), "compute what follows a rule: `[x * 4B for x in 0..7]`");
  if (text.size() - begin - length != count * bytes) return fail(fmt::format("this NPY file says that it holds {} numbers of {} B, and has {} B of them", count, bytes, text.size() - begin - length));
  List items;
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = read(text.data() + begin + length + i * bytes);
    if (!std::isfinite(number) || std::fabs(number) > kLargestExact) return fail(fmt::format("number {} of this NPY file is {}: numbers are finite, and at most 2^53", i, number));
    items.push_back(Value(number));
  }
  return Fields{{"items", Value(std::move(items))}};
}

/// The numbers between `:`s of a pattern of Spatter, each perhaps a list between commas; nothing where one is no whole number.
std::optional<std::vector<std::vector<double>>> parts_of(std::string_view text) {
  std::vector<std::vector<double>> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(':', at), text.size());
    auto& part = parts.emplace_back();
    for (std::size_t from = at; from <= end;) {
      const auto stop = std::min(text.find(',', from), end);
      const auto number = number_of_text(trimmed(text.substr(from, stop - from)));
      if (!number || *number < 0 || *number != std::floor(*number) || *number > kLargestExact) return std::nullopt;
      part.push_back(*number);
      from = stop + 1;
    }
    at = end + 1;
  }
  return parts;
}

}  // namespace

SpatterPattern spatter_pattern(std::string_view text) {
  constexpr const char* kForms = "patterns are UNIFORM:8:1, MS1:8:4:32, LAPLACIAN:2:2:100 or a list of indices";
  const auto colon = text.find(':');
  const auto kind = text.substr(0, std::min(colon, text.size()));
  const auto parts = colon == std::string_view::npos ? parts_of(text) : parts_of(text.substr(colon + 1));
  const auto wrong = [&] { return SpatterPattern{{}, kForms}; };
  if (!parts) return wrong();
  std::vector<double> found;
  const auto single = [&](std::size_t i) { return (*parts)[i].size() == 1; };
  if (colon == std::string_view::npos) {
    found = (*parts)[0];
  } else if (kind == "UNIFORM" && parts->size() >= 2 && single(0) && single(1)) {
    const double length = (*parts)[0][0], stride = (*parts)[1][0];
    if (length > kMostNumbers) return {{}, fmt::format("more than {} indices", kMostNumbers)};
    for (double i = 0; i < length; ++i) found.push_back(i * stride);
  } else if (kind == "MS1" && parts->size() == 3 && single(0)) {
    const auto& [length, breaks, gaps] = std::tie((*parts)[0][0], (*parts)[1], (*parts)[2]);
    if (length > kMostNumbers) return {{}, fmt::format("more than {} indices", kMostNumbers)};
    if (gaps.size() != 1 && gaps.size() != breaks.size()) return wrong();
    double index = 0;
    for (double i = 0; i < length; ++i) {
      const auto at = std::find(breaks.begin(), breaks.end(), i);
      if (i > 0) index += at == breaks.end() ? 1 : gaps.size() == 1 ? gaps[0] : gaps[static_cast<std::size_t>(at - breaks.begin())];
      found.push_back(index);
    }
  } else if (kind == "LAPLACIAN" && parts->size() == 3 && single(0) && single(1) && single(2)) {
    const double dimensions = (*parts)[0][0], branch = (*parts)[1][0], size = (*parts)[2][0];
    if (dimensions < 1 || dimensions > 16 || branch > 65536) return wrong();
    found.push_back(0);
    double stride = 1;
    for (double i = 0; i < dimensions; ++i, stride *= size) {
      for (double step = 1; step <= branch; ++step) found.push_back(step * stride), found.push_back(-step * stride);
    }
    std::sort(found.begin(), found.end());
    const double least = found.front();
    for (auto& index : found) index -= least;
  } else {
    return wrong();
  }
  SpatterPattern made;
  for (const auto index : found) {
    if (!(index <= kLargestExact)) return {{}, "an index is more than 2^53"};
    made.indices.push_back(Value(index));
  }
  if (made.indices.empty()) return {{}, "the pattern has no index"};
  return made;
}

const std::vector<std::string_view>& number_endings() {
  static const std::vector<std::string_view> endings{".json", ".csv", ".npy"};
  return endings;
}

bool is_number_file(std::string_view path) {
  return std::any_of(number_endings().begin(), number_endings().end(), [&](std::string_view ending) { return path.ends_with(ending); });
}

std::optional<Fields> read_numbers(const Source& source, Diagnostics& diagnostics) {
  auto fields = source.path().ends_with(".npy")    ? read_npy(source, diagnostics)
                : source.path().ends_with(".json") ? read_json_numbers(source, diagnostics)
                                                   : Csv(source, diagnostics).run();
  return fields;
}

Type type_of(const Value& value) {
  if (const auto* list = value.get<List>()) return list_of(list->empty() ? number_of({}) : type_of(list->front()));
  if (value.get<std::string>()) return text_type();
  const auto* fields = value.get<Fields>();
  if (!fields) return number_of({});
  std::vector<Type::Field> types;
  for (const auto& [name, each] : *fields) types.emplace_back(name, type_of(each));
  return structure_of(std::move(types));
}

}  // namespace gexp::lang
