// SPDX-License-Identifier: Apache-2.0
// A model made of what was found: what changes in its text, where that is from, and what does not become a part of it.
#include "runtime/sim/model_making.h"

#include <algorithm>

#include "runtime/sim/model_text.h"
#include "tests/sim/model_support.h"

using namespace sim_test;
using namespace gexp;
using device::ModelFact;
using sim::MadeModel;
using sim::ModelText;

namespace {

ModelFact fact(const std::string& name, Value value, double confidence = 0.99) { return {name, std::move(value), false, confidence, "a test: " + name}; }
Value bytes(double count) { return Value(count, kBytes); }
Value cycles(double count) { return Value(count, kCycles); }

device::DeviceInfo info_of(const std::string& model) { return (*sim::open(model))->device(); }

MadeModel made(const std::string& base, const std::vector<ModelFact>& facts) {
  auto result = sim::make_model(*sim::read_model(base), base, "mine", facts, info_of(base));
  REQUIRE(result);
  Diagnostics diagnostics;
  const bool stands = sim::check_model(result->model, diagnostics);
  for (const auto& d : diagnostics.sorted()) MESSAGE(render(d, &result->model));
  CHECK(stands);
  return std::move(*result);
}

std::string structure_of(const MadeModel& model, const std::string& path, const std::string& field) {
  const auto structure = *sim::structure(model.model);
  return show(structure.get<Fields>()->at(path).get<Fields>()->at(field));
}

bool has_left(const MadeModel& model, const std::string& name) {
  return std::any_of(model.left.begin(), model.left.end(), [&](const auto& each) { return each.fact == name; });
}

}  // namespace

TEST_CASE("a value of a model's text is replaced, the rest stays, and its source is named") {
  ModelText text(*sim::read_model("gtx780"));
  const auto before = *text.value({"pipeline", "barrier"});
  REQUIRE(text.set({"pipeline", "barrier"}, "77", "found", "a \"test\""));
  CHECK(*text.value({"pipeline", "barrier"}) == "77");
  CHECK(before != "77");
  CHECK(text.text().find("found.barrier = \"a \\\"test\\\"\"") != std::string::npos);
  REQUIRE(text.set({"pipeline", "barrier"}, "78", "found", "another"));
  CHECK(text.text().find("a \\\"test") == std::string::npos);  // one source at a time
  CHECK_FALSE(text.set({"nothing", "here"}, "1", "found", "a test"));
  CHECK(read(text.source()).pipeline.barrier == 78);
}

TEST_CASE("found: every key that it names is there, and says something") {
  CHECK(first("gtx780", "[window]\n", "[window]\nfound.size = \"\"\n").starts_with("E0607"));
  CHECK(first("gtx780", "[window]\n", "[window]\nfound.sise = \"a test\"\n").starts_with("E0602"));
  CHECK(first("gtx780", "[window]\n", "[window]\nfound = \"a test\"\n").starts_with("E0604"));
  CHECK(first("gtx780", "[window]\n", "[window]\nfound.size = \"a test\"\n") == "accepted");
}

TEST_CASE("what was found is what the model that is made of it says") {
  List sizes;
  for (int set = 0; set < 8; ++set) sizes.emplace_back(32.0);
  const List bits = {Value(7.0), Value(8.0), Value(9.0)};
  const auto model = made("gtx780", {fact("model.nc.line", bytes(64)), fact("model.nc.fetch", bytes(32)), fact("model.nc.sizes", Value(sizes)), fact("model.nc.sets", Value(8.0)),
                                     fact("model.nc.mapping", Value("bits")), fact("model.nc.bits", Value(bits)), fact("model.nc.capacity", bytes(16384)),
                                     fact("model.nc.hit", cycles(101)), fact("model.nc.replacement", Value("fifo"))});
  for (const auto& each : model.left) MESSAGE(each.fact, ": ", each.why);
  CHECK(model.left.empty());
  CHECK(structure_of(model, "nc", "line") == "64 B");
  CHECK(structure_of(model, "nc", "fetch") == "32 B");
  CHECK(structure_of(model, "nc", "capacity") == "16 KiB");
  CHECK(structure_of(model, "nc", "bits") == "[7, 8, 9]");
  CHECK(structure_of(model, "nc", "hit") == "101 cycles");
  CHECK(structure_of(model, "nc", "replacement") == "fifo");
}

