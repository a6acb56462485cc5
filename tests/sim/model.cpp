// SPDX-License-Identifier: Apache-2.0
#include "lang/base/sha256.h"
#include "runtime/sim/policy_word.h"
#include "tests/sim/model_support.h"

using namespace sim_test;

TEST_CASE("every model that ships is valid") {
  CHECK(gexp::sim::names().size() >= 4);
  for (const std::string& name : gexp::sim::names()) {
    const auto source = gexp::sim::read_model(name);
    gexp::Diagnostics diagnostics;
    gexp::sim::check_model(*source, diagnostics);
    for (const auto& d : diagnostics.sorted()) FAIL(gexp::render(d, &*source));
  }
}

TEST_CASE("a character beyond ASCII stands in texts and comments alone") {
  const std::string letter = "\xd2\x94";
  const auto said = [](const std::string& before) { return first("gtx780", "[device]", before + "\n[device]"); };
  const std::string bare[] = {letter + " = 1", "x = " + letter, "x = 1 " + letter, "x = 'a' " + letter + " # \"", "x = \"\"\"\n\\\"\n\"\"\" " + letter, "x = ''" + letter, "x = \"\n" + letter + "\""};
  for (const auto& text : bare) CHECK_MESSAGE(said(text).starts_with("E0601"), text);
  const std::string inside[] = {"# " + letter, "x = \"" + letter + "\"", "x = '" + letter + "'", "x = '''\n\"" + letter + "\n'''", "x = \"\\\"" + letter + "\"", "x = \"\" # " + letter};
  for (const auto& text : inside) CHECK_MESSAGE(!said(text).starts_with("E0601"), text);
}

TEST_CASE("text that is no TOML") { CHECK(first("gtx780", "[device]", "[device").substr(0, 5) == "E0601"); }

TEST_CASE("unknown keys and names") {
  CHECK(first("gtx780", "capacity =", "capacty =") == "E0602 capacty");
  CHECK(first("gtx780", "[window]", "[windw]") == "E0602 windw");
  CHECK(first("gtx780", "replacement = \"lru\"", "replacement = \"lur\"") == "E0602 \"lur\"");
  CHECK(first("gtx780", "caches = [\"readonly\", \"l2\"]", "caches = [\"readonly\", \"l3\"]") == "E0602 \"l3\"");
  CHECK(first("gtx780", "walk = 257", "wlak = 257") == "E0602 wlak");
  CHECK(first("gtx780", "[paths.nc]", "[paths.nx]") == "E0602 nx");
}

TEST_CASE("a typo's hint names the key that was meant") {
  const gexp::Source source = edited("gtx780", "capacity =", "capacty =");
  gexp::Diagnostics diagnostics;
  gexp::sim::check_model(source, diagnostics);
  bool hinted = false;
  for (const auto& d : diagnostics.sorted()) hinted |= d.code == "E0602" && d.hint.find("'capacity'") != std::string::npos;
  CHECK(hinted);
}

TEST_CASE("missing keys") {
  CHECK(first("gtx780", "sms = 12\n", "") == "E0603 device");
  CHECK(first("gtx780", "bits = [7, 8]\n", "") == "E0603 readonly");
  CHECK(first("gtx780", "format = 1\n", "").substr(0, 5) == "E0603");
}

TEST_CASE("wrong types and values out of bounds") {
  CHECK(first("gtx780", "sms = 12", "sms = \"many\"") == "E0604 \"many\"");
  CHECK(first("gtx780", "line = 32", "line = \"32 apples\"") == "E0604 \"32 apples\"");
  CHECK(first("gtx780", "sm_clock = \"1006 MHz\"", "sm_clock = \"1006 KiB\"") == "E0604 \"1006 KiB\"");
  CHECK(first("gtx780", "line = 32", "line = 0") == "E0605 0");
  CHECK(first("gtx780", "line = 32", "line = -32") == "E0605 -32");
  CHECK(first("gtx780", "ways = 96", "ways = 99999999999") == "E0605 99999999999");
  CHECK(first("gtx780", "clock = 16", "clock = 0") == "E0605 0");
  CHECK(first("gtx780", "latency.readonly = 110", "latency.readonly = 0") == "E0605 0");
}

