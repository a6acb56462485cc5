// SPDX-License-Identifier: Apache-2.0
// What each table of a model accepts and refuses, beyond what model.cpp says of all.
#include "tests/sim/model_support.h"

using namespace sim_test;
using gexp::sim::Outstanding;
using gexp::sim::Scope;

namespace {

/// A model with a table of its own put before [shared].
gexp::Source with(const std::string& model, const std::string& table) { return edited(model, "[shared]\n", table + "\nassumed = \"a test\"\n\n[shared]\n"); }

}  // namespace

TEST_CASE("[device]: clusters and the bus") {
  CHECK(first("gtx780", "sms = 12", "sms = 12\nsms_per_tcp = 3") == "E0602 sms_per_tcp");
  CHECK(first("gtx780", "sms = 12", "sms = 12\nsms_per_tpc = \"3\"") == "E0604 \"3\"");
  CHECK(first("gtx780", "sms = 12", "sms = 12\nsms_per_tpc = 0") == "E0605 0");
  CHECK(first("gtx780", "sms = 12", "sms = 12\nsms_per_tpc = 5") == "E0606 5");
  CHECK(first("h200", "gpcs = 8", "gpcs = 67") == "E0606 67");
  CHECK(first("h200", "gpcs = 8", "gpcs = \"many\"") == "E0604 \"many\"");
  CHECK(first("h200", "gpcs = 8\n", "") == "E0606 \"gpc\"");  // whose clocks?
  CHECK(first("gtx780", "bus = 384\n", "") == "E0603 device");
  CHECK(first("gtx780", "transfers = 4\n", "") == "E0603 device");
  CHECK(first("gtx780", "transfers = 4", "transfers = 0") == "E0605 0");
  CHECK(first("gtx780", "bus = 384", "bus = \"wide\"") == "E0604 \"wide\"");
  CHECK(read(edited("gtx780", "bus = 384\ntransfers = 4\n", "")).memory_peak == 0);
  CHECK(read(edited("gtx780", "l2 = \"1536 KiB\"\n", "")).l2_bytes == 0);
  // Mei17 Table VI.
  CHECK(read(*gexp::sim::read_model("gtx560ti")).memory_peak == doctest::Approx(134.40e9));
  CHECK(read(*gexp::sim::read_model("gtx780")).memory_peak == doctest::Approx(288.38e9).epsilon(1e-4));
  CHECK(read(*gexp::sim::read_model("gtx980")).memory_peak == doctest::Approx(224.38e9).epsilon(1e-4));
}

TEST_CASE("[pipeline]") {
  for (const char* key : {"schedulers = 4\n", "load_units = 4\n", "barrier = 21\n"}) CHECK(first("gtx780", key, "") == "E0603 pipeline");
  CHECK(first("gtx780", "schedulers = 4", "schedulers = 0") == "E0605 0");
  CHECK(first("gtx780", "load_units = 4", "load_units = 2.5") == "E0604 2.5");
  CHECK(first("gtx780", "barrier = 21", "barrier = 0") == "E0605 0");
  CHECK(first("gtx780", "barrier = 21", "barrier = 21\ninstruction_bytes = 0") == "E0605 0");
  CHECK(first("gtx780", "multiply = \"32/192\"", "mutliply = \"32/192\"") == "E0602 mutliply");
  CHECK(first("gtx780", "alu = \"32/192\"", "alu = \"32/0\"") == "E0604 \"32/0\"");
  CHECK(first("gtx780", "alu = \"32/192\"", "alu = 0") == "E0605 0");
  CHECK(first("gtx780", "interval = {", "interval = 4 # {") == "E0604 4");
  CHECK(first("gtx780", "barrier = 21", "barrier = 21\nlocal = 47") == "E0606 47");
  const auto pipeline = read(*gexp::sim::read_model("gtx780")).pipeline;
  CHECK(pipeline.alu_interval == doctest::Approx(1.0 / 6));
  CHECK(pipeline.instruction_bytes == 8);
}

