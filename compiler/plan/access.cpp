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

std::string_view space_of(const Memory& memory, const Manner& manner) { return manner.space.empty() ? memory.space->ptx : manner.space; }

std::string load_name(const Memory& memory, const Manner& manner) {
  const auto via = path_of(memory, manner.via);
  if (via == Via::Ldu) return fmt::format("ldu.{}", memory.space->ptx);
  if (via == Via::Volatile) return fmt::format("ld.volatile.{}{}", memory.space->ptx, manner.modifiers);
  std::string name = "ld.";
  name += space_of(memory, manner);
  if (via != Via::Default) (name += '.') += word(via);
  return name += manner.modifiers;
}

/// E0429 of clauses that PTX has no instruction for.
Result<> accepts_hint(const Op& op, const Memory& memory) {
  const bool of_l2 = op.hint.starts_with("l2_"), of_l1 = !op.hint.empty() && !of_l2, store = op.kind == Op::Kind::Store;
  const auto refuse = [&](std::string message, std::string hint) { return error(op, "E0429", std::move(message), std::move(hint)); };
  if ((of_l1 || of_l2 || op.fetch) && memory.space->ptx != "global") {
    return refuse(fmt::format("{} memory takes no hints for caches", memory.space->word), "leave `hint` and `fetch` out");
  }
  if (store && op.fetch) return refuse("a store fetches nothing", "leave `fetch` out");
  if (op.via == Via::Tex || op.via == Via::Ldu) {
    if (!op.hint.empty() || op.fetch) return refuse(fmt::format("the path `{}` takes no hints", word(op.via)), "leave `via`, or `hint` and `fetch`, out");
  }
  if (of_l1 && op.via != Via::Default && op.via != Via::Nc) {
    return refuse(fmt::format("PTX has no access with a path (`{}`) and a hint for the L1 (`{}`)", word(op.via), op.hint), "leave one of them out; `nc` may stay");
  }
  if (of_l2 && op.via == Via::Volatile) return refuse("a volatile access takes no policy of the L2", "leave `hint` out");
  return Ok{};
}

/// E0429 and E0417 of `rows` and `pitch`.
Result<> accepts_tile(const Op& op) {
  if (!op.rows && !op.pitch) return Ok{};
  if (op.into.empty() || op.via != Via::Bulk) return error(op, "E0429", "only a bulk copy takes a tile of rows", "write `load A at X into S at Y as 128B via bulk rows 64 pitch 4KiB`");
  if (!op.rows || !op.pitch) return error(op, "E0417", "a tile has a number of rows, and their distance", op.rows ? "write `pitch 4KiB` too" : "write `rows 64` too");
  return Ok{};
}

/// E0429 of `to` and `into`.
Result<> accepts_target(const Op& op, const Memory& memory, int width) {
  if (auto fine = accepts_tile(op); !fine) return fine;
  const auto refuse = [&](std::string message, std::string hint) { return error(op, "E0429", std::move(message), std::move(hint)); };
  if (!op.level.empty()) {
    const bool keeps = op.hint == "l2_evict_last" || op.hint == "l2_evict_normal";
    if (memory.space->ptx != "global" && memory.space->ptx != "local") return refuse(fmt::format("nothing is prefetched of {} memory", memory.space->word), "leave `to` out");
    if (!op.into.empty() || op.width || op.fetch || op.via != Via::Default || !(op.hint.empty() || (keeps && op.level == "l2"))) {
      return refuse("a prefetch reads no value: it has no width, path or target", "only `to l2 hint l2_evict_last` or `l2_evict_normal`");
    }
  } else if (!op.into.empty()) {
    if (memory.space->ptx != "global") return refuse(fmt::format("an asynchronous copy reads global memory, and `{}` is in {}", memory.name, memory.space->word), "load it, then store it");
    if (op.via == Via::Bulk) {
      if (!op.hint.empty() || op.fetch) return refuse("a bulk copy takes no hints", "leave `hint` and `fetch` out");
      if (!op.width) return error(op, "E0417", "a bulk copy says how many bytes it copies", "write `as 1KiB`");
      return Ok{};
    }
    if (op.via != Via::Default && op.via != Via::Ca && op.via != Via::Cg) return refuse(fmt::format("an asynchronous copy has no path `{}`", word(op.via)), "`via ca`, `via cg`, `via bulk`, or none");
    if (!op.hint.empty() && !op.hint.starts_with("l2_")) return refuse("an asynchronous copy has no hint for the L1", "a hint for the L2, such as l2_evict_first, or none");
    if (width != 4 && width != 8 && width != 16) return error(op, "E0417", fmt::format("an asynchronous copy is 4, 8 or 16 bytes wide, not {}", width), "write `as 16B`");
    if (op.via == Via::Cg && width != 16) return error(op, "E0417", fmt::format("a copy `via cg` is 16 bytes wide, not {}", width), "write `as 16B`, or `via ca`");
  }
  return Ok{};
}

