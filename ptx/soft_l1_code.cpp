// SPDX-License-Identifier: Apache-2.0
#include "ptx/soft_l1_code.h"

#include <bit>

#include "ptx/opcode.h"

// Lines of 24 bytes count from the begin of their memory, the others from address 0: a memory is aligned to more than a line, but not to
// 24 bytes. A line that the end of its memory cuts is never held, so a fill reads nothing that is not there.
namespace gexp::ptx {
namespace {

/// A third of a number of 64 bits is the high half of its product with this, halved.
constexpr const char* kThird = "0xaaaaaaaaaaaaaaab";

/// How a piece of `bytes` is loaded and stored by a register of this code: its type, and the scratch register.
struct Piece {
  const char* type;
  const char* name;
};
Piece piece(std::uint32_t bytes) {
  switch (bytes) {
    case 1: return {"u8", "v"};
    case 2: return {"u16", "v"};
    case 4: return {"u32", "v"};
    default: return {"u64", "w"};
  }
}

std::uint32_t log2_of(std::uint32_t power) { return static_cast<std::uint32_t>(std::countr_zero(power)); }

}  // namespace

void SoftL1Code::begin(const std::vector<CachedLoop>& loops) {
  const std::uint64_t stride = std::uint64_t{o_.threads} * o_.line;
  line(".reg .pred {};", scratch("q"));
  line(".reg .b32 {}, {}, {}, {}, {};", scratch("o"), scratch("s"), scratch("v"), scratch("m"), scratch("own"));
  line(".reg .b64 {}, {}, {}, {}, {};", scratch("a"), scratch("t"), scratch("d"), scratch("w"), scratch("x"));
  if (lines_ > 0) line(".shared .align 16 .b8 {}_lines[{}];", p_, stride * lines_);
  line("mov.u32 {}, %tid.z;", scratch("own"));
  line("mov.u32 {}, %ntid.y;\nmov.u32 {}, %tid.y;", scratch("o"), scratch("s"));
  line("mad.lo.u32 {0}, {0}, {1}, {2};", scratch("own"), scratch("o"), scratch("s"));
  line("mov.u32 {}, %ntid.x;\nmov.u32 {}, %tid.x;", scratch("o"), scratch("s"));
  line("mad.lo.u32 {0}, {0}, {1}, {2};", scratch("own"), scratch("o"), scratch("s"));
  if (lines_ > 0) line("mov.u32 {}, {}_lines;", scratch("o"), p_);
  line("mad.lo.u32 {0}, {0}, {1}, {2};", scratch("own"), o_.line, scratch("o"));
  for (std::size_t number = 0; number < loops.size(); ++number) {
    enter(number, loops[number]);
    line(".reg .b32 {0}, {1}, {2};\nmov.u32 {0}, 0;\nmov.u32 {2}, {3};", of_loop("n"), of_loop("way"), of_loop("limit"), o_.monitor);
    for (std::size_t k = 0; k < used_->size(); ++k) {
      const auto& used = (*used_)[k];
      line(".reg .pred {};\n.reg .b32 {}, {}, {}, {}, {}, {};", of_use("held", k), of_use("hits", k), of_use("uses", k), of_use("score", k),
           of_use("rank", k), of_use("line", k), of_use("dirty", k));
      line(".reg .b64 {}, {}, {};", of_use("tag", k), of_use("at", k), of_use("last", k));
      line("ld.param.u64 {}, [{}];", of_use("at", k), f_.parameters[used.parameter].name);
      line("add.s64 {}, {}, {};", of_use("last", k), of_use("at", k), static_cast<std::int64_t>(o_.bytes[used.structure]) - o_.line);
      line("mov.u32 {}, 0;\nmov.u32 {}, 0;\nmov.u32 {}, 0;", of_use("hits", k), of_use("uses", k), of_use("dirty", k));
      line("mov.u64 {}, -1;\nsetp.ne.u32 {}, {}, 0;", of_use("tag", k), of_use("held", k), of_loop("n"));
      // Read where a structure is held only, and yet set: ptxas 13.0 let another value stand there once choosing was folded.
      line("mov.u32 {}, {};", of_use("line", k), scratch("own"));
    }
  }
}

void SoftL1Code::tell_hits(const std::vector<CachedLoop>& loops) {
  if (!o_.hits) return;
  const std::string hits = scratch("v"), uses = scratch("m"), o = scratch("o"), d = scratch("d");
  line("mov.u32 {}, 0;\nmov.u32 {}, 0;", hits, uses);
  const auto [loop, used] = std::pair(loop_, used_);
  for (std::size_t number = 0; number < loops.size(); ++number) {
    enter(number, loops[number]);
    const auto k = loops[number].index(*o_.hits);
    if (k) line("add.u32 {0}, {0}, {1};\nadd.u32 {2}, {2}, {3};", hits, of_use("hits", *k), uses, of_use("uses", *k));
  }
  loop_ = loop, used_ = used;
  line("max.u32 {0}, {0}, 1;\ncvt.u64.u32 {1}, {0};\nmul.wide.u32 {2}, {3}, 1000;", uses, d, scratch("w"), hits);
  line("div.u64 {0}, {0}, {1};\ncvt.u32.u64 {2}, {0};", scratch("w"), d, hits);
  line("mov.u32 {0}, %ctaid.x;\nmov.u32 {1}, %ntid.x;\nmul.lo.u32 {0}, {0}, {1};", o, scratch("s"));
  line("mov.u32 {1}, %tid.x;\nadd.u32 {0}, {0}, {1};", o, scratch("s"));
  line("ld.param.u64 {}, [{}];", d, f_.parameters.back().name);
  line("mad.wide.u32 {0}, {1}, 4, {0};\nst.global.u32 [{0}], {2};", d, o, hits);
}

std::string SoftL1Code::tag(const Operand& address, std::size_t k) {
  std::string at(address.token.text);
  if (address.offset != 0) {
    line("add.s64 {}, {}, {};", scratch("a"), at, address.offset);
    at = scratch("a");
  }
  const std::string t = scratch("t");
  if (o_.line != 24) {
    line("and.b64 {}, {}, {};", t, at, -static_cast<std::int64_t>(o_.line));
    return at;
  }
  line("sub.s64 {}, {}, {};", t, at, of_use("at", k));
  line("mul.hi.u64 {0}, {0}, {1};", t, kThird);
  line("shr.u64 {0}, {0}, 4;", t);
  line("mad.lo.s64 {0}, {0}, 24, {1};", t, of_use("at", k));
  return at;
}

void SoftL1Code::offset(const std::string& address) {
  if (o_.line != 24) {
    line("cvt.u32.u64 {}, {};", scratch("o"), address);
    line("and.b32 {0}, {0}, {1};", scratch("o"), o_.line - 1);
  } else {
    line("sub.s64 {}, {}, {};", scratch("d"), address, scratch("t"));
    line("cvt.u32.u64 {}, {};", scratch("o"), scratch("d"));
  }
}

std::size_t SoftL1Code::skip_unless_guarded(const Statement& access) {
  const std::size_t n = next_++;
  if (access.guard) line("@{}{} bra {};", access.guard_not ? "" : "!", access.guard->text, label("done", n));
  return n;
}

void SoftL1Code::choose_when_told(std::size_t header) {
  line("setp.ge.u32 {}, {}, {};", scratch("q"), of_loop("n"), of_loop("limit"));
  line("@{} bra {};\n{}:", scratch("q"), label("choose", header), label("chosen", header));
  choices_.push_back({loop_, header});
}

void SoftL1Code::count(const Statement& access, const Effect& effect, std::size_t k) {
  tag(access.operands[effect.store ? 0 : 1], k);
  line("setp.eq.s64 {}, {}, {};", scratch("q"), scratch("t"), of_use("tag", k));
  line("selp.u32 {}, 1, 0, {};", scratch("o"), scratch("q"));
  line("add.u32 {0}, {0}, {1};", of_use("hits", k), scratch("o"));
  line("add.u32 {0}, {0}, 1;", of_use("uses", k));
  line("add.u32 {0}, {0}, 1;", of_loop("n"));
  line("mov.b64 {}, {};", of_use("tag", k), scratch("t"));
}

void SoftL1Code::count_guarded(const Statement& access, const Effect& effect, std::size_t k) {
  const std::size_t n = skip_unless_guarded(access);
  count(access, effect, k);
  if (access.guard) line("{}:", label("done", n));
}

void SoftL1Code::leave_when_told(std::size_t header) {
  line("setp.ge.u32 {}, {}, {};", scratch("q"), of_loop("n"), o_.monitor);
  line("@{} bra {};", scratch("q"), select(header));
}

// Those with the most hits, if more than half of their accesses hit; a structure that is written needs twice the hits of one that is not
// (3.2.2). Each counts how many are better than it. A thread chooses once: then its limit is more than it will ever count.
void SoftL1Code::choose() {
  const std::string q = scratch("q"), o = scratch("o");
  const auto stride = std::uint64_t{o_.threads} * o_.line;
  for (std::size_t k = 0; k < used_->size(); ++k) {
    line("mov.u32 {}, {};", of_use("rank", k), o_.monitor == 0 ? k : 0);
    line("mov.u64 {}, -1;", of_use("tag", k));
    if (o_.monitor == 0) continue;
    line("shl.b32 {}, {}, 1;", of_use("score", k), of_use("hits", k));
    line("setp.gt.u32 {}, {}, {};", q, of_use("score", k), of_use("uses", k));
    line("selp.u32 {}, {}, 0, {};", of_use("score", k), of_use((*used_)[k].written ? "hits" : "score", k), q);
  }
  for (std::size_t b = 1; o_.monitor > 0 && b < used_->size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const bool later_first = (*used_)[b].written && !(*used_)[a].written;
      line("setp.{}.u32 {}, {}, {};", later_first ? "gt" : "ge", q, of_use("score", a), of_use("score", b));
      line("selp.u32 {}, 1, 0, {};", o, q);
      line("add.u32 {0}, {0}, {1};", of_use("rank", b), o);
      line("xor.b32 {0}, {0}, 1;", o);
      line("add.u32 {0}, {0}, {1};", of_use("rank", a), o);
    }
  }
  for (std::size_t k = 0; k < used_->size(); ++k) {
    line("setp.lt.u32 {}, {}, {};", of_use("held", k), of_use("rank", k), lines_);
    if (o_.monitor > 0) line("setp.gt.and.u32 {0}, {1}, 0, {0};", of_use("held", k), of_use("score", k));
    line("mad.lo.u32 {}, {}, {}, {};", of_use("line", k), of_use("rank", k), stride, scratch("own"));
  }
  line("mov.u32 {}, -1;", of_loop("limit"));
}