TEST_CASE("[limits]") {
  CHECK(first("gtx780", "[limits]", "[limit]") == "E0602 limit");
  for (const char* key : {"threads_per_block = 1024\n", "threads_per_sm = 2048\n", "blocks_per_sm = 16\n", "registers_per_sm = 65536\n"}) CHECK(first("gtx780", key, "") == "E0603 limits");
  CHECK(first("gtx780", "threads_per_sm = 2048", "threads_per_sm = 512") == "E0606 1024");
  CHECK(first("gtx780", "threads_per_block = 1024", "threads_per_block = 1000") == "E0606 1000");
  CHECK(first("gtx780", "blocks_per_sm = 16", "blocks_per_sm = 0") == "E0605 0");
  CHECK(first("gtx780", "registers_per_sm = 65536", "registers_per_sm = \"64 KiB\"") == "E0604 \"64 KiB\"");
  CHECK(first("gtx780", "registers_per_thread = 255", "registers_per_thread = 0") == "E0605 0");
  CHECK(first("gtx780", "register_step = 8", "register_step = 0") == "E0605 0");
  CHECK(first("gtx780", "register_threads = 128", "register_threads = 100") == "E0606 100");
}

TEST_CASE("[outstanding]") {
  CHECK(first("gtx780", "kind = \"prt\"", "kind = \"ptr\"") == "E0602 \"ptr\"");
  CHECK(first("gtx780", "kind = \"prt\"\n", "") == "E0603 outstanding");
  CHECK(first("gtx780", "entries = 45\n", "") == "E0603 outstanding");
  CHECK(first("gtx780", "entries = 45", "entries = 0") == "E0605 0");
  CHECK(first("gtx780", "requests = 1362", "requests = 31") == "E0605 31");
  CHECK(first("gtx780", "requests = 1362", "requests = \"many\"") == "E0604 \"many\"");
  CHECK(first("gtx780", "requests = 1362", "merges = 8") == "E0602 merges");
  CHECK(first("gtx560ti", "merges = 8\n", "") == "E0603 outstanding");
  CHECK(first("gtx560ti", "merges = 8", "merges = 8\nrequests = 128") == "E0602 requests");
  CHECK(first("gtx780", "loads_per_warp = 3", "loads_per_warp = 0") == "E0605 0");
  CHECK(first_error(with("gtx980", "[outstanding]\nkind = \"unlimited\"")) == "E0603 outstanding");
  CHECK(first_error(with("gtx980", "[outstanding]\nkind = \"unlimited\"\nloads_per_warp = 6\nentries = 9")) == "E0602 entries");
  CHECK(read(with("gtx980", "[outstanding]\nkind = \"unlimited\"\nloads_per_warp = 6")).outstanding.loads_per_warp == 6);
  CHECK(read(edited("gtx780", "requests = 1362\nloads_per_warp = 3\n", "")).outstanding.kind == Outstanding::Kind::Prt);
}

TEST_CASE("[bandwidth]") {
  CHECK(first("gtx780", "dram = \"215.92 GB/s\"", "ddram = \"215.92 GB/s\"") == "E0602 ddram");
  CHECK(first("gtx780", "dram = \"215.92 GB/s\"", "dram = \"215.92 GB\"") == "E0604 \"215.92 GB\"");
  CHECK(first("gtx780", "dram = \"215.92 GB/s\"", "dram = [1]") == "E0604 [1]");
  CHECK(first("gtx780", "dram = \"215.92 GB/s\"", "dram = 0") == "E0605 0");
  CHECK(first("gtx780", "dram = \"215.92 GB/s\"", "dram = \"289 GB/s\"") == "E0606 \"289 GB/s\"");
  const auto bandwidth = read(edited("gtx780", "dram = \"215.92 GB/s\"", "dram = \"215.92 GB/s\"\nl1 = 128\nsm = 32\nstores = 16\nl2 = 512.5")).bandwidth;
  CHECK(bandwidth.dram == doctest::Approx(215.92e9 / 1006e6));
  CHECK(bandwidth.shared == doctest::Approx(83.81e9 / 1006e6));
  CHECK(bandwidth.l1 == 128);
  CHECK(bandwidth.sm == 32);
  CHECK(bandwidth.stores == 16);
  CHECK(first("gtx780", "dram = \"215.92 GB/s\"", "dram = \"215.92 GB/s\"\ntpc = 32") == "E0606 32");
  CHECK(bandwidth.l2 == 512.5);
}

