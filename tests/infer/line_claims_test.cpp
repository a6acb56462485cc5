// SPDX-License-Identifier: Apache-2.0
// A hole of the size of a line leaves one out, if it begins where a line does.
#include <doctest/doctest.h>

#include "runtime/infer/line_claims.h"
#include "tests/infer/walks.h"

using namespace gexp;

namespace {

/// Holes of 0 B to 256 B in 1 KiB that is walked every 32 B from `begin` on, at 512 B behind it.
records::Table holes(std::int64_t begin) {
  records::Table table = test::table({});
  for (std::int64_t hole = 0; hole <= 256; hole += 32) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t offset = 0; offset < 1024; offset += 32) {
      if (offset < 512 || offset >= 512 + hole) offsets.push_back(begin + offset);
    }
    table.points.push_back(test::walked({{"hole", Value(static_cast<double>(hole), kBytes)}}, offsets, test::LruCache(128, 8, [](std::int64_t) { return std::uint64_t{0}; })));
  }
  return table;
}

}  // namespace

TEST_CASE("a line is as long as the hole that leaves it out") {
  CHECK(infer::not_a_line(holes(0), "hole", {97, 128}).empty());
  CHECK(infer::not_a_line(holes(0), "hole", {1, 32}).empty());
  CHECK(infer::not_a_line(holes(0), "hole", {33, 64}).empty());
}

TEST_CASE("a hole that begins within a line says nothing of its length") {
  CHECK(infer::not_a_line(holes(36), "hole", {193, 224}).find("128 B") != std::string::npos);  // the rest of one, and a whole one
  CHECK(infer::not_a_line(holes(64), "hole", {161, 192}).find("128 B") != std::string::npos);
  CHECK(infer::not_a_line(holes(32), "hole", {97, 128}).find("224 B") != std::string::npos);   // no line of 128 B is left out there
}

TEST_CASE("walks that are no holes in each other say nothing of lines, nor does a length that is none") {
  auto table = holes(32);
  table.points[1].walk = test::walked({{"hole", Value(32.0, kBytes)}}, test::every(32, 64), test::LruCache(128, 8, [](std::int64_t) { return std::uint64_t{0}; })).walk;
  table.points[0].walk = table.points[1].walk;
  CHECK(infer::not_a_line(table, "hole", {97, 128}).empty());
  CHECK(infer::not_a_line(holes(32), "hole", {1, 4096}).empty());
}
