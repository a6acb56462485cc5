// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "lang/base/diagnostic.h"
#include "lang/base/units.h"
#include "lang/base/value.h"

using namespace gexp;

TEST_CASE("a source knows its lines, with and without a last line end, CRLF too") {
  const Source source("f", "ab\r\n\ncd");
  CHECK(source.line(1) == "ab");
  CHECK(source.line(2) == "");
  CHECK(source.line(3) == "cd");
  CHECK(source.line(4) == "");
  CHECK(source.line(0) == "");
  CHECK(source.position(0).line == 1);
  CHECK(source.position(5).line == 3);
  CHECK(source.position(6).column == 2);
  CHECK(source.position(999).line == 3);
  CHECK(source.offset({3, 2}) == 6);
  CHECK(source.offset({99, 1}) == 7);
  CHECK(source.slice({5, 7}) == "cd");
  CHECK(source.slice({5, 700}) == "cd");
  CHECK(source.slice({9, 3}) == "");
}

TEST_CASE("spans cover") {
  CHECK(cover({3, 5}, {7, 9}) == Span{3, 9});
  CHECK(cover({}, {7, 9}) == Span{7, 9});
  CHECK(cover({3, 5}, {}) == Span{3, 5});
}

TEST_CASE("units: dimension and scale") {
  CHECK(find_unit("KiB")->scale == 1024);
  CHECK(find_unit("GB")->scale == 1e9);
  CHECK(find_unit("elem")->scale == 0);
  CHECK(find_unit("elem")->dimension == kBytes);
  CHECK(find_unit("%")->dimension.none());
  CHECK(find_unit("GB/s")->dimension == kBytes / kSeconds);
  CHECK(find_unit("ops/cycle")->dimension == kOps / kCycles);
  CHECK(find_unit("MHz")->dimension == Dimension{} / kSeconds);
  for (const char* wrong : {"kB", "b", "", "B/", "/s", "B/B", "kib", "B/s/s"}) CHECK_FALSE(find_unit(wrong));
}

TEST_CASE("dimensions have names") {
  CHECK(name(kBytes) == "B");
  CHECK(name(Dimension{}) == "count");
  CHECK(name(kBytes / kSeconds) == "B/s");
  CHECK(name(kOps / kCycles) == "ops/cycle");
  CHECK(name(kBytes * kBytes) == "B^2");
}

TEST_CASE("numbers are shown exactly, in the largest binary unit that divides them") {
  CHECK(show(12288, kBytes) == "12 KiB");
  CHECK(show(12290, kBytes) == "12290 B");
  CHECK(show(32.0 * 1024 * 1024, kBytes) == "32 MiB");
  CHECK(show(96, kCycles) == "96 cycles");
  CHECK(show(0.5, {}) == "0.5");
  CHECK(show(0, kBytes) == "0 B");
}

TEST_CASE("values are shown as they are written") {
  CHECK(show(Value(List{Value(17.0), Value(8.0)})) == "[17, 8]");
  CHECK(show(Value(Fields{{"sets", Value(4.0)}, {"ways", Value(96.0)}})) == "{sets: 4, ways: 96}");
  CHECK(show(Value()) == "unknown");
  CHECK(show(Value(true)) == "true");
}

TEST_CASE("the nearest word is one that may have been meant") {
  CHECK(*nearest("setp", {"step", "times"}) == "step");
  CHECK(*nearest("untill", {"until", "unroll"}) == "until");
  CHECK(*nearest("kib", {"KiB", "MiB"}) == "KiB");
  CHECK_FALSE(nearest("xyzzy", {"step", "times"}));
  CHECK_FALSE(nearest("", {"B", "s"}));
  CHECK_FALSE(nearest(std::string(1000, 'a'), {"aaaa"}));
}

TEST_CASE("diagnostics come by place, each once") {
  Diagnostics all;
  all.error("E0202", {9, 10}, "second");
  all.warning("E0203", {3, 4}, "first");
  all.error("E0202", {9, 10}, "second");
  const auto sorted = all.sorted();
  REQUIRE(sorted.size() == 2);
  CHECK(sorted[0].code == "E0203");
  CHECK(all.has_errors());
}

TEST_CASE("a diagnostic shows its line, tabs and wide characters in their columns") {
  const Source source("f.gexp", "a\n\tµ bad\n");
  Diagnostic diagnostic("E0102", {6, 9}, "no", "write good", Severity::Error);
  diagnostic.notes.push_back({{0, 1}, "here"});
  CHECK(render(diagnostic, &source) ==
        "f.gexp:2:5: error[E0102]: no\n"
        "    2 |     µ bad\n"
        "      |       ^~~\n"
        "f.gexp:1:1: note: here\n"
        "    1 | a\n"
        "      | ^\n"
        "  hint: write good\n");
}

TEST_CASE("places beyond the text and texts without places are shown too") {
  const Source source("f", "ab");
  for (const Span span : {Span{2, 2}, Span{50, 60}, Span{1, 60}, Span{0, 0}}) {
    CHECK(render(Diagnostic("E0102", span, "m", "", Severity::Error), &source).find("E0102") != std::string::npos);
  }
  CHECK(render(Diagnostic("E0102", {1, 2}, "m", "", Severity::Warning), nullptr) == "warning[E0102]: m\n");
}