TEST_CASE("[caches]: scope, prefetch, slices") {
  const std::string l2 = "prefetch = \"1 MiB\"";
  CHECK(first("gtx780", "scope = \"sm\"", "scope = \"tcp\"") == "E0602 \"tcp\"");
  CHECK(first("gtx780", "scope = \"sm\"", "scope = \"tpc\"") == "E0606 \"tpc\"");
  CHECK(first("gtx780", l2, "prefetch = \"all\"") == "E0604 \"all\"");
  CHECK(first("gtx780", l2, "prefetch = \"2 MiB\"") == "E0605 \"2 MiB\"");
  CHECK(first("gtx780", l2, "prefetch = 1000") == "E0606 1000");
  CHECK(first("gtx780", l2, "slices = 0") == "E0605 0");
  CHECK(first("gtx780", l2, "slcies = 6") == "E0602 slcies");
  CHECK(first("gtx780", l2, "slices = 6\npartitions = 4") == "E0606 4");
  CHECK(first("gtx780", l2, "slices = 10\npartitions = 5") == "E0606 5");  // of 12 SMs
  CHECK(first("gtx780", l2, "slices = 6\ncopies = \"reads\"") == "E0606 \"reads\"");  // of one partition
  CHECK(first("gtx780", l2, "slices = 6\npartitions = 2\ncopies = \"writes\"") == "E0602 \"writes\"");
  CHECK(first("gtx780", l2, "slices = 6\nfar = 50") == "E0606 50");
  CHECK(first("gtx780", l2, "spread = 20") == "E0606 20");
  CHECK(first("gtx780", l2, "slices = 6\nspread = -1") == "E0605 -1");
  CHECK(first("gtx780", "scope = \"sm\"", "scope = \"sm\"\nslices = 2") == "E0606 2");
  CHECK(first("gtx780", l2, "slices = 6\nslice_xor = [[12], [13, 15]]") == "E0606 [[12], [13, 15]]");  // 6 / 4
  CHECK(first("gtx780", l2, "slices = 8\nslice_xor = [[4]]") == "E0606 [[4]]");  // inside a line
  CHECK(first("gtx780", l2, "slices = 8\nslice_xor = [12]") == "E0604 12");
  CHECK((read(edited("gtx780", l2, "slices = 8\nslice_xor = [[12], [13, 15]]")).caches[2].slice_xor == std::vector<std::uint64_t>{1u << 12, 1u << 13 | 1u << 15}));
  CHECK(first("gtx780", l2, "slices = 6\nspread_by = \"tpc\"") == "E0606 \"tpc\"");  // without a spread
  CHECK(first("gtx780", l2, "slices = 6\nspread = 20\nspread_by = \"gpc\"") == "E0606 \"gpc\"");
  CHECK(first("gtx780", l2, "slices = 6\nspread = 20\nspread_by = \"chip\"") == "E0602 \"chip\"");
  CHECK(first("h200", "gpcs = 8", "gpcs = 1") == "E0606 \"gpc\"");
  const auto cache = read(edited("gtx780", l2, "slices = 6\npartitions = 2\nfar = 50\nspread = 20")).caches[2];
  CHECK((cache.slices == 6 && cache.partitions == 2 && cache.far == 50 && cache.spread == 20 && cache.prefetch == 0));
}

