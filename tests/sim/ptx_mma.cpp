// SPDX-License-Identifier: Apache-2.0
// mma: each lane's registers are filled by the tables of PTX ISA 9.7.14.5, which say for a lane and an element of it the row and the column.
#include <functional>

#include "runtime/sim/float_format.h"
#include "tests/sim/support.h"

using namespace sim_test;

namespace {

using gexp::ptx::Type;
using Place = std::pair<int, int>;
/// The row and the column of a lane's element.
using Where = std::function<Place(int lane, int element)>;

struct Elements {
  int bits, count;  ///< of one; of a lane
  Where where;
  std::function<std::uint64_t(int)> encoded;
};

struct Product {
  std::string opcode;
  int m, n, k;
  Elements a, b, c, d;
  int least, most;  ///< values of a and b
  std::function<int(int, int)> times = [](int x, int y) { return x * y; };
};

std::uint64_t whole(int value) { return static_cast<std::uint32_t>(value); }
std::uint64_t single(int value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }
std::uint64_t real(int value) { return std::bit_cast<std::uint64_t>(static_cast<double>(value)); }
std::uint64_t half(int value) { return gexp::sim::encode_float(gexp::sim::format_of(Type::F16), value, 0, false); }
/// e4m3 of -2 to 2, and e5m2, as the formats' tables have them: bias 7 and 15.
std::uint64_t e4m3(int value) { return std::array{0xc0, 0xb8, 0x00, 0x38, 0x40}[static_cast<std::size_t>(value + 2)]; }
std::uint64_t e5m2(int value) { return std::array{0xc0, 0xbc, 0x00, 0x3c, 0x40}[static_cast<std::size_t>(value + 2)]; }

/// The registers of a matrix as lanes hold them, lane after lane; each has 8 bytes.
std::vector<std::uint64_t> dealt(const Elements& e, const std::function<int(Place)>& value) {
  const int per = e.bits < 32 ? 32 / e.bits : 1, registers = e.count / per;
  std::vector<std::uint64_t> all(static_cast<std::size_t>(32 * registers));
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < e.count; ++i) {
      const std::uint64_t bits = e.encoded(value(e.where(lane, i))) & (e.bits == 64 ? ~0ull : (1ull << e.bits) - 1);
      all[static_cast<std::size_t>(lane * registers + i / per)] |= bits << (i % per * e.bits);
    }
  }
  return all;
}

/// `quads`: four products, by the quads of lanes; each has matrices of its own.
void check(const Product& p, bool quads = false) {
  CAPTURE(p.opcode);
  const auto product_of = [quads](int lane) { return quads ? lane % 16 / 4 : 0; };
  const auto value = [&p](int row, int column, int salt) { return p.least + (row * 7 + column * 5 + row * column + salt * 11) % (p.most - p.least + 1); };
  const auto of = [&](const Elements& e, int salt) {  // the lane is known by its product alone
    std::vector<std::uint64_t> all;
    const int per = e.bits < 32 ? 32 / e.bits : 1, registers = e.count / per;
    for (int product = 0; product < (quads ? 4 : 1); ++product) {
      const auto some = dealt(e, [&](Place at) { return salt == 2 ? at.first - at.second + product : value(at.first, at.second, salt + product); });
      if (all.empty()) all = some;
      for (int lane = 0; lane < 32; ++lane) {
        if (product_of(lane) == product) std::copy_n(some.begin() + lane * registers, registers, all.begin() + lane * registers);
      }
    }
    return all;
  };
  Device device("h200");
  const std::vector<std::uint64_t> in[] = {of(p.a, 0), of(p.b, 1), of(p.c, 2)};
  const Elements* const elements[] = {&p.a, &p.b, &p.c, &p.d};
  std::vector<gexp::device::Argument> arguments;
  std::string loads, lists[4];
  std::size_t registers[4];
  for (std::size_t o = 0; o < 4; ++o) {
    const bool wide = elements[o]->bits == 64, floats = elements[o]->bits == 32 && elements[o]->encoded(1) == single(1) && o > 1;
    registers[o] = static_cast<std::size_t>(elements[o]->count / (elements[o]->bits < 32 ? 32 / elements[o]->bits : 1));
    const std::uint64_t at = device.allocate(registers[o] * 32 * 8);
    if (o < 3) device.write(at, in[o]);
    arguments.push_back({at, 8});
    const char* const kind = wide ? "fd" : floats ? "f" : "r";
    loads += fmt::format("ld.param.u64 %p{0}, [p{0}]; mad.wide.u32 %p{0}, %t, {1}, %p{0};\n", o, registers[o] * 8);
    for (std::size_t k = 0; k < registers[o]; ++k) {
      lists[o] += fmt::format("{}%{}{}_{}", k > 0 ? ", " : "", kind, o, k);
      const std::string reg = fmt::format("%{}{}_{}", kind, o, k);
      loads += fmt::format(".reg .{} {};\n", wide ? "f64" : floats ? "f32" : "b32", reg);
      if (o < 3) loads += fmt::format("ld.global.{} {}, [%p{}+{}];\n", wide ? "f64" : floats ? "f32" : "b32", reg, o, k * 8);
    }
  }
  std::string body = ".reg .b64 %p<4>; .reg .b32 %t; mov.u32 %t, %tid.x;\n" + loads + fmt::format("{} {{{}}}, {{{}}}, {{{}}}, {{{}}};\n", p.opcode, lists[3], lists[0], lists[1], lists[2]);
  for (std::size_t k = 0, at = 0; k < registers[3]; ++k) {
    const std::size_t comma = lists[3].find(',', at);
    body += fmt::format("st.global.{} [%p3+{}], {};\n", p.d.bits == 64 ? "b64" : "b32", k * 8, lists[3].substr(at, comma - at));
    at = comma + 2;
  }
  const auto kernel = device.load(module_of(".param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3", body + "ret;"));
  const Outcome outcome = device.launch(kernel, arguments, {.block = 32});
  REQUIRE_MESSAGE(outcome.done(), outcome.what);
  const auto found = device.read<std::uint64_t>(arguments[3].bits, registers[3] * 32);
  const int per = p.d.bits < 32 ? 32 / p.d.bits : 1;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < p.d.count; ++i) {
      const auto [row, column] = p.d.where(lane, i);
      int sum = row - column + product_of(lane);
      for (int at = 0; at < p.k; ++at) sum += p.times(value(row, at, product_of(lane)), value(at, column, 1 + product_of(lane)));
      const std::uint64_t got = found[static_cast<std::size_t>(lane) * registers[3] + static_cast<std::size_t>(i / per)] >> (i % per * p.d.bits);
      const std::uint64_t mask = p.d.bits == 64 ? ~0ull : (1ull << p.d.bits) - 1;
      CHECK((got & mask) == (p.d.encoded(sum) & mask));
    }
  }
}

