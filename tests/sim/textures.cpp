// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces of up to three dimensions.
#include <cmath>

#include "runtime/sim/observed.h"
#include "runtime/sim/texture.h"
#include "tests/sim/support.h"

using namespace sim_test;
using gexp::sim::Texture;
using Beyond = Texture::Beyond;

namespace {

/// A texture over elements that are given, and what a warp fetches from it.
class Board {
 public:
  Board() : device_("gtx980") {}
  template <class T> std::uint64_t bind(Texture texture, const std::vector<T>& elements) {
    texture.address = device_.allocate(elements.size() * sizeof(T), 256), texture.bytes = elements.size() * sizeof(T);
    device_.write(texture.address, elements);
    memory_ = texture.address;
    return gexp::sim::bind(device_.backend(), texture);
  }
  /// The first `channels` of what lane k fetches at `places[k]`; `form` is the instruction, its coordinates %f1 to %f3 or %r1 to %r3.
  std::vector<float> fetch(std::uint64_t handle, const std::string& form, const std::vector<std::array<float, 3>>& places, int channels = 1) {
    std::vector<float> flat;
    for (const auto& place : places) flat.insert(flat.end(), place.begin(), place.end());
    const auto from = device_.allocate(flat.size() * 4), to = device_.allocate(places.size() * 16);
    device_.write(from, flat);
    const auto kernel = device_.load(module_of(".param .u64 from, .param .u64 to, .param .u64 t", fmt::format(R"(
      .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .b32 %v<5>;
      ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to]; ld.param.u64 %d3, [t];
      mov.u32 %r4, %tid.x; mad.wide.u32 %d1, %r4, 12, %d1; mad.wide.u32 %d2, %r4, 16, %d2;
      ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d1+4]; ld.global.f32 %f3, [%d1+8];
      cvt.rni.s32.f32 %r1, %f1; cvt.rni.s32.f32 %r2, %f2; cvt.rni.s32.f32 %r3, %f3;
      {};
      st.global.v4.b32 [%d2], {{%v1, %v2, %v3, %v4}};
      ret;)", form)));
    const auto outcome = device_.launch(kernel, {{from, 8}, {to, 8}, {handle, 8}}, {.block = static_cast<std::uint32_t>(places.size())});
    what_ = outcome.what;
    if (!outcome.done()) return {};
    const auto read = device_.read<float>(to, places.size() * 4);
    std::vector<float> some;
    for (std::size_t k = 0; k < places.size(); ++k) some.insert(some.end(), read.begin() + static_cast<std::ptrdiff_t>(4 * k), read.begin() + static_cast<std::ptrdiff_t>(4 * k) + channels);
    return some;
  }
  template <class T> std::vector<T> memory(std::size_t count) { return device_.read<T>(memory_, count); }
  [[nodiscard]] const std::string& what() const { return what_; }
  Device& device() { return device_; }

 private:
  Device device_;
  std::uint64_t memory_ = 0;
  std::string what_;
};

const std::string k1d = "tex.1d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%d3, {%f1}]", k2d = "tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%d3, {%f1, %f2}]",
                  k3d = "tex.3d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%d3, {%f1, %f2, %f3, %f3}]";

std::vector<float> counted(std::size_t count) {
  std::vector<float> made(count);
  for (std::size_t k = 0; k < count; ++k) made[k] = static_cast<float>(k);
  return made;
}

}  // namespace

TEST_CASE("a point of a texture is the element at that place, in rows and planes") {
  Board board;
  const auto plane = board.bind({.size = {8, 4, 1}}, counted(32));
  CHECK(board.fetch(plane, k2d, {{0, 0, 0}, {7.9f, 0, 0}, {0, 1, 0}, {3.5f, 2.25f, 0}, {7, 3, 0}}) == std::vector<float>{0, 7, 8, 19, 31});
  CHECK(board.fetch(plane, "tex.2d.v4.f32.s32 {%v1, %v2, %v3, %v4}, [%d3, {%r1, %r2}]", {{5, 2, 0}}) == std::vector<float>{21});
  const auto space = board.bind({.size = {4, 3, 2}}, counted(24));
  CHECK(board.fetch(space, k3d, {{1, 2, 1}, {3, 0, 0}, {0, 0, 1.5f}}) == std::vector<float>{21, 3, 12});
  CHECK(board.fetch(space, "tex.level.3d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%d3, {%f1, %f2, %f3, %f3}], %f3", {{1, 2, 1}}) == std::vector<float>{21});
}