TEST_CASE("[caches]: one memory with shared memory") {
  const std::string unified = "unified = \"64 KiB\"";
  CHECK(first("gtx780", unified, "unified = \"lots\"") == "E0604 \"lots\"");
  CHECK(first("gtx780", unified, "unified = 0") == "E0605 0");
  CHECK(first("gtx780", unified, unified + "\ncapacity = \"16 KiB\"") == "E0606 \"16 KiB\"");
  CHECK(first("gtx780", unified, unified + "\nways = 4") == "E0606 4");
  CHECK(first("gtx780", unified, "unified = \"48 KiB\"") == "E0606 \"48 KiB\"");   // nothing beside the largest
  CHECK(first("gtx780", unified, "unified = \"65 KiB\"") == "E0606 \"65 KiB\"");   // no whole number of ways
  CHECK(first("gtx780", "sets = 32", "sets = [4, 4]") == "E0604 [4, 4]");
  CHECK(first("gtx780", "carveouts = [\"16 KiB\", \"32 KiB\", \"48 KiB\"]\n", "") == "E0606 \"64 KiB\"");
  CHECK(first("gtx780", "replacement = \"lru\"\nindex", "replacement = \"plru\"\nindex") == "E0606 \"plru\"");
  CHECK(first("gtx780", "replacement = \"lru\"\nindex = \"modulo\"\nscope = \"sm\"", "replacement = \"lru\"\nindex = \"modulo\"\nscope = \"device\"") == "E0606 \"device\"");
  const auto l1 = read(*gexp::sim::read_model("gtx780")).caches[1];
  CHECK(l1.unified == 65536);
  CHECK(l1.ways == std::vector<std::uint32_t>(32, 12));
}

TEST_CASE("[shared]: carve-outs") {
  const std::string list = "carveouts = [\"16 KiB\", \"32 KiB\", \"48 KiB\"]";
  CHECK(first("gtx780", list, "carveouts = 48") == "E0604 48");
  CHECK(first("gtx780", list, "carveouts = [\"16 bits\"]").substr(0, 5) == "E0604");
  CHECK(first("gtx780", list, "carveouts = []") == "E0605 []");
  CHECK(first("gtx780", list, "carveouts = [-1]") == "E0605 -1");
  CHECK(first("gtx780", list, "carveouts = [\"32 KiB\", \"16 KiB\", \"48 KiB\"]").substr(0, 5) == "E0606");
  CHECK(first("gtx780", list, "carveouts = [\"16 KiB\", \"56 KiB\"]").substr(0, 5) == "E0606");
  CHECK(first("gtx780", list, "carveouts = [\"0 KiB\", \"32 KiB\"]").substr(0, 5) == "E0606");  // a block may have 48
  CHECK(read(edited("gtx780", list, "carveouts = [0, \"48 KiB\"]")).shared.carveouts == std::vector<std::uint64_t>{0, 49152});
}

TEST_CASE("[tlbs]: scope") {
  CHECK(first("gtx780", "[tlbs.l1_tlb]", "[tlbs.l1_tlb]\nscope = \"warp\"") == "E0602 \"warp\"");
  CHECK(first("gtx780", "[tlbs.l1_tlb]", "[tlbs.l1_tlb]\nscope = \"gpc\"") == "E0606 \"gpc\"");  // of one GPC it says nothing
  CHECK(first("gtx780", "[tlbs.l1_tlb]", "[tlbs.l1_tlb]\nprefetch = \"2 MiB\"") == "E0602 prefetch");
  CHECK(first("gtx780", "[tlbs.l1_tlb]", "[tlbs.l1_tlb]\nslices = 2") == "E0602 slices");
  const auto model = read(edited("gtx780", "[tlbs.l1_tlb]", "[tlbs.l1_tlb]\nscope = \"sm\""));
  CHECK(model.tlbs[0].scope == Scope::Sm);
  CHECK(model.tlbs[1].scope == Scope::Device);
}

