// SPDX-License-Identifier: Apache-2.0
// Tables for other programs: the bytes of NumPy's format, and texts of strangers in cells.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "runtime/result/export_table.h"

using namespace gexp;
using result::PointTable;

namespace {

PointTable table() {
  PointTable made;
  made.columns = {"n", "it's", "seg"};
  made.rows = {{Value(4096.0, kBytes), Value(), Value("é")}, {Value(8192.0, kBytes), Value(true), Value("again")}};
  return made;
}

double number_at(const std::string& bytes, std::size_t at) {
  double value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("an array of structures, as numpy.load reads it") {
  const auto bytes = result::npy(table());
  REQUIRE(bytes.size() > 12);
  CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x03\0", 8));
  const auto length = static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  CHECK((12 + length) % 64 == 0);
  const auto header = bytes.substr(12, length);
  CHECK(header.starts_with("{'descr': [('n', '<f8'), ('it\\'s', '<f8'), ('seg', '<U5'), ], 'fortran_order': False, 'shape': (2,), }"));
  CHECK(header.back() == '\n');
  const std::size_t row = 8 + 8 + 4 * 5, first = 12 + length;
  REQUIRE(bytes.size() == first + 2 * row);
  CHECK(number_at(bytes, first) == 4096);
  CHECK(std::isnan(number_at(bytes, first + 8)));  // missing
  CHECK(bytes.substr(first + 16, 8) == std::string("\xe9\0\0\0\0\0\0\0", 8));
  CHECK(number_at(bytes, first + row + 8) == 1);
  CHECK(bytes.substr(first + row + 16, 4) == std::string("a\0\0\0", 4));
}

TEST_CASE("columns have units") {
  CHECK(result::kind_of(table(), 0).unit == "B");
  CHECK(result::kind_of(table(), 1).unit == "");
  CHECK(result::kind_of(table(), 1).number);
  CHECK(!result::kind_of(table(), 2).number);
}

TEST_CASE("a stranger's text is a text in every cell") {
  PointTable made;
  made.columns = {"a", "b"};
  made.rows = {{Value("=cmd|' /C calc'!A0"), Value("+1")}, {Value("say \"x\", then\ny"), Value("\x1b]0;owned\x07")}, {Value(-1.0), Value()}};
  CHECK(result::csv(made) == "a,b\n'=cmd|' /C calc'!A0,'+1\n\"say \"\"x\"\", then\ny\",\\u001b]0;owned\\u0007\n-1,\n");
}

TEST_CASE("findings: what is missing is missing") {
  result::RunResult result;
  infer::Finding found;
  found.id = "s.C", found.unit = "B", found.status = infer::Finding::Status::Found;
  found.value = Value(12288.0, kBytes), found.confidence = 0.99, found.interval = std::pair(12288.0, 12319.0);
  infer::Finding open;
  open.id = "s.D", open.why = "nothing misses, so far";
  result.findings = {found, open};
  CHECK(result::csv(result::finding_table(result)) ==
        "finding,status,value,unit,low,high,confidence,why,evidence\ns.C,found,12288,B,12288,12319,0.99,,\ns.D,undetermined,,,,,,\"nothing misses, so far\",\n");
}