// group = lane / 4, member = lane % 4.
const Where kSums16 = [](int lane, int i) { return Place{lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)}; };
const Where kSums8 = [](int lane, int i) { return Place{lane / 4, lane % 4 * 2 + i}; };

}  // namespace

TEST_CASE("mma of doubles: m8n8k4, and m16n8k of 4, 8 and 16") {
  const auto all = [](int m, int k, int a, int b, int c, Where of_a, Where of_b, Where sums) {
    check({fmt::format("mma.sync.aligned.m{}n8k{}.row.col.f64.f64.f64.f64", m, k), m, 8, k, {64, a, std::move(of_a), real}, {64, b, std::move(of_b), real}, {64, c, sums, real}, {64, c, sums, real}, -50, 50});
  };
  all(8, 4, 1, 1, 2, [](int lane, int) { return Place{lane / 4, lane % 4}; }, [](int lane, int) { return Place{lane % 4, lane / 4}; }, kSums8);
  all(16, 4, 2, 1, 4, [](int lane, int i) { return Place{lane / 4 + 8 * i, lane % 4}; }, [](int lane, int) { return Place{lane % 4, lane / 4}; }, kSums16);
  all(16, 8, 4, 2, 4, [](int lane, int i) { return Place{lane / 4 + (i == 0 || i == 2 ? 0 : 8), lane % 4 + (i < 2 ? 0 : 4)}; },
      [](int lane, int i) { return Place{lane % 4 + (i == 0 ? 0 : 4), lane / 4}; }, kSums16);
  all(16, 16, 8, 4, 4, [](int lane, int i) { return Place{lane / 4 + (i % 2 == 0 ? 0 : 8), i * 2 - i % 2 * 2 + lane % 4}; },
      [](int lane, int i) { return Place{lane % 4 + i * 4, lane / 4}; }, kSums16);
}

