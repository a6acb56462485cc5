// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_decoder.h"
#include "runtime/sim/texture.h"

// Fetches from textures, accesses of surfaces, and what kernels ask of both.
namespace gexp::sim {

/// "[handle, {x, y}]": a texture or surface, and where. In three dimensions the fourth coordinate is not read.
bool Decoder::placed(Instruction& i, const Operand& o, Type coordinates) {
  // Behind a reference may stand that of a sampler.
  const bool reference = names_.find_variable(o.token.text) != nullptr;
  if (o.kind != Operand::Kind::Address || o.items.empty() || o.items.size() > (reference ? 2u : 1u)) return odd_operand(), false;
  Fetch fetch;
  fetch.layered = has("a1d") || has("a2d") || has("acube"), fetch.cube = has("cube") || has("acube");
  fetch.samples = has("p");
  fetch.axes = has("1d") || has("a1d") ? 1 : has("2d") || has("a2d") ? 2 : 3;
  constexpr std::string_view kChannels[] = {"r", "g", "b", "a"};
  for (std::uint32_t k = 0; k < 4 && name() == "tld4"; ++k) fetch.gathered = has(kChannels[k]) ? k + 1 : fetch.gathered;
  const std::size_t axes = fetch.axes, first = fetch.layered ? 1 : 0;
  const std::vector<Operand> at = elements(o.items.back());
  if (at.size() < axes + first) return odd_operand(), false;
  i.offset = fetch.packed();
  if (fetch.layered) i.data[kLayer] = source_of(at[0], Type::U32);
  // Nobody binds a texture reference here, so it refers to none.
  i.a = reference ? names_.constant(0) : register_of(o.token).slot;
  std::uint32_t* const slots[] = {&i.b, &i.c, &i.data[kThird]};
  for (std::size_t k = 0; k < axes; ++k) *slots[k] = source_of(at[first + k], coordinates);
  return true;
}

/// A fetch: "tex.2d.v4.f32.f32 {r, g, b, a}, [handle, {x, y}]". Textures have one level, so which one is asked for changes nothing.
void Decoder::texture(const Form&) {
  const std::size_t count = has("level") ? 3 : has("grad") ? 4 : 2;
  if (!operands(count, count)) return;
  const std::vector<Operand> results = elements(s_.operands[0]);
  if (results.size() != 4) return odd_operand();
  Instruction i = base_;
  i.kind = Kind::Texture;
  i.type = types_[0], i.from = types_[1];
  i.bytes = 4;
  i.count = 4;
  i.path = LoadPath::Texture;
  if (!placed(i, s_.operands[1], types_[1])) return;
  for (std::size_t k = 0; k < 4; ++k) i.data[k] = target_of(results[k]);
  add(i);
}

/// txq.width.b32 d, [a]; txq.level.width.b32 d, [a], lod: there is one level. suq.width.b32 d, [a].
void Decoder::query(const Form&) {
  using Q = Fetch::Query;
  constexpr std::pair<std::string_view, Q> kQueries[] = {{"width", Q::Width}, {"height", Q::Height}, {"depth", Q::Depth}, {"array_size", Q::Layers}, {"num_mipmap_levels", Q::Levels},
                                                         {"num_samples", Q::Samples}, {"normalized_coords", Q::Normalized}, {"force_unnormalized_coords", Q::Unnormalized},
                                                         {"filter_mode", Q::Filter}, {"addr_mode_0", Q::BeyondX}, {"addr_mode_1", Q::BeyondY}, {"addr_mode_2", Q::BeyondZ}};
  const std::size_t count = has("level") ? 3 : 2;
  if (!operands(count, count)) return;
  const Operand& o = s_.operands[1];
  if (o.kind != Operand::Kind::Address || !o.items.empty()) return odd_operand();
  Instruction i = typed(Op::Mov, Type::B32);
  i.kind = Kind::Texture, i.path = LoadPath::Texture;
  i.bytes = 4, i.from = Type::S32;
  Fetch fetch;
  for (const auto& [word, query] : kQueries) fetch.query = has(word) ? query : fetch.query;
  i.offset = fetch.packed();
  i.a = names_.find_variable(o.token.text) ? names_.constant(0) : register_of(o.token).slot;
  i.data[0] = target();
  add(i);
}

/// suld.b.2d.v2.b32.trap {a, b}, [handle, {x, y}]; sust.b….trap [handle, {x, y}], {a, b}; sured.b.add.2d.u32.trap [handle, {x, y}], a: x counts
/// bytes, and of .p elements.
void Decoder::surface(const Form&) {
  const bool load = name() == "suld";
  if (!operands(2, 2)) return;
  Instruction i = typed(Op::Mov, type());
  i.kind = load ? Kind::Texture : name() == "sured" ? Kind::Atomic : Kind::Store;
  i.space = Space::Global;
  if (i.kind == Kind::Atomic) name_operation(i, type()), i.to = names_.temporary();
  i.beyond = has("clamp") ? 'c' : has("zero") ? 'z' : 't';
  i.bytes = static_cast<std::uint8_t>(bits(type()) / 8);
  i.count = has("v4") ? 4 : has("v2") ? 2 : 1;
  if (load) i.path = LoadPath::Texture;
  const std::vector<Operand> items = elements(s_.operands[load ? 0 : 1]);
  if (items.size() != i.count || i.bytes * i.count > 16) return fail(fmt::format("'{}' with a wrong number of elements", s_.opcode.text));
  if (!placed(i, s_.operands[load ? 1 : 0], Type::S32)) return;
  for (std::size_t k = 0; k < items.size(); ++k) i.data[k] = load ? target_of(items[k]) : source_of(items[k], type());
  add(i);
}

}  // namespace gexp::sim
