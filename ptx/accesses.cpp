// SPDX-License-Identifier: Apache-2.0
#include "ptx/accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lang/base/budget.h"
#include "ptx/opcode.h"

namespace gexp::ptx {
namespace {

using EffectKind = Effect::Kind;

/// What neither touches memory nor meets other threads.
constexpr std::string_view kHarmless[] = {
    "abs", "add", "addc", "and", "bfe", "bfi", "bfind", "bmsk", "bra", "brev", "clz", "cnot", "copysign", "cos", "createpolicy", "cvt",
    "cvta", "div", "dp2a", "dp4a", "ex2", "fma", "fns", "isspacep", "lg2", "lop3", "mad", "mad24", "madc", "max", "min", "mov", "mul",
    "mul24", "nanosleep", "neg", "not", "or", "popc", "prefetch", "prefetchu", "prmt", "rcp", "rem", "rsqrt", "sad", "selp", "set",
    "setp", "shf", "shl", "shr", "sin", "slct", "sqrt", "sub", "subc", "szext", "tanh", "testp", "trap", "vabsdiff", "vadd", "vmad",
    "vmax", "vmin", "vset", "vshl", "vshr", "vsub", "xor"};

bool has_any(const Opcode& opcode, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return opcode.has(word); });
}

/// Memory that no parameter points to.
bool own_space(const Opcode& opcode) {
  return has_any(opcode, {"shared", "shared::cta", "shared::cluster", "local", "param", "param::entry", "param::func", "const"});
}

class Reading {
 public:
  Reading(const Function& kernel, const Flow& flow, const SoftL1& options)
      : f_(kernel), flow_(flow), o_(options), origins_(kernel, options.structures), barred_(options.bytes.size()) {}

  Accesses run() {
    for (const Item& item : f_.body) made_.effects.push_back(item.statement() ? effect(*item.statement()) : Effect{});
    std::vector<bool> taken(flow_.blocks.size());
    for (const Loop& loop : flow_.loops) {
      if (!Budget::spend(static_cast<std::int64_t>(loop.blocks.size()))) break;  // the others stay as they are
      if (taken[loop.header] || !consider(loop)) continue;
      for (const std::size_t b : loop.blocks) taken[b] = true;
    }
    for (const auto& why : barred_) {
      if (made_.loops.empty() && made_.why.empty()) made_.why = why;
    }
    if (made_.loops.empty() && made_.why.empty()) made_.why = "no loop of it accesses a memory that it is given by a parameter";
    return std::move(made_);
  }

 private:
  Effect effect(const Statement& s) {
    const Opcode opcode(s.opcode.text);
    const std::string_view name = opcode.name();
    const bool plain = name == "ld" || name == "ldu" || name == "st", atomic = name == "atom" || name == "red";
    if (plain || atomic) return own_space(opcode) ? Effect{} : memory(s, opcode, atomic);
    if (name == "fence" || name == "membar") return {EffectKind::Elsewhere};
    if (name == "ret" || name == "exit") return {EffectKind::Leave};
    return {std::binary_search(std::begin(kHarmless), std::end(kHarmless), name) ? EffectKind::None : EffectKind::Barred};
  }

  Effect memory(const Statement& s, const Opcode& opcode, bool atomic) {
    const bool store = opcode.name() == "st";
    const std::size_t at = opcode.name() == "st" || opcode.name() == "red" ? 0 : 1;
    const bool orders = has_any(opcode, {"acquire", "release", "acq_rel"});
    const bool seen_by_others = atomic || orders || has_any(opcode, {"volatile", "relaxed", "mmio"});
    const auto structure = s.operands.size() > at ? origins_.structure(s.operands[at]) : std::nullopt;
    if (seen_by_others) {
      if (structure) bar(*structure, "atomic or volatile accesses touch what its loops could cache");
      else for (std::size_t k = 0; k < barred_.size(); ++k) bar(k, "an atomic or volatile access may touch what its loops could cache");
      return {orders ? EffectKind::Elsewhere : EffectKind::None};
    }
    if (!structure) return {EffectKind::Elsewhere};
    const auto element = static_cast<std::uint32_t>(bits(opcode.type())) / 8;
    const Effect access{EffectKind::Access, *structure, store, element * static_cast<std::uint32_t>(opcode.vector())};
    if (element == 0 || access.width > 16 || o_.line % access.width != 0)
      bar(*structure, fmt::format("an access of {} B does not fit its lines of {} B", access.width, o_.line));
    return access;
  }

  void bar(std::size_t structure, std::string why) {
    if (barred_[structure].empty()) barred_[structure] = std::move(why);
  }

  bool consider(const Loop& loop) {
    CachedLoop made{&loop, {}};
    std::string hindered;
    for (const std::size_t b : loop.blocks) {
      for (std::size_t i = flow_.blocks[b].begin; i < flow_.blocks[b].end; ++i) {
        const Effect& e = made_.effects[i];
        if (e.kind == EffectKind::Barred) hindered = fmt::format("`{}` in PTX line {}", f_.body[i].statement()->opcode.text, f_.body[i].line);
        if (e.kind == EffectKind::Access) use(made, e);
      }
    }
    if (made.used.empty()) return false;
    if (hindered.empty()) {
      std::sort(made.used.begin(), made.used.end(), [](const Used& a, const Used& b) { return a.structure < b.structure; });
      if (made.used.size() > kMostStructures) made.used.resize(kMostStructures);
      made_.loops.push_back(std::move(made));
      return true;
    }
    if (made_.why.empty()) made_.why = "a loop that it could cache in cannot be cut into two, because of " + hindered;
    return false;
  }

  void use(CachedLoop& loop, const Effect& e) {
    if (!barred_[e.structure].empty()) {
      if (made_.why.empty()) made_.why = barred_[e.structure];
      return;
    }
    auto at = std::find_if(loop.used.begin(), loop.used.end(), [&](const Used& u) { return u.structure == e.structure; });
    if (at == loop.used.end()) {
      std::size_t parameter = 0;
      while (o_.structures[parameter] != e.structure) ++parameter;
      at = loop.used.insert(at, {e.structure, parameter, false, 0});
    }
    if (!e.store) return;
    at->unit = at->written ? std::min(at->unit, e.width) : e.width;
    at->written = true;
  }

  const Function& f_;
  const Flow& flow_;
  const SoftL1& o_;
  Origins origins_;
  std::vector<std::string> barred_;  // why each structure is not cached
  Accesses made_;
};

}  // namespace

std::optional<std::size_t> CachedLoop::index(std::size_t structure) const {
  for (std::size_t k = 0; k < used.size(); ++k) {
    if (used[k].structure == structure) return k;
  }
  return std::nullopt;
}

Accesses accesses_of(const Function& kernel, const Flow& flow, const SoftL1& options) { return Reading(kernel, flow, options).run(); }

}  // namespace gexp::ptx