/// PTX of a fetch of one element; of two dimensions the index is parted into its row and its place there. `next`: the operand behind the others.
std::string fetch(const Memory& memory, const char* result, const char* handle, const char* index, int next) {
  if (!memory.pitch) return fmt::format("tex.1d.v4.u32.s32 {{{}, g, b, a}}, [{}, {{{}}}];", result, handle, index);
  return fmt::format(".reg .u32 x, y; and.b32 x, {2}, %{3}; shr.u32 y, {2}, %{4}; tex.2d.v4.u32.s32 {{{0}, g, b, a}}, [{1}, {{x, y}}];", result, handle, index, next, next + 1);
}
std::string of_rows(const Memory& memory) { return memory.pitch ? fmt::format(", \"r\"(column_{0}), \"r\"(row_{0})", memory.name) : ""; }

}  // namespace

Via path_of(const Memory& memory, Via via) {
  return via == Via::Default || memory.space->by_index() ? memory.space->path : via;
}

bool is_texture(const Memory& memory, Via via) { return path_of(memory, via) == Via::Tex; }

const char* value_type(int width) { return width >= 8 ? "unsigned long long" : "unsigned int"; }

Result<> accepts(const Op& op, const Memory& memory, int width) {
  const bool chase = op.kind == Op::Kind::Chase, store = op.kind == Op::Kind::Store, bulk = op.via == Via::Bulk;
  if (bulk && (op.kind != Op::Kind::Load || op.into.empty())) {
    return error(op, "E0429", "`bulk` is how a load copies into shared memory, and this is no copy", "write `load A at 0B into S at 0B as 1KiB via bulk`, or leave `via bulk` out");
  }
  if (!bulk && width != 4 && width != 8 && width != 16 && (chase || (width != 1 && width != 2))) {
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
  const bool of_stores = op.via == Via::Wb || op.via == Via::Wt, of_both = op.via == Via::Cg || op.via == Via::Cs || op.via == Via::Volatile;
  if (store && op.via != Via::Default && !of_stores && !of_both) {
    return error(op, "E0429", fmt::format("a store has no path `{}`", word(op.via)), "one of cg, cs, wb, wt and volatile, or none");
  }
  if (!store && of_stores) {
    return error(op, "E0429", fmt::format("a load has no path `{}`", word(op.via)), "one of ca, cg, cs, cv, lu, nc, ldu, tex and volatile, or none");
  }
  if (auto fine = accepts_hint(op, memory); !fine) return fine;
  if (auto fine = accepts_target(op, memory, width); !fine) return fine;
  if (is_texture(memory, op.via) && width != 4) {
    return error(op, "E0417", fmt::format("a texture fetch reads 4 bytes, not {}", width), "write `as 4B`, or another path");
  }
  return Ok{};
}

Manner manner_of(const Op& op, int fetch) {
  Manner made(op.via);
  if (op.hint.starts_with("l2_")) {
    made.modifiers = ".L2::cache_hint";
    made.policy = ", gexp_" + op.hint;
  } else if (!op.hint.empty()) {
    made.modifiers = ".L1::" + op.hint;
  }
  if (op.rank) made.space = kOfCluster;
  if (fetch > 0) made.modifiers += fmt::format(".L2::{}B", fetch);
  return made;
}

std::string load_text(const Memory& memory, const Manner& manner, int width, const std::string& at, const std::string& value) {
  if (is_texture(memory, manner.via)) {
    return fmt::format("asm volatile(\"{{ .reg .u32 g, b, a; {} }}\" : \"=r\"({}) : \"l\"(t_{}), \"r\"({}){} : \"memory\");", fetch(memory, "%0", "%1", "%2", 3), value, memory.name, at,
                       of_rows(memory));
  }
  const auto name = load_name(memory, manner);
  if (width == 16) return fmt::format("asm volatile(\"{0}.v2.u64 {{%0, %1}}, [%2]{3};\" : \"=l\"({1}), \"=l\"({1}h) : \"l\"({2}) : \"memory\");", name, value, at, manner.policy);
  return fmt::format("asm volatile(\"{}.u{} %0, [%1]{};\" : \"={}\"({}) : \"l\"({}) : \"memory\");", name, width * 8, manner.policy, width == 8 ? "l" : "r", value, at);
}

std::string store_text(const Memory& memory, const Manner& manner, int width, const std::string& at, const std::string& value) {
  const std::string path = word(manner.via);
  const auto name = manner.via == Via::Volatile ? fmt::format("st.volatile.{}", memory.space->ptx)
                                                : fmt::format("st.{}{}{}{}", space_of(memory, manner), path.empty() ? "" : ".", path, manner.modifiers);
  if (width == 16) return fmt::format("asm volatile(\"{0}.v2.u64 [%0], {{%1, %2}}{3};\" :: \"l\"({2}), \"l\"({1}), \"l\"({1}h) : \"memory\");", name, value, at, manner.policy);
  return fmt::format("asm volatile(\"{}.u{} [%0], %1{};\" :: \"l\"({}), \"{}\"({}) : \"memory\");", name, width * 8, manner.policy, at, width == 8 ? "l" : "r", value);
}

std::string step_text(const Memory& memory, const Manner& manner, int width, const std::string& at, const std::string& link, const std::string& base) {
  if (is_texture(memory, manner.via)) {  // fetched by index: the link itself is where to go on
    return fmt::format("asm volatile(\"{{ .reg .u32 i, r, g, b, a; cvt.u32.u64 i, %0; {} cvt.u64.u32 %0, r; }}\" : \"+l\"({}) : \"l\"(t_{}){} : \"memory\"); {} = (u32){};",
                       fetch(memory, "r", "%1", "i", 2), at, memory.name, of_rows(memory), link, at);
  }
  const auto [load, advance] = step_texts(memory, manner, width, at, link, base);
  return load + " " + advance;
}

StepTexts step_texts(const Memory& memory, const Manner& manner, int width, const std::string& at, const std::string& link, const std::string& base) {
  if (is_texture(memory, manner.via)) {
    return {fmt::format("asm volatile(\"{{ .reg .u32 i, g, b, a; cvt.u32.u64 i, %1; {} }}\" : \"=r\"({}) : \"l\"({}), \"l\"(t_{}){} : \"memory\");", fetch(memory, "%0", "%2", "i", 3), link, at,
                        memory.name, of_rows(memory)),
            fmt::format("asm volatile(\"cvt.u64.u32 %0, %1;\" : \"=l\"({}) : \"r\"({}) : \"memory\");", at, link)};
  }
  const auto name = load_name(memory, manner);
  const std::string load = width == 16 ? fmt::format("{{ .reg .u32 x, y, z; {}.v4.u32 {{%0, x, y, z}}, [%1]{}; }}", name, manner.policy)
                                       : fmt::format("{}.u{} %0, [%1]{};", name, width * 8, manner.policy);
  const char* letter = link_bytes(width) == 8 ? "l" : "r";
  return {fmt::format("asm volatile(\"{}\" : \"={}\"({}) : \"l\"({}) : \"memory\");", load, letter, link, at),
          fmt::format("asm volatile(\"{} %0, %1, {}, %2;\" : \"=l\"({}) : \"{}\"({}), \"l\"({}) : \"memory\");", link_bytes(width) == 8 ? "mad.lo.u64" : "mad.wide.u32", width, at, letter, link, base)};
}

}  // namespace gexp::compiler
