// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/texture_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "lang/base/split.h"

namespace gexp::cli {
namespace {

constexpr std::uint32_t kMostAlong = 1u << 16;       // fact: of two dimensions (CUDA C++ Programming Guide, technical specifications)
constexpr std::uint64_t kMostElements = 1ull << 28;  // limit: a texture of 1 GiB

std::optional<std::uint32_t> number(std::string_view text, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0 || value > most) return std::nullopt;
  return value;
}

/// False: there is no such word.
bool take_word(std::string_view word, sim::Texture& texture) {
  using Beyond = sim::Texture::Beyond;
  constexpr std::pair<std::string_view, Beyond> kBeyond[] = {
      {"clamp", Beyond::Clamp}, {"wrap", Beyond::Wrap}, {"mirror", Beyond::Mirror}, {"border", Beyond::Border}};
  for (const auto& [name, beyond] : kBeyond) {
    if (word == name) return texture.beyond = beyond, true;
  }
  if (word == "linear") return texture.linear = true;
  if (word == "normalized") return texture.normalized = true;
  if (word == "unit") return texture.unit = true;
  return false;
}

/// "u8x4": its kind, bytes and number. False: it is none.
bool take_type(std::string_view name, sim::Texture& texture) {
  constexpr std::string_view kTypes[] = {"u8", "u16", "u32", "s8", "s16", "s32", "f32"};
  const auto parts = split(name, 'x');
  if (parts.size() > 2 || std::find(std::begin(kTypes), std::end(kTypes), parts[0]) == std::end(kTypes)) return false;
  texture.kind = parts[0].front();
  texture.channel_bytes = number(parts[0].substr(1), 32).value_or(32) / 8;
  if (parts.size() == 2) texture.channels = number(parts[1], 4).value_or(0);
  return texture.channels == 1 || texture.channels == 2 || texture.channels == 4;
}

}  // namespace

Result<std::optional<TextureArgument>> read_texture_argument(const std::string& text) {
  const std::string_view all = text;
  const auto colon = all.substr(0, all.find_first_of("[=")).find(':');
  if (colon == std::string_view::npos) return std::optional<TextureArgument>();
  const auto wrong = [&](const std::string& why) {
    return failure("E0510", fmt::format("the argument `{}`: {}", text, why),
                   "write tex:f32[64x32]=random, tex,linear,normalized,wrap:f32x4[64x32], tex,linear,unit:u8[64], or surf:u32[64x32]");
  };
  TextureArgument made;
  sim::Texture& texture = made.texture;
  const auto words = split(all.substr(0, colon), ',');
  if (words[0] != "tex" && words[0] != "surf") return wrong(fmt::format("`{}` is neither tex nor surf", words[0]));
  for (std::size_t k = 1; k < words.size(); ++k) {
    if (words[0] == "surf") return wrong("a surface is read and written as it lies in memory");
    if (take_word(words[k], texture)) continue;
    return wrong(fmt::format("`{}` is none of linear, normalized, unit, clamp, wrap, mirror and border", words[k]));
  }
  const auto rest = all.substr(colon + 1);
  const auto open = rest.find('['), close = rest.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return wrong("`[64x32]` says how large it is");
  if (const auto type = rest.substr(0, open); !take_type(type, texture)) {
    return wrong(fmt::format("`{}` is no element: u8, u16, u32, s8, s16, s32 or f32, or x2 or x4 of these", type));
  }
  const auto sizes = split(rest.substr(open + 1, close - open - 1), 'x');
  if (sizes.size() > 3) return wrong("it has one to three dimensions");
  texture.size = {1, 1, 1};
  std::uint64_t elements = 1;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const auto along = number(sizes[k], kMostAlong);
    if (!along) return wrong(fmt::format("`{}` is no size from 1 to {}", sizes[k], kMostAlong));
    texture.size[k] = *along, elements *= *along;
  }
  if (elements > kMostElements) return wrong(fmt::format("more than {} elements", kMostElements));
  using Beyond = sim::Texture::Beyond;
  if (texture.unit && (texture.kind == 'f' || texture.channel_bytes == 4)) return wrong("`unit` is for integers of 8 and 16 bits");
  if (texture.linear && texture.kind != 'f' && !texture.unit) return wrong("`linear` is for f32, and for integers that are read as `unit`");
  const bool turns = texture.beyond == Beyond::Wrap || texture.beyond == Beyond::Mirror;
  if (turns && !texture.normalized) return wrong("`wrap` and `mirror` are for places that are `normalized`");
  texture.bytes = elements * texture.element_bytes();
  made.array = fmt::format("{}{}[{}]{}", texture.kind, texture.channel_bytes * 8, elements * texture.channels, rest.substr(close + 1));
  return std::optional(made);
}

}  // namespace gexp::cli