TEST_CASE("turns that were found come with their groups, and go with them") {
  const auto bit = [](double number) { return Value(number); };
  const List groups = {Value(List{bit(9), bit(14)}), Value(List{bit(7), bit(10)})};
  const auto turns = fact("model.nc.replacement", Value("turns"));
  const auto model = made("gtx780", {turns, fact("model.nc.groups", Value(groups)), fact("model.nc.evicts", Value("late"))});
  CHECK(model.left.empty());
  CHECK(structure_of(model, "nc", "replacement") == "turns");
  CHECK(structure_of(model, "nc", "groups") == "[[9, 14], [7, 10]]");
  CHECK(structure_of(model, "nc", "evicts") == "late");
  CHECK(has_left(made("gtx780", {turns}), "model.nc.replacement"));  // of which lines?
  const auto back = made("h200", {fact("model.ca.replacement", Value("lru")), fact("model.ca.groups", Value()), fact("model.ca.evicts", Value())});
  CHECK(back.left.empty());
  CHECK(back.unknown.empty());
  CHECK(structure_of(back, "ca", "replacement") == "lru");
  CHECK(structure_of(back, "ca", "groups") == "[]");
  CHECK(back.model.text().find("[[9, 14, 15]") == std::string::npos);
}

TEST_CASE("what is found by a path that is the same as another is of the other's cache, if nothing else says of that one") {
  const auto alone = made("h200", {fact("model.nc.replacement", Value("fifo")), fact("model.nc.hit", cycles(35))});
  CHECK(alone.left.empty());
  CHECK(structure_of(alone, "ca", "replacement") == "fifo");
  CHECK(structure_of(alone, "ca", "hit") == "35 cycles");
  const auto both = made("h200", {fact("model.nc.replacement", Value("fifo")), fact("model.ca.replacement", Value("lru"))});
  CHECK(structure_of(both, "nc", "replacement") == "lru");
}

TEST_CASE("what would make an impossible model is left out, and named") {
  const auto model = made("gtx780", {fact("model.nc.capacity", bytes(1000)), fact("model.nc.replacement", Value("by the moon")), fact("model.window.colour", Value(3.0))});
  CHECK(has_left(model, "model.nc.capacity"));
  CHECK(has_left(model, "model.nc.replacement"));
  CHECK(has_left(model, "model.window.colour"));
  CHECK(structure_of(model, "nc", "capacity") == "12 KiB");
}

TEST_CASE("of two findings of one thing the surer one counts; of two that no limit was seen in, the higher") {
  auto low = fact("model.bandwidth.l2", Value(100.0, kBytes / kCycles)), high = fact("model.bandwidth.l2", Value(200.0, kBytes / kCycles), 0.5);
  low.at_least = high.at_least = true;
  const auto model = made("gtx780", {fact("model.nc.hit", cycles(150), 0.9), fact("model.nc.hit", cycles(151), 0.95), low, high});
  CHECK(structure_of(model, "nc", "hit") == "151 cycles");
  CHECK(has_left(model, "model.nc.hit"));
  CHECK(structure_of(model, "bandwidth", "l2") == "200 B/cycle");
}

TEST_CASE("what a multiprocessor stores at best becomes a limit of its own") {
  CHECK(structure_of(made("gtx780", {}), "bandwidth", "stores") == "unknown");
  auto most = fact("model.bandwidth.stores", Value(32.0, kBytes / kCycles));
  most.at_least = true;
  CHECK(structure_of(made("gtx780", {most}), "bandwidth", "stores") == "32 B/cycle");
}

TEST_CASE("what was asked and not found stays as it is in the base, and is named") {
  const auto model = made("gtx780", {fact("model.nc.line", Value()), fact("model.nc.hit", Value())});
  CHECK(model.unknown == std::vector<std::string>{"model.nc.line", "model.nc.hit"});
  CHECK(structure_of(model, "nc", "line") == "32 B");
}

TEST_CASE("an L2 of two parts that keep copies: its distances, and those of memory behind it") {
  const auto model = made("h200", {fact("model.cg.copies", Value(true)), fact("model.cg.across", cycles(170)), fact("model.cg.mean", cycles(284)), fact("model.cg.memory", cycles(690))});
  CHECK(structure_of(model, "cg", "copies") == "true");
  CHECK(structure_of(model, "cg", "across") == "170 cycles");
  CHECK(structure_of(model, "cg", "mean") == "284 cycles");
  CHECK(structure_of(model, "cg", "memory") == "690 cycles");
  CHECK(structure_of(model, "ca", "miss") == structure_of(model, "cg", "hit"));  // as far apart as in the base
}