void SoftL1Code::meet(std::size_t header, const std::vector<std::size_t>& exits, bool inner) {
  const std::string way = of_loop("way"), q = scratch("q");
  const std::string all = label("meet", 0), done = label("done_with", 0), chosen = label("go_on", 0);
  std::size_t ways = 0;
  const auto come = [&](const std::string& from) { line("{}:\nmov.u32 {}, {};\nbra {};", from, way, ways++, all); };
  come(select(header));
  for (const std::size_t b : exits) come(left(b));
  line("{}:", all);
  if (!exits.empty()) line("setp.ne.u32 {}, {}, 0;\n@{} bra {};", q, way, q, done);
  line("setp.eq.u32 {}, {}, -1;\n@{} bra {};", q, of_loop("limit"), q, chosen);
  choose();
  line("{}:\nbra {};", chosen, block(header));
  if (exits.empty()) return;
  line("{}:", done);
  if (inner) give_up_lines();
  for (std::size_t i = 0; i < exits.size(); ++i) {
    // The last way is taken without a question, so that no branch seems to lead elsewhere.
    if (i + 1 < exits.size()) line("setp.eq.u32 {0}, {1}, {2};\n@{0} bra {3};", q, way, i + 1, original(exits[i]));
    else line("bra {};", original(exits[i]));
  }
}