TEST_CASE("[paths]: texture, constant, local, instruction") {
  const std::string rows = "\ncaches = [\"l2\"]\ntlbs = []\nlatency.l2 = ";
  CHECK(first("gtx780", "[paths.texture]", "[paths.texutre]") == "E0602 texutre");
  CHECK(first("gtx780", "same_as = \"nc\"", "same_as = \"texture\"") == "E0602 \"texture\"");
  CHECK(first("gtx780", "same_as = \"nc\"", "same_as = \"instruction\"").substr(0, 5) == "E0602");
  CHECK(first("gtx780", "latency.l1 = 47", "latency.l1 = 0") == "E0605 0");
  CHECK(first("gtx780", "latency.l1 = 47", "latency.l1 = \"fast\"") == "E0604 \"fast\"");
  CHECK(first_error(with("gtx780", "[paths.constant]" + rows + "0\nlatency.memory = 300")) == "E0605 0");
  CHECK(first_error(with("gtx780", "[paths.instruction]" + rows + "0\nlatency.memory = 0")) == "E0605 0");
  CHECK(first_error(with("gtx780", "[paths.instruction]" + rows + "0")) == "E0603 latency");
  CHECK(first_error(with("gtx780", "[paths.instruction]\ncaches = []\ntlbs = [\"l1_tlb\"]\nlatency.memory = { l1_tlb = 1, walk = 2, switch = 3 }")) == "E0606 [\"l1_tlb\"]");
  CHECK(first("gtx780", "caches = [\"l1\", \"l2\"]", "caches = [\"l2\", \"l1\"]") == "E0606 [\"l2\", \"l1\"]");
  CHECK(first_error(with("gtx780", "[paths.instruction]" + rows + "0\nlatency.memory = 300\nfetch = 24")) == "E0606 24");
  CHECK(first_error(with("gtx780", "[paths.instruction]" + rows + "0\nlatency.memory = 300\nfetch = 65536")) == "E0605 65536");
  const auto model = read(with("gtx780", "[paths.instruction]" + rows + "0\nlatency.memory = 300"));
  const auto& path = [&](gexp::sim::LoadPath p) -> const gexp::sim::PathModel& { return model.paths[static_cast<std::size_t>(p)]; };
  CHECK(path(gexp::sim::LoadPath::Instruction).latency[0][0] == 0);
  CHECK(path(gexp::sim::LoadPath::Texture).latency == path(gexp::sim::LoadPath::Nc).latency);
  CHECK_FALSE(path(gexp::sim::LoadPath::Constant).present);
}

TEST_CASE("[paths]: memory alone") {
  const auto source = with("gtx780", "[paths.constant]\ncaches = []\ntlbs = []\nlatency.memory = 436");
  CHECK(read(source).paths[static_cast<std::size_t>(gexp::sim::LoadPath::Constant)].latency == std::vector<std::vector<double>>{{436}});
}

TEST_CASE("[stores]: write") {
  const std::string tlbs = "tlbs = [\"l1_tlb\", \"l2_tlb\"]\nassumed = \"stores";
  CHECK(first("gtx780", tlbs, "write = \"bakc\"\n" + tlbs) == "E0602 \"bakc\"");
  CHECK(first("gtx780", tlbs, "write = 1\n" + tlbs) == "E0604 1");
  CHECK(first("gtx780", "caches = [\"l2\"]\n" + tlbs, "caches = []\nwrite = \"back\"\n" + tlbs) == "E0606 \"back\"");
  CHECK(read(edited("gtx780", tlbs, "write = \"back\"\n" + tlbs)).stores.write_back);
  CHECK_FALSE(read(*gexp::sim::read_model("gtx780")).stores.write_back);
}

TEST_CASE("[noise]") {
  CHECK(first_error(with("gtx780", "[noise]")) == "E0603 noise");
  CHECK(first_error(with("gtx780", "[noise]\njiter = 1")) == "E0602 jiter");
  CHECK(first_error(with("gtx780", "[noise]\ninterference = 2")) == "E0605 2");
  CHECK(first_error(with("gtx780", "[noise]\ninterference = \"often\"")) == "E0604 \"often\"");
  CHECK(first_error(with("gtx780", "[noise]\ntail = 100")) == "E0603 noise");
  const auto noise = read(with("gtx780", "[noise]\ninterference = 0.01")).noise;
  CHECK((noise.interference == 0.01 && noise.jitter == 0 && noise.tail == 0));
}
