// SPDX-License-Identifier: Apache-2.0
// Files of numbers: what is read, and what is refused, at its place.
#include "lang/number_file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>

using namespace gexp;

namespace {

/// "name=[a, b] …", or "code text-pointed-at".
std::string read(const std::string& path, const std::string& text) {
  const Source source(path, text);
  Diagnostics diagnostics;
  const auto fields = lang::read_numbers(source, diagnostics);
  std::string all;
  if (!fields) {
    for (const auto& d : diagnostics.sorted()) all += d.code + " " + std::string(source.slice(d.span));
    return all;
  }
  CHECK_FALSE(diagnostics.has_errors());
  for (const auto& [name, value] : *fields) all += (all.empty() ? "" : " ") + name + "=" + show(value);
  return all;
}

std::string indices(const std::string& text) {
  const auto made = lang::spatter_pattern(text);
  return made.problem.empty() ? show(Value(made.indices)) : "refused";
}

/// A file of numpy.save with these items.
template <class T> std::string npy(const std::string& type, const std::string& shape, const std::vector<T>& items) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
  return file;
}

}  // namespace

TEST_CASE("lists of JSON, CSV and NPY files") {
  CHECK(read("a.json", "[3, 1, 2]\n") == "items=[3, 1, 2]");
  CHECK(read("a.json", "{\"gather\": [0, 4], \"scatter\": [8], \"delta\": 8}") == "delta=8 gather=[0, 4] scatter=[8]");
  CHECK(read("a.csv", "3\n1\n\n# more\n2\n") == "items=[3, 1, 2]");
  CHECK(read("a.csv", "offset,size\n0, 4\n8,4\r\n") == "offset=[0, 8] size=[4, 4]");
  CHECK(read("a.csv", "1,2\n3,4\n") == "c1=[1, 3] c2=[2, 4]");
  CHECK(read("a.npy", npy<std::int64_t>("<i8", "(3,)", {5, 0, 7})) == "items=[5, 0, 7]");
  CHECK(read("a.npy", npy<std::uint16_t>("<u2", "(2,)", {65535, 1})) == "items=[65535, 1]");
  CHECK(read("a.npy", npy<double>("<f8", "(1,)", {0.5})) == "items=[0.5]");
}

TEST_CASE("Spatter's configurations") {
  CHECK(read("s.json", "[{\"kernel\":\"Gather\", \"pattern\":\"UNIFORM:4:2\", \"delta\":8, \"count\":1024}]") ==
        "count=1024 delta=8 kernel=Gather pattern=[0, 2, 4, 6] run0={count: 1024, delta: 8, kernel: Gather, pattern: [0, 2, 4, 6]}");
  CHECK(read("s.json", "[{\"pattern\": [0, 24]}, {\"pattern-gather\": [1], \"pattern-scatter\": \"UNIFORM:2:1\"}]") ==
        "run0={pattern: [0, 24]} run1={pattern_gather: [1], pattern_scatter: [0, 1]}");
  // The examples of its documentation.
  CHECK(indices("UNIFORM:8:4") == "[0, 4, 8, 12, 16, 20, 24, 28]");
  CHECK(indices("MS1:8:4:32") == "[0, 1, 2, 3, 35, 36, 37, 38]");
  CHECK(indices("MS1:8:2,3:20") == "[0, 1, 21, 41, 42, 43, 44, 45]");
  CHECK(indices("MS1:8:2,3:20,22") == "[0, 1, 21, 43, 44, 45, 46, 47]");
  CHECK(indices("LAPLACIAN:1:1:100") == "[0, 1, 2]");
  CHECK(indices("LAPLACIAN:2:2:100") == "[0, 100, 198, 199, 200, 201, 202, 300, 400]");
  CHECK(indices("LAPLACIAN:3:1:100") == "[0, 9900, 9999, 10000, 10001, 10100, 20000]");
  CHECK(indices("1,2,4") == "[1, 2, 4]");
  for (const auto* wrong : {"", "UNIFORM", "UNIFORM:8", "UNIFORM:-1:2", "UNIFORM:0:1", "UNIFORM:99999999:1", "MS1:8:2,3:1,2,3", "LAPLACIAN:0:1:4", "LAPLACIAN:16:9:9999999", "RANDOM:4:1", "1,,2", "x"}) {
    CAPTURE(wrong);
    CHECK(indices(wrong) == "refused");
  }
}

TEST_CASE("what is no list of numbers is refused at its place") {
  CHECK(read("a.json", "[]") == "E0130 [");
  CHECK(read("a.json", "[1, nan]") == "E0130 nan");
  CHECK(read("a.json", "[1, 1e999]") == "E0130 1e999");
  CHECK(read("a.json", "[1, [2]]") == "E0130 [");
  CHECK(read("a.json", "[1 2]") == "E0130 2");
  CHECK(read("a.json", "[1, 2") == "E0130 ");
  CHECK(read("a.json", "[1] 2") == "E0130 2");
  CHECK(read("a.json", "[{\"pattern\": \"UNIFORM:x:1\"}]") == "E0130 \"UNIFORM:x:1\"");
  CHECK(read("a.json", "{\"a\": 1, \"a\": 2}") == "E0130 \"a\"");
  CHECK(read("a.json", "{\"a b\": 1}") == "E0130 \"a b\"");
  CHECK(read("a.json", "{\"a\": {\"b\": 1}}") == "E0130 {");
  CHECK(read("a.json", "") == "E0130 ");
  CHECK(read("a.json", std::string(100000, '[')) == "E0130 [");
  CHECK(read("a.csv", "1\nNaN\n") == "E0130 NaN");
  CHECK(read("a.csv", "1\ninf\n") == "E0130 inf");
  CHECK(read("a.csv", "1,2\n3\n") == "E0130 3");
  CHECK(read("a.csv", "1,\n") == "E0130 \n");
  CHECK(read("a.csv", "a,a\n1,2\n") == "E0130 a");
  CHECK(read("a.csv", "") == "E0130 ");
  CHECK(read("a.csv", "offset\n") == "E0130 ");
  for (const auto& file : {npy<std::int64_t>("<i8", "(2, 1)", {1, 2}), npy<std::int64_t>("<i8", "(3,)", {1, 2}), npy<std::int64_t>(">i8", "(2,)", {1, 2}), npy<std::int64_t>("<i8", "(0,)", {}),
                           npy<std::int64_t>("<i8", "()", {1}), npy<double>("<f8", "(1,)", {std::nan("")}), npy<std::int64_t>("<i8", "(1,)", {std::int64_t{1} << 60}),
                           npy<std::int64_t>("<i8", "(99999999999999999999,)", {1}), npy<std::int64_t>("|O", "(1,)", {1}), std::string("\x93NUMPY\x01\x00\xff\xff{", 11), std::string("x")}) {
    CHECK(read("a.npy", file).starts_with("E0130"));
  }
  std::string many = "0";
  for (std::size_t i = 0; i < lang::kMostNumbers; ++i) many += "\n0";
  CHECK(read("a.csv", many) == "E0130 0");
}