TEST_CASE("what lies beyond a texture is its edge, itself again, its mirror or nothing") {
  Board board;
  const std::vector<std::array<float, 3>> places = {{-0.25f, 0, 0}, {1.25f, 0, 0}, {-1, 0, 0}, {2.75f, 0, 0}, {0.5f, 0, 0}};
  const auto with = [&](Beyond beyond, bool normalized) {
    return board.fetch(board.bind({.size = {4, 1, 1}, .normalized = normalized, .beyond = beyond}, std::vector<float>{1, 2, 3, 4}), k1d, places);
  };
  CHECK(with(Beyond::Clamp, true) == std::vector<float>{1, 4, 1, 4, 3});
  CHECK(with(Beyond::Wrap, true) == std::vector<float>{4, 2, 1, 4, 3});
  CHECK(with(Beyond::Mirror, true) == std::vector<float>{1, 3, 4, 4, 3});
  CHECK(with(Beyond::Border, true) == std::vector<float>{0, 0, 0, 0, 3});
  CHECK(with(Beyond::Wrap, false) == std::vector<float>{1, 2, 1, 3, 1});  // of places that count elements it clamps
}

TEST_CASE("a linear texture weighs its neighbours, by fractions of 8 bits") {
  Board board;
  const auto line = board.bind({.size = {4, 1, 1}, .kind = 'f', .linear = true}, std::vector<float>{0, 256, 512, 1024});
  CHECK(board.fetch(line, k1d, {{0.5f, 0, 0}, {1, 0, 0}, {1.5f, 0, 0}, {2.25f, 0, 0}, {0, 0, 0}, {4, 0, 0}, {0.501f, 0, 0}, {0.503f, 0, 0}}) ==
        std::vector<float>{0, 128, 256, 448, 0, 1024, 0, 1});
  const auto plane = board.bind({.size = {2, 2, 1}, .kind = 'f', .linear = true}, std::vector<float>{0, 4, 8, 16});
  CHECK(board.fetch(plane, k2d, {{1, 1, 0}, {0.75f, 0.5f, 0}, {0.5f, 0.75f, 0}}) == std::vector<float>{7, 1, 2});
  const auto space = board.bind({.size = {2, 2, 2}, .kind = 'f', .linear = true}, std::vector<float>{0, 0, 0, 0, 8, 8, 8, 24});
  CHECK(board.fetch(space, k3d, {{1, 1, 1}, {1, 1, 1.5f}}) == std::vector<float>{6, 12});
  const auto ring = board.bind({.size = {4, 1, 1}, .kind = 'f', .linear = true, .normalized = true, .beyond = Beyond::Wrap}, std::vector<float>{0, 8, 16, 24});
  CHECK(board.fetch(ring, k1d, {{0, 0, 0}, {1, 0, 0}}) == std::vector<float>{12, 12});
}

TEST_CASE("elements of a texture have channels, and integers are numbers from 0 to 1 where they are to be") {
  Board board;
  const auto colours = board.bind({.size = {2, 1, 1}, .channels = 4, .channel_bytes = 1, .kind = 'u', .linear = true, .unit = true}, std::vector<std::uint8_t>{0, 255, 51, 102, 255, 0, 153, 102});
  CHECK(board.fetch(colours, k2d, {{0.5f, 0.5f, 0}, {1, 0.5f, 0}}, 4) == std::vector<float>{0, 1, 0.2f, 0.4f, 0.5f, 0.5f, 0.4f, 0.4f});
  const auto below = board.bind({.size = {2, 1, 1}, .channel_bytes = 2, .kind = 's', .unit = true}, std::vector<std::int16_t>{-32768, 32767});
  CHECK(board.fetch(below, k1d, {{0, 0, 0}, {1, 0, 0}}) == std::vector<float>{-1, 1});
  const auto whole = board.bind({.size = {2, 1, 1}, .channels = 2, .channel_bytes = 1, .kind = 's'}, std::vector<std::int8_t>{-2, 3, 4, -5});
  const auto raw = board.fetch(whole, "tex.1d.v4.s32.s32 {%v1, %v2, %v3, %v4}, [%d3, {%r1}]", {{1, 0, 0}}, 3);
  CHECK(std::bit_cast<std::int32_t>(raw[0]) == 4);
  CHECK(std::bit_cast<std::int32_t>(raw[1]) == -5);
  CHECK(std::bit_cast<std::int32_t>(raw[2]) == 0);
}