void SoftL1Code::through_line(const Statement& access, const Effect& effect, std::size_t k, bool counted) {
  const std::size_t n = skip_unless_guarded(access);
  line("@!{} bra {};", of_use("held", k), label("plain", n));
  const std::string at = tag(access.operands[effect.store ? 0 : 1], k);
  // A miss goes on with the address; its line's begin is in `t` on both ways.
  line("setp.ne.s64 {}, {}, {};", scratch("q"), scratch("t"), of_use("tag", k));
  line("@{} bra {};", scratch("q"), label("miss", n));
  line("{}:", label("hit", n));
  offset(at);
  line("add.u32 {}, {}, {};", scratch("s"), scratch("o"), of_use("line", k));
  const Opcode opcode(access.opcode.text);
  Statement inside;
  std::string words = effect.store ? "st.shared" : "ld.shared";
  if (opcode.vector() > 1) words += fmt::format(".v{}", opcode.vector());
  words += fmt::format(".{}", name_of(opcode.type()));
  const std::string place = scratch("s");
  inside.opcode = {Token::Kind::Word, words};
  inside.operands = {access.operands[0], access.operands[1]};
  Operand& slot = inside.operands[effect.store ? 0 : 1];
  slot.token.text = place, slot.offset = 0;
  line("{}", print(inside));
  if (effect.store) {
    const auto unit = (*used_)[k].unit;
    if (unit > 1) line("shr.u32 {0}, {0}, {1};", scratch("o"), log2_of(unit));
    line("mov.u32 {}, {};", scratch("m"), (1u << effect.width / unit) - 1);
    line("shl.b32 {0}, {0}, {1};", scratch("m"), scratch("o"));
    line("or.b32 {0}, {0}, {1};", of_use("dirty", k), scratch("m"));
  }
  line("bra {};", label("done", n));
  line("{}:", label("plain", n));
  if (counted) count(access, effect, k);
  line("{}:", label("uncached", n));
  Statement plain = access;
  plain.guard.reset();
  line("{}", print(plain));
  line("{}:", label("done", n));
  misses_.push_back({loop_, n, k});
}