TEST_CASE("mma of bytes, of four bits and of single bits") {
  const auto rows8 = [](int per) { return [per](int lane, int i) { return Place{lane / 4, lane % 4 * per + i}; }; };
  const auto columns8 = [](int per) { return [per](int lane, int i) { return Place{lane % 4 * per + i, lane / 4}; }; };
  // m16, one word of k: a's second word is 8 rows below. Two: its words are (row, k), (row + 8, k), and both again further along k.
  const auto rows16 = [](int per) { return [per](int lane, int i) { return Place{lane / 4 + (i / per % 2 == 0 ? 0 : 8), lane % 4 * per + i % per + (i < 2 * per ? 0 : 4 * per)}; }; };
  const auto columns16 = [](int per) { return [per](int lane, int i) { return Place{lane % 4 * per + i % per + (i < per ? 0 : 4 * per), lane / 4}; }; };
  struct Kind {
    const char* types;
    int bits, least, most;
  };
  for (const Kind& kind : {Kind{"s32.s8.s8.s32", 8, -100, 100}, Kind{"s32.u8.u8.s32", 8, 0, 255}, Kind{"s32.s4.s4.s32", 4, -8, 7}, Kind{"s32.u4.u4.s32", 4, 0, 15}}) {
    const int per = 32 / kind.bits, k8 = 4 * per;
    const auto opcode = [&](int m, int k) { return fmt::format("mma.sync.aligned.m{}n8k{}.row.col.{}", m, k, kind.types); };
    check({opcode(8, k8), 8, 8, k8, {kind.bits, per, rows8(per), whole}, {kind.bits, per, columns8(per), whole}, {32, 2, kSums8, whole}, {32, 2, kSums8, whole}, kind.least, kind.most});
    for (const int words : {1, 2}) {
      check({opcode(16, k8 * words), 16, 8, k8 * words, {kind.bits, 2 * per * words, rows16(per), whole}, {kind.bits, per * words, columns16(per), whole},
             {32, 4, kSums16, whole}, {32, 4, kSums16, whole}, kind.least, kind.most});
    }
  }
  for (const bool exclusive : {true, false}) {
    const std::function<int(int, int)> times = exclusive ? [](int x, int y) { return x ^ y; } : [](int x, int y) { return x & y; };
    const auto opcode = [&](int m, int k) { return fmt::format("mma.sync.aligned.m{}n8k{}.row.col.s32.b1.b1.s32.{}.popc", m, k, exclusive ? "xor" : "and"); };
    check({opcode(8, 128), 8, 8, 128, {1, 32, rows8(32), whole}, {1, 32, columns8(32), whole}, {32, 2, kSums8, whole}, {32, 2, kSums8, whole}, 0, 1, times});
    for (const int words : {1, 2}) {
      check({opcode(16, 128 * words), 16, 8, 128 * words, {1, 64 * words, rows16(32), whole}, {1, 32 * words, columns16(32), whole}, {32, 4, kSums16, whole}, {32, 4, kSums16, whole}, 0, 1, times});
    }
  }
}

TEST_CASE("mma of floats of 8 bits, of two kinds in one, with sums of halves too") {
  const Where rows = [](int lane, int i) { return Place{lane / 4 + (i / 4 % 2 == 0 ? 0 : 8), lane % 4 * 4 + i % 4 + (i < 8 ? 0 : 16)}; };
  const Where columns = [](int lane, int i) { return Place{lane % 4 * 4 + i % 4 + (i < 4 ? 0 : 16), lane / 4}; };
  check({"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 8, 32, {8, 16, rows, e4m3}, {8, 8, columns, e5m2}, {32, 4, kSums16, single}, {32, 4, kSums16, single}, -2, 2});
  check({"mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e4m3.f16", 16, 8, 16, {8, 8, rows, e5m2}, {8, 4, columns, e4m3}, {16, 4, kSums16, half}, {16, 4, kSums16, half}, -2, 2});
}

TEST_CASE("mma.m8n8k4 of halves: a product of its own for each quad of lanes, in all orders") {
  const auto upper = [](int lane) { return lane < 16 ? 0 : 4; };
  const Where a_rows = [=](int lane, int i) { return Place{lane % 4 + upper(lane), i}; }, a_columns = [=](int lane, int i) { return Place{i % 4 + upper(lane), lane % 4}; };
  const Where b_rows = [=](int lane, int i) { return Place{lane % 4, i + upper(lane)}; }, b_columns = [=](int lane, int i) { return Place{i, lane % 4 + upper(lane)}; };
  const Where halves = [=](int lane, int i) { return Place{lane % 4 + upper(lane), i}; };
  const Where singles = [=](int lane, int i) { return Place{(lane & 1) + (i & 2) + upper(lane), (i & 4) + (lane & 2) + (i & 1)}; };
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      const std::string opcode = fmt::format("mma.sync.aligned.m8n8k4.{}.{}", a ? "row" : "col", b ? "row" : "col");
      const Elements of_a{16, 4, a ? a_rows : a_columns, half}, of_b{16, 4, b ? b_rows : b_columns, half}, of_halves{16, 8, halves, half}, of_singles{32, 8, singles, single};
      check({opcode + ".f32.f16.f16.f32", 8, 8, 4, of_a, of_b, of_singles, of_singles, -9, 9}, true);
      check({opcode + ".f16.f16.f16.f16", 8, 8, 4, of_a, of_b, of_halves, of_halves, -9, 9}, true);
      check({opcode + ".f16.f16.f16.f32", 8, 8, 4, of_a, of_b, of_singles, of_halves, -9, 9}, true);
    }
  }
}

TEST_CASE("an mma that the PTX ISA does not have is refused") {
  for (const char* const text : {"mma.sync.aligned.m8n8k16.row.col.s32.s4.s4.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};", "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 {%r1}, {%r2}, {%r3}, {%r4};",
                                 "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};", "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%r1}, {%r2}, {%r3}, {%r4};",
                                 "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};"}) {
    Device device("h200");
    const auto id = device.backend().load({gexp::device::Target::Form::Ptx, module_of("", fmt::format(".reg .b32 %r<9>; {} ret;", text)), "k"});
    REQUIRE_FALSE(id.ok());
    CHECK_MESSAGE(id.error().message.find("unknown instruction") != std::string::npos, id.error().message);
  }
}