TEST_CASE("a fetch that interpolates asks for all that it weighs") {
  Board board;
  gexp::sim::observe(board.device().backend(), 0);
  const auto sectors = [&](bool linear, float x, float y) {
    const auto texture = board.bind({.size = {64, 64, 1}, .kind = 'f', .linear = linear}, counted(64 * 64));
    gexp::sim::observe(board.device().backend(), 0);
    (void)board.fetch(texture, k2d, {{x, y, 0}});
    return gexp::sim::counted(board.device().backend()).sectors;
  };
  const auto base = sectors(false, 20.5f, 20.5f);
  CHECK(sectors(true, 20.5f, 20.25f) == base + 1);  // of two rows, in one sector each
  CHECK(sectors(true, 24, 20.25f) == base + 3);     // and of two sectors
}

TEST_CASE("surfaces are read and written at a byte, and beyond them nothing is") {
  Board board;
  const auto surface = board.bind({.size = {4, 2, 1}}, std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  const auto run = [&](const std::string& form, std::array<float, 3> place) { return board.fetch(surface, form, {place}); };
  const std::string load = "suld.b.2d.b32.{} {{%v1}}, [%d3, {{%r1, %r2}}]; mov.b32 %v2, 0; mov.b32 %v3, 0; mov.b32 %v4, 0";
  const auto value = [&](const char* how, std::array<float, 3> place) { return std::bit_cast<std::uint32_t>(run(fmt::format(fmt::runtime(load), how), place).at(0)); };
  CHECK(value("trap", {8, 1, 0}) == 6);
  CHECK(value("clamp", {400, -3, 0}) == 3);
  CHECK(value("zero", {0, 2, 0}) == 0);
  CHECK(run(fmt::format(fmt::runtime(load), "trap"), {16, 0, 0}).empty());
  CHECK(board.what().find("is outside of it") != std::string::npos);
  CHECK(run(fmt::format(fmt::runtime(load), "trap"), {2, 0, 0}).empty());
  CHECK(board.what().find("misaligned") != std::string::npos);
  const std::string store = "sust.b.2d.v2.b32.{} [%d3, {{%r1, %r2}}], {{77, %r4}}; mov.b32 %v1, 0; mov.b32 %v2, 0; mov.b32 %v3, 0; mov.b32 %v4, 0";
  (void)run(fmt::format(fmt::runtime(store), "trap"), {8, 0, 0});
  (void)run(fmt::format(fmt::runtime(store), "zero"), {16, 1, 0});
  CHECK(board.memory<std::uint32_t>(8) == std::vector<std::uint32_t>{0, 1, 77, 0, 4, 5, 6, 7});
}

TEST_CASE("layers are chosen by a number, and faces of a cube by a direction") {
  Board board;
  const auto layers = board.bind({.size = {4, 2, 3}}, counted(24));
  const std::string layered = "tex.a2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%d3, {%r3, %f1, %f2, %f2}]";
  CHECK(board.fetch(layers, layered, {{1, 0, 0}, {1, 1, 2}, {3, 1, 7}}) == std::vector<float>{1, 21, 23});  // layer 7 of 3 is the last
  const auto lines = board.bind({.size = {4, 3, 1}, .kind = 'f', .linear = true}, counted(12));
  CHECK(board.fetch(lines, "tex.a1d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%d3, {%r2, %f1}]", {{1, 0, 0}, {1, 2, 0}, {0.75f, 1, 0}}) == std::vector<float>{0.5f, 8.5f, 4.25f});
  // Six faces of 2 by 2: +x -x +y -y +z -z. (2, 1, -1) is on +x, s = (1/2 + 1) / 2, t = (-1/2 + 1) / 2.
  const auto cube = board.bind({.size = {2, 2, 6}}, counted(24));
  const std::string direction = "tex.cube.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%d3, {%f1, %f2, %f3, %f3}]";
  CHECK(board.fetch(cube, direction, {{2, 1, -1}, {-2, 1, -1}, {1, 2, 1}, {1, -2, 1}, {1, 1, 2}, {1, 1, -2}, {-1, -1, 2}}) == std::vector<float>{1, 4, 11, 13, 17, 20, 18});
  const auto cubes = board.bind({.size = {1, 1, 12}}, counted(12));
  CHECK(board.fetch(cubes, "tex.acube.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%d3, {1, %f1, %f2, %f3}]", {{0, 0, -1}, {0, 1, 0}}) == std::vector<float>{11, 8});
  CHECK(board.fetch(layers, direction, {{1, 0, 0}}).empty());
  CHECK(board.what().find("six squares") != std::string::npos);
}

TEST_CASE("the four elements that a fetch would weigh come counter-clockwise from the lower left") {
  Board board;
  const auto colours = board.bind({.size = {3, 3, 1}, .channels = 2, .kind = 'f'}, counted(18));
  // Between (0, 0) and (1, 1): below are (0, 1) and (1, 1). An element's channels are 2 n and 2 n + 1.
  CHECK(board.fetch(colours, "tld4.r.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%d3, {%f1, %f2}]", {{1, 1, 0}}, 4) == std::vector<float>{6, 8, 2, 0});
  CHECK(board.fetch(colours, "tld4.g.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%d3, {%f1, %f2}]", {{2, 2, 0}}, 4) == std::vector<float>{15, 17, 11, 9});
  CHECK(board.fetch(colours, "tld4.b.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%d3, {%f1, %f2}]", {{2, 2, 0}}, 4) == std::vector<float>{0, 0, 0, 0});
}

TEST_CASE("a kernel asks textures and surfaces what they are") {
  Board board;
  const auto asked = [&](std::uint64_t handle, const std::string& form) {
    const auto found = board.fetch(handle, form + " %v1, [%d3]; mov.b32 %v2, 0; mov.b32 %v3, 0; mov.b32 %v4, 0", {{0, 0, 0}});
    REQUIRE_MESSAGE(found.size() == 1, board.what());
    return std::bit_cast<std::uint32_t>(found[0]);
  };
  const auto plain = board.bind({.size = {8, 4, 2}}, counted(64)), other = board.bind({.size = {5, 1, 1}, .kind = 'f', .linear = true, .normalized = true, .beyond = Beyond::Mirror}, counted(5));
  CHECK(asked(plain, "txq.width.b32") == 8);
  CHECK(asked(plain, "txq.height.b32") == 4);
  CHECK(asked(plain, "txq.depth.b32") == 2);
  CHECK(asked(plain, "suq.width.b32") == 8);
  CHECK(asked(plain, "suq.array_size.b32") == 2);
  CHECK(asked(plain, "txq.normalized_coords.b32") == 0);
  CHECK(asked(plain, "txq.addr_mode_0.b32") == 3);
  CHECK(asked(plain, "txq.filter_mode.b32") == 0);
  CHECK(asked(other, "txq.width.b32") == 5);
  CHECK(asked(other, "txq.num_mipmap_levels.b32") == 1);
  CHECK(asked(other, "txq.normalized_coords.b32") == 1);
  CHECK(asked(other, "txq.force_unnormalized_coords.b32") == 0);
  CHECK(asked(other, "txq.filter_mode.b32") == 1);
  CHECK(asked(other, "txq.addr_mode_2.b32") == 1);
}

TEST_CASE("layers of surfaces are read and written") {
  Board board;
  const auto layers = board.bind({.size = {4, 2, 2}}, counted(16));
  const auto seen = board.fetch(layers, "suld.b.a2d.b32.trap {%v1}, [%d3, {1, 8, 1, 1}]; sust.b.a2d.b32.trap [%d3, {1, 4, 0, 0}], {%v1}; mov.b32 %v2, %v1; mov.b32 %v3, %v1; mov.b32 %v4, %v1", {{0, 0, 0}});
  CHECK(seen == std::vector<float>{14});
  CHECK(board.memory<float>(16)[9] == 14);
}

TEST_CASE("surfaces are reduced at a byte or at an element, and written in their own format") {
  Board board;
  const std::string none = "; mov.b32 %v1, 0; mov.b32 %v2, 0; mov.b32 %v3, 0; mov.b32 %v4, 0";
  using Places = std::vector<std::array<float, 3>>;
  const auto after = [&](Texture texture, const std::vector<std::uint32_t>& words, const std::string& form, const Places& places) {
    (void)board.fetch(board.bind(texture, words), form + none, places);
    return board.what().empty() ? board.memory<std::uint32_t>(words.size()) : std::vector<std::uint32_t>{};
  };
  using Words = std::vector<std::uint32_t>;
  const Texture whole{.size = {4, 2, 1}}, with_sign{.size = {4, 2, 1}, .kind = 's'};
  const Words eight{0, 10, 20, 30, 40, 50, 60, 70};
  // Three lanes add 1000, two of them at one place.
  CHECK(after(whole, eight, "sured.b.add.2d.u32.trap [%d3, {%r1, %r2}], 1000", {{4, 0, 0}, {4, 0, 0}, {12, 1, 0}}) == Words{0, 2010, 20, 30, 40, 50, 60, 1070});
  CHECK(after(whole, eight, "sured.b.min.2d.s32.clamp [%d3, {%r1, %r2}], -5", {{400, -1, 0}}) == Words{0, 10, 20, 0xfffffffb, 40, 50, 60, 70});
  CHECK(after(whole, eight, "sured.b.max.2d.u32.zero [%d3, {%r1, %r2}], -5", {{16, 0, 0}, {0, 1, 0}}) == Words{0, 10, 20, 30, 0xfffffffb, 50, 60, 70});
  CHECK(after(whole, eight, "sured.b.or.2d.b32.trap [%d3, {%r1, %r2}], 0x101", {{8, 1, 0}}) == Words{0, 10, 20, 30, 40, 50, 0x13d, 70});
  CHECK(after(whole, eight, "sured.b.add.2d.u64.trap [%d3, {%r1, %r2}], 0xfffffffff", {{8, 1, 0}}) == Words{0, 10, 20, 30, 40, 50, 59, 86});
  CHECK(after(whole, eight, "sured.b.add.1d.u32.trap [%d3, {%r1}], %r4", {{0, 0, 0}, {4, 0, 0}, {4, 0, 0}}) == Words{0, 13, 20, 30, 40, 50, 60, 70});
  CHECK(after(whole, eight, "sured.p.add.2d.b32.trap [%d3, {%r1, %r2}], 5", {{3, 1, 0}}) == Words{0, 10, 20, 30, 40, 50, 60, 75});
  CHECK(after(whole, eight, "sured.p.min.2d.b32.trap [%d3, {%r1, %r2}], -1", {{1, 0, 0}}) == eight);
  CHECK(after(with_sign, eight, "sured.p.min.2d.b32.trap [%d3, {%r1, %r2}], -1", {{1, 0, 0}}) == Words{0, 0xffffffff, 20, 30, 40, 50, 60, 70});
  CHECK(after(whole, eight, "sured.b.add.2d.u32.trap [%d3, {%r1, %r2}], 1", {{16, 0, 0}}).empty());
  CHECK(board.what().find("is outside of it") != std::string::npos);
  CHECK(after({.size = {4, 2, 1}, .kind = 'f'}, eight, "sured.p.add.2d.b32.trap [%d3, {%r1, %r2}], 1", {{0, 0, 0}}).empty());
  CHECK(board.what().find("no integers of 32 bits") != std::string::npos);

  // Elements of two channels of 16 bits; of four of a byte, with a sign; and of one float.
  const Texture pairs{.size = {4, 2, 1}, .channels = 2, .channel_bytes = 2}, bytes{.size = {4, 2, 1}, .channels = 4, .channel_bytes = 1, .kind = 's'};
  CHECK(after(pairs, eight, "sust.p.2d.v4.b32.trap [%d3, {%r1, %r2}], {0x1234, 7, 99, 99}", {{2, 1, 0}}) == Words{0, 10, 20, 30, 40, 50, 0x71234, 70});
  CHECK(after(pairs, eight, "sust.p.2d.b32.trap [%d3, {%r1, %r2}], {0x1234}", {{1, 0, 0}}) == Words{0, 0x1234, 20, 30, 40, 50, 60, 70});
  CHECK(after(bytes, eight, "sust.p.2d.v4.b32.trap [%d3, {%r1, %r2}], {-1, 127, -128, 3}", {{0, 0, 0}}) == Words{0x03807fff, 10, 20, 30, 40, 50, 60, 70});
  CHECK(after({.size = {4, 2, 1}, .kind = 'f'}, eight, "sust.p.2d.b32.zero [%d3, {%r1, %r2}], {0x3f800000}", {{3, 0, 0}, {4, 0, 0}}) == Words{0, 10, 20, 0x3f800000, 40, 50, 60, 70});
  CHECK(after(bytes, eight, "sust.p.2d.v4.b32.trap [%d3, {%r1, %r2}], {128, 0, 0, 0}", {{0, 0, 0}}).empty());
  CHECK(board.what().find("0x80 is no value of a surface's channel of 1 B") != std::string::npos);
}
