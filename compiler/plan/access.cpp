// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/access.h"

#include <fmt/format.h>

#include "compiler/memory/memory_space.h"

namespace gexp::compiler {
namespace {

Diagnostic error(const Op& op, std::string code, std::string message, std::string hint = {}) {
  Diagnostic diagnostic = failure(std::move(code), std::move(message), std::move(hint));
  diagnostic.span = diagnostic.code == "E0417" && op.width ? op.width->span : op.span;
  return diagnostic;
}

std::string load_name(const Memory& memory, Via via) {
  const std::string path = word(path_of(memory, via));
  return fmt::format("ld.{}{}{}", memory.space->ptx, path.empty() ? "" : ".", path);
}

constexpr const char* kTextureFetch = "tex.1d.v4.u32.s32 {{%0, g, b, a}}, [%1, {{%2}}];";

}  // namespace

Via path_of(const Memory& memory, Via via) {
  return via == Via::Default || memory.space->by_index() ? memory.space->path : via;
}

bool is_texture(const Memory& memory, Via via) { return path_of(memory, via) == Via::Tex; }

const char* value_type(int width) { return width >= 8 ? "unsigned long long" : "unsigned int"; }

Result<> accepts(const Op& op, const Memory& memory, int width) {
  const bool chase = op.kind == Op::Kind::Chase, store = op.kind == Op::Kind::Store;
  if (width != 4 && width != 8 && width != 16 && (chase || (width != 1 && width != 2))) {
    return error(op, "E0417", chase ? fmt::format("a step of a chase is 4, 8 or 16 bytes wide, not {}", width)
                                    : fmt::format("an access is 1, 2, 4, 8 or 16 bytes wide, not {}", width),
                 op.width ? "write `as 4B`" : fmt::format("write `as 4B`: without it an access is as wide as an element of `{}`", memory.name));
  }
  const auto& space = *memory.space;
  if (op.via != Via::Default && op.via != space.path && !space.chooses_path) {
    return error(op, "E0429", fmt::format("{} memory has no load path to choose", space.word), "leave `via` out");
  }
  if (store && !space.stores) {
    return error(op, "E0429", fmt::format("`{}` is in memory that kernels only read", memory.name), fmt::format("store to a memory in {}", spaces_with_stores()));
  }
  if (store && op.via != Via::Default && op.via != Via::Cg) {
    return error(op, "E0429", fmt::format("a store has no path `{}`", word(op.via)), "`via cg`, or none");
  }
  if (is_texture(memory, op.via) && width != 4) {
    return error(op, "E0417", fmt::format("a texture fetch reads 4 bytes, not {}", width), "write `as 4B`, or another path");
  }
  return Ok{};
}

std::string load_text(const Memory& memory, Via via, int width, const std::string& at, const std::string& value) {
  if (is_texture(memory, via)) {
    return fmt::format("asm volatile(\"{{ .reg .u32 g, b, a; {} }}\" : \"=r\"({}) : \"l\"(t_{}), \"r\"({}) : \"memory\");",
                       fmt::format(kTextureFetch), value, memory.name, at);
  }
  const auto name = load_name(memory, via);
  if (width == 16) return fmt::format("asm volatile(\"{0}.v2.u64 {{%0, %1}}, [%2];\" : \"=l\"({1}), \"=l\"({1}h) : \"l\"({2}) : \"memory\");", name, value, at);
  return fmt::format("asm volatile(\"{}.u{} %0, [%1];\" : \"={}\"({}) : \"l\"({}) : \"memory\");", name, width * 8, width == 8 ? "l" : "r", value, at);
}

std::string store_text(const Memory& memory, Via via, int width, const std::string& at, const std::string& value) {
  const auto name = fmt::format("st.{}{}", memory.space->ptx, via == Via::Cg ? ".cg" : "");
  if (width == 16) return fmt::format("asm volatile(\"{0}.v2.u64 [%0], {{%1, %2}};\" :: \"l\"({2}), \"l\"({1}), \"l\"({1}h) : \"memory\");", name, value, at);
  return fmt::format("asm volatile(\"{}.u{} [%0], %1;\" :: \"l\"({}), \"{}\"({}) : \"memory\");", name, width * 8, at, width == 8 ? "l" : "r", value);
}

std::string step_text(const Memory& memory, Via via, int width, const std::string& at, const std::string& link, const std::string& base) {
  if (is_texture(memory, via)) {  // fetched by index: the link itself is where to go on
    return fmt::format("asm volatile(\"{{ .reg .u32 i, r, g, b, a; cvt.u32.u64 i, %0; tex.1d.v4.u32.s32 {{r, g, b, a}}, [%1, {{i}}]; cvt.u64.u32 %0, r; }}\" : \"+l\"({}) : \"l\"(t_{}) : \"memory\"); {} = (u32){};",
                       at, memory.name, link, at);
  }
  const auto name = load_name(memory, via);
  const std::string load = width == 16 ? fmt::format("{{ .reg .u32 x, y, z; {}.v4.u32 {{%0, x, y, z}}, [%1]; }}", name)
                                       : fmt::format("{}.u{} %0, [%1];", name, width * 8);
  const char* letter = link_bytes(width) == 8 ? "l" : "r";
  return fmt::format("asm volatile(\"{}\" : \"={}\"({}) : \"l\"({}) : \"memory\"); asm volatile(\"{} %0, %1, {}, %2;\" : \"=l\"({}) : \"{}\"({}), \"l\"({}) : \"memory\");",
                     load, letter, link, at, link_bytes(width) == 8 ? "mad.lo.u64" : "mad.wide.u32", width, at, letter, link, base);
}

}  // namespace gexp::compiler
