// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/export_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "lang/base/budget.h"
#include "lang/base/visible.h"

namespace gexp::result {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Traces of a run: those of a chase repeat its steps, one a warp.
std::size_t trace_length(const records::Point& point, const records::Table& table, std::size_t values) {
  if (table.timing != records::Table::Timing::Each) return 1;
  const auto steps = static_cast<std::size_t>(std::max<std::int64_t>(point.steps, 1));
  return values > steps && values % steps == 0 ? steps : std::max<std::size_t>(1, values);
}

struct Shape {
  bool traces = false, walks = false, parts = false;
};

Shape shape_of(const records::Table& table) {
  Shape shape;
  for (const auto& point : table.points) {
    shape.walks = shape.walks || (point.walk && table.timing == records::Table::Timing::Each);
    shape.parts = shape.parts || (point.walk && !point.walk->segments.empty());
    for (const auto& run : point.runs) shape.traces = shape.traces || trace_length(point, table, run.ticks.size()) < run.ticks.size();
  }
  return shape;
}

bool is_number(const Value& value) { return value.get<Number>() || value.get<bool>(); }

double number(const Value& value) {
  if (const auto* n = value.get<Number>()) return n->number;
  const auto* flag = value.get<bool>();
  return flag ? (*flag ? 1.0 : 0.0) : kMissing;
}

std::string unit_of(const PointTable& table, std::size_t column) {
  for (const auto& row : table.rows) {
    const auto* n = row[column].get<Number>();
    if (n && !n->dimension.none()) return name(n->dimension);
  }
  return {};
}

/// Whether all that is known in it are numbers.
bool numeric(const PointTable& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return !row[column].known() || is_number(row[column]); });
}

/// A text's characters, what is no UTF-8 and what a terminal would obey shown as escapes.
std::u32string characters(const Value& value) {
  std::u32string wide;
  if (!value.known()) return wide;
  const auto text = visible(show(value));
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    char32_t point = length == 1 ? first : first & (0xff >> (length + 1));
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k) point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    wide += point;
    i += length;
  }
  return wide;
}

void put(std::string& out, std::uint64_t bits, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(bits >> (8 * i) & 0xff);
}

/// A name within quotes of Python's.
std::string python(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return "'" + out + "'";
}

}  // namespace

Result<PointTable> record_table(const compiler::Program& program, const RunResult& result, const std::string& name) {
  const auto kept = std::find_if(result.stages.begin(), result.stages.end(), [&](const auto& s) { return s.name == name; });
  if (kept == result.stages.end() || kept->table.points.empty()) {
    auto known = point_table(program, result, name);  // says what is wrong
    return known ? failure("E0731", fmt::format("the result holds no records of stage `{}`", name)) : known;
  }
  const auto& records = kept->table;
  const auto shape = shape_of(records);
  PointTable table;
  table.columns = records.columns;
  table.columns.emplace_back("run");
  if (shape.traces) table.columns.emplace_back("trace");
  if (shape.walks) table.columns.insert(table.columns.end(), {"lap", "step"});
  if (shape.parts) table.columns.emplace_back("seg");
  table.columns.push_back(records.timed);
  const bool wall = records.timing == records::Table::Timing::Wall;
  for (const auto& point : records.points) {
    const auto parts = parts_of(point);
    const auto lap = point.walk ? static_cast<std::size_t>(std::max<std::int64_t>(point.walk->steps, 1)) : 0;
    std::vector<Value> at;
    for (const auto& sweep : records.columns) at.push_back(point.at.at(sweep));
    for (std::size_t run = 0; run < point.runs.size(); ++run) {
      const auto& ticks = point.runs[run].ticks;
      if (!Budget::spend_bytes(ticks.size() * table.columns.size() * sizeof(Value))) return Budget::exceeded({});
      const auto length = trace_length(point, records, ticks.size());
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        auto& row = table.rows.emplace_back(at);
        const auto count = [&](std::size_t n) { row.emplace_back(static_cast<double>(n)); };
        const auto place = i % length;
        count(run + 1);
        if (shape.traces) count(i / length);
        if (shape.walks && lap) count(place / lap), count(place % lap);
        if (shape.walks && !lap) row.emplace_back(), count(place);
        if (shape.parts) row.push_back(lap && place % lap < parts.size() ? Value(parts[place % lap]) : Value());
        row.push_back(wall ? Value(ticks[i] * 1e-9, kSeconds) : Value(static_cast<double>(ticks[i]) - point.overhead, kCycles));
      }
    }
  }
  return table;
}