// A bit of the bitmap is a unit of the smallest store, so what the kernel writes at once goes to memory at once. A line that was written
// from end to end goes whole.
void SoftL1Code::write_back(std::size_t k) {
  const auto unit = (*used_)[k].unit;
  const std::string q = scratch("q"), o = scratch("o"), d = scratch("d"), dirty = of_use("dirty", k);
  const std::size_t n = next_++;
  line("setp.eq.u32 {}, {}, 0;", q, dirty);
  line("@{} bra {};", q, label("clean", n));
  line("setp.ne.u32 {}, {}, {};", q, dirty, (std::uint64_t{1} << o_.line / unit) - 1);
  line("@{} bra {};", q, label("write", n));
  move_line("ld.shared", of_use("line", k), "st.global", of_use("tag", k));
  line("mov.u32 {}, 0;\nbra {};", dirty, label("clean", n));
  line("{}:", label("write", n));
  line("brev.b32 {}, {};\nclz.b32 {}, {};", o, dirty, o, o);
  if (unit > 1) line("shl.b32 {0}, {0}, {1};", o, log2_of(unit));
  line("add.u32 {}, {}, {};", scratch("s"), o, of_use("line", k));
  line("cvt.u64.u32 {}, {};\nadd.s64 {}, {}, {};", d, o, d, d, of_use("tag", k));
  if (unit == 16) {
    line("ld.shared.v2.u64 {{{}, {}}}, [{}];", scratch("w"), scratch("x"), scratch("s"));
    line("st.global.v2.u64 [{}], {{{}, {}}};", d, scratch("w"), scratch("x"));
  } else {
    const auto [type, name] = piece(unit);
    line("ld.shared.{} {}, [{}];", type, scratch(name), scratch("s"));
    line("st.global.{} [{}], {};", type, d, scratch(name));
  }
  line("add.u32 {}, {}, -1;\nand.b32 {}, {}, {};", o, dirty, dirty, dirty, o);
  line("setp.ne.u32 {}, {}, 0;\n@{} bra {};", q, dirty, q, label("write", n));
  line("{}:", label("clean", n));
}

void SoftL1Code::move_line(const char* load, const std::string& from, const char* store, const std::string& to) {
  const bool pairs = o_.line % 16 == 0;
  for (std::uint32_t at = 0; at < o_.line; at += pairs ? 16 : 8) {
    const std::string data = pairs ? fmt::format("{{{}, {}}}", scratch("w"), scratch("x")) : scratch("w");
    const char* const type = pairs ? "v2.u64" : "u64";
    line("{}.{} {}, [{}+{}];", load, type, data, from, at);
    line("{}.{} [{}+{}], {};", store, type, to, at, data);
  }
}

void SoftL1Code::fill(std::size_t k) {
  move_line("ld.global", scratch("t"), "st.shared", of_use("line", k));
  line("mov.b64 {}, {};", of_use("tag", k), scratch("t"));
}

void SoftL1Code::give_up_lines() {
  for (std::size_t k = 0; k < used_->size(); ++k) {
    if ((*used_)[k].written) write_back(k);
    line("mov.u64 {}, -1;", of_use("tag", k));
  }
}

void SoftL1Code::aside() {
  for (const auto& [loop, access, k] : misses_) {
    if (loop != loop_) continue;
    line("{}:", label("miss", access));
    line("setp.gt.u64 {}, {}, {};", scratch("q"), scratch("t"), of_use("last", k));
    line("@{} bra {};", scratch("q"), label("uncached", access));
    if ((*used_)[k].written) write_back(k);
    fill(k);
    line("bra {};", label("hit", access));
  }
  for (const auto& [loop, header] : choices_) {
    if (loop != loop_) continue;
    line("{}:", label("choose", header));
    choose();
    line("bra {};", label("chosen", header));
  }
}

}  // namespace gexp::ptx