TEST_CASE("geometry that cannot be") {
  CHECK(first("gtx780", "[caches.readonly]", "[caches.memory]") == "E0605 memory");
  CHECK(first("gtx780", "capacity = \"12 KiB\"", "capacity = \"16 KiB\"") == "E0606 \"16 KiB\"");
  CHECK(first("gtx780", "bits = [7, 8]", "bits = [7, 8, 9]") == "E0606 [7, 8, 9]");
  CHECK(first("gtx780", "bits = [7, 8]", "bits = [4, 8]") == "E0606 [4, 8]");
  CHECK(first("gtx780", "bits = [7, 8]", "bits = [7, 8]\nxor = [[7, 8], [9]]") == "E0606 readonly");
  CHECK(first("gtx780", "line = 32\nsets = 4", "line = 32\nsector = 20\nsets = 4") == "E0606 20");
  CHECK(first("gtx780", "replacement = \"lru\"", "replacement = \"plru\"") == "E0606 \"plru\"");
  CHECK(first("gtx560ti", "\"1/2\"", "\"1/3\"") == "E0606 [\"1/6\", \"1/3\", \"1/6\", \"1/6\"]");
  CHECK(first("gtx560ti", "\"1/6\"]", "\"1/12\", \"1/12\"]").substr(0, 5) == "E0606");
  CHECK(first("gtx780", "reach = \"130 MiB\"", "reach = \"132 MiB\"") == "E0606 \"132 MiB\"");
  CHECK(first("gtx780", "virtual = [\"readonly\"]", "virtual = [\"l2\"]") == "E0606 [\"l2\"]");
  CHECK(first("gtx780", "default_mode = 4", "default_mode = 5") == "E0606 5");
  CHECK(first("gtx780", "cycles = [47,", "cycles = [40, 47,").substr(0, 5) == "E0606");
  CHECK(first("gtx560ti", "modes = [4]", "modes = [4, 8]") == "E0606 [4, 8]");
}

TEST_CASE("every value says where it is from") {
  const std::string window = "source = \"Mei17 section 5.2: page entries of 512 MB are active at one time\"";
  CHECK(first("gtx780", window, "") == "E0607 size");
  CHECK(first("gtx780", window, "source = \"\"").substr(0, 5) == "E0607");
  CHECK(first("gtx780", "assumed.alu =", "assumed.aul =") == "E0602 aul");
  CHECK(first("gtx980", "assumed = \"one memory with the L1: the latencies of path ca\"\n", "").substr(0, 5) == "E0607");
}

TEST_CASE("other replacement and index forms are read") {
  CHECK(first("gtx780", "replacement = \"lru\"", "replacement = \"fifo\"") == "accepted");
  CHECK(first("gtx980", "bits = [7, 8]", "xor = [[7, 11], [8, 12]]") == "accepted");
  CHECK(first("gtx560ti", "probabilities = [\"1/6\", \"1/2\", \"1/6\", \"1/6\"]", "weights = [1, 3, 1, 1]") == "accepted");
  CHECK(first("gtx560ti", "replacement = \"weighted\"\nprobabilities = [\"1/6\", \"1/2\", \"1/6\", \"1/6\"]", "replacement = \"plru\"") == "accepted");
  CHECK(first("gtx560ti", "line = 128\nsets = 32\nways = 4\nxor = [[7, 13], [8, 14], [9], [10], [11]]", "line = 128\nsector = 32\nsets = 32\nways = 4\nindex = \"modulo\"").substr(0, 5) == "E0602");  // assumed.xor is left over
}

TEST_CASE("open names the place of a model's error") {
  const gexp::Source source = edited("gtx780", "line = 32", "line = 0");
  const auto opened = gexp::sim::open(source, "sim:x");
  REQUIRE(!opened.ok());
  CHECK(source.slice(opened.error().span) == "0");
}

TEST_CASE("sha256 of known texts") {
  CHECK(gexp::sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(gexp::sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a policy reads as the model names it") {
  gexp::sim::CacheModel cache;
  cache.ways = {2};
  cache.policy = gexp::sim::Policy::Plru;
  CHECK(gexp::sim::policy_word(cache) == "plru");
  cache.policy = gexp::sim::Policy::Weighted;
  cache.weights = {0.5, 0.5};
  CHECK(gexp::sim::policy_word(cache) == "random");
  cache.weights = {0.25, 0.75};
  CHECK(gexp::sim::policy_word(cache) == "weighted");
  cache.policy = gexp::sim::Policy::Rrip;
  cache.insert = 2;
  CHECK(gexp::sim::policy_word(cache) == "qlru_h00_m2_r0_u0_umo");  // SRRIP of four ages
  cache.ages = 8;
  CHECK(gexp::sim::policy_word(cache) == "rrip");
  cache.insert = 7;  // the oldest: no line is ever between the youngest age and that one
  CHECK(gexp::sim::policy_word(cache) == "qlru_h00_m3_r0_u0_umo");
  cache.policy = gexp::sim::Policy::Nrf;
  CHECK(gexp::sim::policy_word(cache) == "fifo");  // of two ways
  cache.ways = {2, 3};
  CHECK(gexp::sim::policy_word(cache) == "nrf");
  cache.policy = gexp::sim::Policy::Bip;
  CHECK(gexp::sim::policy_word(cache) == "lip");
  cache.promoted = 0.03125;
  CHECK(gexp::sim::policy_word(cache) == "bip");
}
