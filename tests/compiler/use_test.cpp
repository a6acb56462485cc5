// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "compiler/plan/plan.h"
#include "lang/base/base64.h"
#include "tests/compiler/compile.h"

using namespace gexp;

namespace {

/// A spec that uses these files; settings as pairs.
test::Compiled compiled(const std::string& text, std::map<std::string, std::string> files,
                        std::vector<std::pair<std::string, std::string>> settings = {}) {
  compiler::Options options;
  options.settings = std::move(settings);
  options.load = [files](const std::string& path, const std::string&) -> Result<lang::LoadedText> {
    const auto found = files.find(path);
    if (found == files.end()) return failure("E0122", "no such file");
    return lang::LoadedText{path, path.ends_with(".gexp") ? "gexp 1\nexperiment m\n" + found->second : found->second};
  };
  return test::compile("gexp 1\nexperiment x\n" + text + "\n", options);
}

std::string value(const test::Compiled& made, const std::string& name) {
  if (!made.program) return made.text();
  const auto scope = compiler::file_scope(*made.program);
  if (!scope) return scope.error().message;
  const auto* found = scope->lookup(name);
  return found ? show(*found) : "nothing";
}

const std::string kValues = "param n: B = 4KiB in 1KiB..8KiB\nlet twice = n * 2\npattern ring = [i * 4B for i in 0..3]\nrequire n > 1KiB else \"too small\"";

}  // namespace

TEST_CASE("values of a used file") {
  const std::string use = "use \"m.gexp\" as m\n";
  CHECK(value(compiled(use + "let a = m.twice + 1B", {{"m.gexp", kValues}}), "a") == "8193 B");
  CHECK(value(compiled(use + "param a: B = m.n in 1B..m.twice", {{"m.gexp", kValues}}), "a") == "4 KiB");
  CHECK(value(compiled(use + "pattern a = repeat(m.ring, 2)", {{"m.gexp", kValues}}), "a") == "a pattern of 8 steps");
  CHECK(value(compiled(use + "let a = [x for x in m.ring]", {{"m.gexp", kValues}}), "a") == "[0 B, 4 B, 8 B, 12 B]");
  CHECK(value(compiled(use + "let a = m.twice + 1B", {{"m.gexp", kValues}}, {{"m.n", "2KiB"}}), "a") == "4097 B");
}

TEST_CASE("numbers of a used file") {
  const std::map<std::string, std::string> files{{"g.json", "[{\"pattern\": \"UNIFORM:4:2\", \"delta\": 8, \"kernel\": \"Gather\"}]"}, {"o.csv", "offset,size\n0,4\n8,16\n"}};
  const std::string use = "use \"g.json\" as g\nuse \"o.csv\" as o\n";
  CHECK(value(compiled(use + "pattern a = [i * 8B for i in g.pattern]", files), "a") == "[0 B, 16 B, 32 B, 48 B]");
  CHECK(value(compiled(use + "let a = g.run0.delta * count(o.size)", files), "a") == "16");
  CHECK(value(compiled(use + "let a = g.kernel", files), "a") == "Gather");
  CHECK(value(compiled(use + "let a = max(o.size)", files), "a") == "16");
  CHECK(compiled(use + "let a = g.stride", files).codes().find("E0202") != std::string::npos);
  CHECK(compiled(use + "pattern a = g.pattern", files).codes().find("E0215") != std::string::npos);
  CHECK(compiled("use \"o.csv\" as o", {{"o.csv", "1\nx\n"}}).codes().find("E0130") != std::string::npos);
  // Bytes that are no text are kept as text.
  const std::string npy = std::string("\x93NUMPY\x01\x00\x37\x00", 10) + "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}" + "\x07\xff";
  const auto bytes = compiled("use \"n.npy\" as n\nlet a = n.items", {{"n.npy", npy}});
  CHECK(value(bytes, "a") == "[7, 255]");
  REQUIRE(bytes.program);
  CHECK(from_base64(bytes.program->used[0].text) == npy);
  CHECK(base64("") == "");
  CHECK(base64("ab") == "YWI=");
  CHECK_FALSE(from_base64("YW=I"));
  CHECK_FALSE(from_base64("YWI"));
}

TEST_CASE("mistakes in a used file's values are shown in it") {
  const auto codes = [](const std::string& inside, std::vector<std::pair<std::string, std::string>> settings = {}) {
    const auto made = compiled("use \"m.gexp\" as m", {{"m.gexp", inside}}, std::move(settings));
    std::string all;
    for (const auto& d : made.diagnostics.sorted()) {
      if (d.code != "E0126") all += d.code + (d.in ? " " + d.in->path() : "") + (d.notes.empty() ? "" : " " + std::string(made.source.slice(d.notes.back().span)));
    }
    return all;
  };
  CHECK(codes("let a = 1 / 0") == "E0402 m.gexp \"m.gexp\"");
  CHECK(codes(kValues, {{"m.n", "1KiB"}}) == "E0419 m.gexp \"m.gexp\"");
  CHECK(codes(kValues, {{"m.n", "1MiB"}}) == "E0414 m.gexp \"m.gexp\"");
  CHECK(codes(kValues, {{"m.k", "1MiB"}}) == "E0409");
  CHECK(codes(kValues, {{"n", "1MiB"}}) == "E0409");
  CHECK(codes("pattern own = [lane * 4B]\npattern more = repeat(own, 2)\nlet k = count(more)\nlet x = 1") == "");
  CHECK(codes("pattern p = [1B * x for x in [-1]]") == "E0410 m.gexp \"m.gexp\"");
}

TEST_CASE("a file used by a used file has parameters of its own") {
  const std::map<std::string, std::string> files{{"m.gexp", "use \"k.gexp\" as k\nlet a = k.n + 1"}, {"k.gexp", "param n: count = 4"}};
  const auto made = compiled("use \"m.gexp\" as m\nuse \"k.gexp\" as k\nlet a = m.a * 100 + k.n", files, {{"m.k.n", "6"}, {"k.n", "2"}});
  CHECK(value(made, "a") == "702");
  REQUIRE(made.program);
  REQUIRE(made.program->used.size() == 3);
  CHECK(made.program->used[1].by == "m.gexp");
  CHECK(made.program->used[1].file == "k.gexp");
}

TEST_CASE("a chase follows a used file's pattern") {
  const auto made = compiled(R"(use "m.gexp" as m
memory A: u32[m.n] in global
stage s {
  launch grid 1 block 1
  timed lat each { chase A by m.ring laps 1 }
  find h: cycles = fastest(lat)
})", {{"m.gexp", kValues}});
  REQUIRE_MESSAGE(made.program, made.text());
  const auto scope = compiler::file_scope(*made.program);
  REQUIRE(scope.ok());
  bool skipped = false;
  const auto plan = compiler::plan_point(*made.program, made.program->stages[0], {}, *scope, skipped);
  REQUIRE(plan.ok());
  CHECK(plan->links.at(0).offsets.size() == 4);
}

TEST_CASE("without a loader nothing is found") {
  CHECK(test::compile("gexp 1\nexperiment x\nuse \"m.gexp\" as m\n").codes() == "E0122");
}