PointTable finding_table(const RunResult& result) {
  PointTable table;
  table.columns = {"finding", "status", "value", "unit", "low", "high", "confidence", "why", "evidence"};
  for (const auto& finding : result.findings) {
    const auto status = finding.status == infer::Finding::Status::Found ? "found" : finding.status == infer::Finding::Status::Assumed ? "assumed" : "undetermined";
    const auto* n = finding.value.get<Number>();
    std::vector<Value> row{Value(finding.id), Value(status), n ? Value(n->number) : finding.value, Value(n ? name(n->dimension) : std::string())};
    row.push_back(finding.interval ? Value(finding.interval->first) : Value());
    row.push_back(finding.interval ? Value(finding.interval->second) : Value());
    row.push_back(finding.status == infer::Finding::Status::Found ? Value(finding.confidence) : Value());
    row.emplace_back(finding.why);
    row.emplace_back(finding.evidence);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Result<PointTable> counter_table(const RunResult& result, const std::string& name) {
  const auto kept = std::find_if(result.stages.begin(), result.stages.end(), [&](const auto& s) { return s.name == name; });
  if (kept == result.stages.end() || kept->counters.empty())
    return failure("E0731", name.empty() ? "the result holds no counters" : fmt::format("the result holds no counters of stage `{}`", name),
                   "`gexp run --counters` on a simulated device counts");
  PointTable table;
  table.columns = kept->table.columns;
  const auto totals = kept->counted();
  std::vector<Dimension> units;
  for (const auto& [counter, total] : totals) {
    const auto* row = device::counter_row(counter);
    const auto unit = row && !row->unit.empty() ? find_unit(row->unit) : std::nullopt;
    table.columns.push_back(counter);
    units.push_back(unit ? unit->dimension : Dimension{});
  }
  for (const auto& point : kept->counters) {
    if (!Budget::spend_bytes(table.columns.size() * sizeof(Value))) return Budget::exceeded({});
    auto& line = table.rows.emplace_back();
    for (const auto& sweep : kept->table.columns) {
      const auto at = point.at.find(sweep);
      line.push_back(at == point.at.end() ? Value() : at->second);
    }
    for (std::size_t k = 0; k < totals.size(); ++k)
      line.emplace_back(static_cast<double>(device::count_of(point.counts, totals[k].first)), units[k]);
  }
  return table;
}

std::string npy(const PointTable& table) {
  std::vector<std::size_t> widths(table.columns.size());  // of texts; 0: a number
  std::string descr;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (!numeric(table, c)) {
      widths[c] = 1;
      for (const auto& row : table.rows) widths[c] = std::max(widths[c], characters(row[c]).size());
    }
    descr += fmt::format("({}, '{}'), ", python(visible(table.columns[c])), widths[c] ? fmt::format("<U{}", widths[c]) : "<f8");
  }
  auto header = fmt::format("{{'descr': [{}], 'fortran_order': False, 'shape': ({},), }}", descr, table.rows.size());
  constexpr std::size_t kBefore = 12, kAligned = 64;  // fact: NPY 3.0: magic, version and length; all of it is a multiple of 64
  header.append(kAligned - 1 - (kBefore + header.size()) % kAligned, ' ');
  header += '\n';
  std::string out = "\x93NUMPY\x03";
  out += '\0';
  put(out, header.size(), 4);
  out += header;
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (!widths[c]) {
        put(out, std::bit_cast<std::uint64_t>(number(row[c])), 8);
        continue;
      }
      auto text = characters(row[c]);
      text.resize(widths[c]);
      for (const auto point : text) put(out, point, 4);
    }
  }
  return out;
}

ColumnKind kind_of(const PointTable& table, std::size_t column) { return {unit_of(table, column), numeric(table, column)}; }

}  // namespace gexp::result
