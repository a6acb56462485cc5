// SPDX-License-Identifier: Apache-2.0
#include "ptx/soft_l1.h"

#include <algorithm>

#include "lang/base/budget.h"
#include "ptx/bound_threads.h"
#include "ptx/opcode.h"
#include "ptx/registers.h"
#include "ptx/soft_l1_code.h"

// A loop of the kernel stays where it is and becomes slice 1: it counts what a cache would hit. Slice 2 is a copy of the loop behind the
// kernel's end. Both use the kernel's own registers, so a thread goes from the header in slice 1 to that of slice 2 by a branch,
// when it has counted enough. On every way out of slice 2 what is held is given up.
// Threads of a warp stay together. All ways out of slice 1 meet at one place between the slices, where those that have counted enough
// earlier wait for the others. An inner loop is left as the kernel leaves it: at its header a thread only chooses, and slice 1 goes through
// lines from then on. A way from there to slice 2 would be one that the threads outside the inner loop would have to wait for.
namespace gexp::ptx {
namespace {

constexpr std::int64_t kWork = 50'000'000;  // limit: steps of one transformation, some seconds
constexpr std::uint64_t kStaticShared = 48 << 10;  // fact: bytes that a block's variables in shared memory may have

class Transformation {
 public:
  Transformation(Module& module, Function& kernel, Flow flow, Accesses accesses, SoftL1Code code)
      : module_(module), f_(kernel), flow_(std::move(flow)), a_(std::move(accesses)), code_(std::move(code)) {}

  Result<> run() {
    look_at_blocks();
    code_.begin(a_.loops);
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) original(b);
    if (flow_.blocks.back().begin == flow_.blocks.back().end || goes_on(flow_.blocks.size() - 1)) {
      code_.tell_hits(a_.loops);
      code_.line("ret;");
    }
    for (std::size_t number = 0; number < a_.loops.size(); ++number) {
      code_.enter(number, a_.loops[number]);
      between_slices(*a_.loops[number].loop);
      second_slice(a_.loops[number]);
      code_.aside();
    }
    return replace_body();
  }

 private:
  void look_at_blocks() {
    exits_.resize(flow_.blocks.size()), headers_.resize(flow_.blocks.size()), cached_.resize(flow_.blocks.size());
    for (const Loop& loop : flow_.loops) headers_[loop.header] = true;
    for (std::size_t number = 0; number < a_.loops.size(); ++number) {
      for (const std::size_t b : a_.loops[number].loop->blocks) {
        cached_[b] = number;
        for (const std::size_t to : flow_.blocks[b].to) exits_[to] = exits_[to] || !a_.loops[number].loop->has(to);
      }
    }
  }

  /// Whether a block's end is reached, and nothing follows it.
  [[nodiscard]] bool goes_on(std::size_t b) const {
    const auto* last = f_.body[flow_.blocks[b].end - 1].statement();
    const auto name = last ? Opcode(last->opcode.text).name() : std::string_view();
    return !last || last->guard || (name != "bra" && name != "brx" && name != "ret" && name != "exit" && name != "trap");
  }

  static bool gives_up(const Effect& e) { return e.kind == Effect::Kind::Elsewhere || e.kind == Effect::Kind::Leave; }

  /// A branch that all threads of a warp took together; in two slices they need not be at the same place any more.
  static Statement apart(const Statement& s) {
    Statement made = s;
    if (s.opcode.is("bra.uni") && s.guard) made.opcode.text = "bra";
    return made;
  }

  /// A branch out of slice 1 goes where the slices meet.
  Statement first_slice(const Loop& loop, const Block& block, const Statement& s) {
    Statement made = apart(s);
    const bool out = Opcode(s.opcode.text).name() == "bra" && !loop.has(block.to.front());
    if (out) made.operands.front().token.text = module_.keep(code_.left(block.to.front()));
    return made;
  }

  void original(std::size_t b) {
    const CachedLoop* const loop = cached_[b] ? &a_.loops[*cached_[b]] : nullptr;
    if (loop) code_.enter(*cached_[b], *loop);
    const Block& block = flow_.blocks[b];
    std::size_t i = block.begin;
    for (; i < block.end && std::holds_alternative<Label>(f_.body[i].what); ++i) code_.line("{}", print(f_.body[i]));
    if (exits_[b]) code_.line("{}:", code_.original(b));
    const bool inner = loop && has_inner(*loop->loop);
    if (loop && b == loop->loop->header) code_.leave_when_told(b);
    else if (loop && headers_[b]) code_.choose_when_told(b);
    for (; i < block.end; ++i) {
      const Effect& e = a_.effects[i];
      const auto* s = f_.body[i].statement();
      const auto k = loop && e.kind == Effect::Kind::Access ? loop->index(e.structure) : std::nullopt;
      if (inner && gives_up(e)) code_.give_up_lines();
      if (e.kind == Effect::Kind::Leave) code_.tell_hits(a_.loops);
      if (k && inner) {
        code_.through_line(*s, e, *k, true);
        continue;
      }
      if (k) code_.count_guarded(*s, e, *k);
      if (s && loop) code_.line("{}", print(first_slice(*loop->loop, block, *s)));
      else code_.line("{}", print(f_.body[i]));
    }
    if (loop && block.falls && !loop->loop->has(block.to.back())) code_.line("bra {};", code_.left(block.to.back()));
  }

  /// Whether a loop has others in it.
  [[nodiscard]] bool has_inner(const Loop& loop) const {
    return std::any_of(loop.blocks.begin(), loop.blocks.end(), [&](std::size_t b) { return headers_[b] && b != loop.header; });
  }

  void between_slices(const Loop& loop) {
    std::vector<std::size_t> exits;
    for (const std::size_t b : loop.blocks) {
      for (const std::size_t to : flow_.blocks[b].to) {
        if (!loop.has(to) && std::find(exits.begin(), exits.end(), to) == exits.end()) exits.push_back(to);
      }
    }
    code_.meet(loop.header, exits, has_inner(loop));
  }

  void second_slice(const CachedLoop& cached) {
    std::vector<std::size_t> ways_out;
    const auto& blocks = cached.loop->blocks;
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      const Block& block = flow_.blocks[blocks[at]];
      code_.line("{}:", code_.block(blocks[at]));
      for (std::size_t i = block.begin; i < block.end; ++i) {
        if (const auto* s = f_.body[i].statement()) statement(cached, block, *s, a_.effects[i], ways_out);
      }
      if (!block.falls) continue;
      const std::size_t next = block.to.back();
      if (!cached.loop->has(next)) leave(next);
      else if (at + 1 == blocks.size() || blocks[at + 1] != next) code_.line("bra.uni {};", code_.block(next));
    }
    for (const std::size_t to : ways_out) {
      code_.line("{}:", code_.label("out", to));
      leave(to);
    }
  }

  void leave(std::size_t to) {
    code_.give_up_lines();
    code_.line("bra.uni {};", code_.original(to));
  }

  void statement(const CachedLoop& cached, const Block& block, const Statement& s, const Effect& e, std::vector<std::size_t>& ways_out) {
    if (gives_up(e)) code_.give_up_lines();
    if (e.kind == Effect::Kind::Leave) code_.tell_hits(a_.loops);
    if (const auto k = e.kind == Effect::Kind::Access ? cached.index(e.structure) : std::nullopt) return code_.through_line(s, e, *k);
    if (Opcode(s.opcode.text).name() != "bra") return code_.line("{}", print(s));
    const std::size_t to = block.to.front();
    const bool stays = cached.loop->has(to);
    if (!stays && std::find(ways_out.begin(), ways_out.end(), to) == ways_out.end()) ways_out.push_back(to);
    const std::string target = stays ? code_.block(to) : code_.label("out", to);
    Statement branch = apart(s);
    branch.operands.front().token.text = target;
    code_.line("{}", print(branch));
  }

  Result<> replace_body() {
    const std::string_view text = module_.keep(".entry made() {\n" + code_.take() + "}\n");
    auto made = parse(text);
    if (!made) return made.error();
    auto& kernel = std::get<Function>(made->items.front());
    if (kernel.wrong) return *kernel.wrong;
    f_.body = std::move(kernel.body);
    return Ok{};
  }

  Module& module_;
  Function& f_;
  Flow flow_;
  Accesses a_;
  SoftL1Code code_;
  std::vector<bool> exits_;    // blocks that a slice 2 goes on with when it is left
  std::vector<bool> headers_;  // of any loop
  std::vector<std::optional<std::size_t>> cached_;  // the cached loop that a block is in
};

/// Lines of a thread (3.1): what is left of the shared memory of a multiprocessor that holds so many blocks, divided among its threads.
std::uint32_t lines_of(const Module& module, const Accesses& accesses, const SoftL1& options, std::uint64_t blocks) {
  std::uint64_t taken = options.smem;
  const auto take = [&taken](const Declaration& d) {
    if (d.space == ".shared" && d.sized()) taken += (d.bytes() + 15) / 16 * 16;
  };
  for (const auto& item : module.items) {
    if (const auto* d = std::get_if<Declaration>(&item)) take(*d);
    const auto* f = std::get_if<Function>(&item);
    for (std::size_t i = 0; f && i < f->body.size(); ++i) {
      if (const auto* d = std::get_if<Declaration>(&f->body[i].what)) take(*d);
    }
  }
  std::size_t most = 0;
  for (const CachedLoop& loop : accesses.loops) most = std::max(most, loop.used.size());
  const std::uint64_t share = options.sm.shared / blocks;
  const std::uint64_t room = std::min(share > options.sm.reserved ? share - options.sm.reserved : 0, kStaticShared);
  const std::uint64_t left = room > taken ? room - taken : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(left / options.threads / options.line, most));
}

/// The kernel with lines for a multiprocessor that holds so many blocks.
Result<Transformed> made_for(std::uint64_t blocks, std::string_view text, std::string_view entry, const SoftL1& options) {
  auto module = parse(text, entry);
  if (!module) return module.error();
  for (const auto& item : module->items) {
    if (const auto* f = std::get_if<Function>(&item); f && f->wrong) return *f->wrong;
  }
  const auto found = module->readable(entry);
  if (!found) return found.error();
  Function* const kernel = *found;
  flatten(*module, *kernel);
  auto flow = flow_of(*kernel);
  if (!flow) return flow.error();
  auto accesses = accesses_of(*kernel, *flow, options);
  Transformed made;
  made.loops = static_cast<std::uint32_t>(accesses.loops.size());
  made.why = accesses.why;
  for (const CachedLoop& loop : accesses.loops) {
    for (const Used& used : loop.used) {
      if (std::find(made.structures.begin(), made.structures.end(), used.structure) == made.structures.end()) made.structures.push_back(used.structure);
    }
  }
  std::sort(made.structures.begin(), made.structures.end());
  if (!accesses.loops.empty()) {
    made.lines = lines_of(*module, accesses, options, blocks);
    std::string prefix = "sl";  // of names that the kernel has not
    while (text.find(prefix) != std::string_view::npos) prefix += '_';
    if (options.hits) {
      Declaration told;
      told.name = module->keep(prefix + "_told");
      told.space = ".param", told.type = Type::U64;
      told.words = {{Token::Kind::Word, ".param"}, {Token::Kind::Word, ".u64"}};
      kernel->parameters.push_back(std::move(told));
    }
    SoftL1Code code(*kernel, options, made.lines, std::move(prefix));
    auto done = Transformation(*module, *kernel, std::move(*flow), std::move(accesses), std::move(code)).run();
    if (!done) return done.error();
    bound_threads(*module, *kernel, options.threads);
    made.registers = registers_needed(*kernel);
  }
  made.text = print(*module);
  return made;
}

}  // namespace

// How many blocks fit is known when the registers of the changed kernel are. Lines are storage alone: with more of them it is the same code.
Result<Transformed> soft_l1(std::string_view text, std::string_view entry, const SoftL1& options) {
  const Budget::Work work(kWork);
  auto made = made_for(options.sm.blocks, text, entry, options);
  if (!made || made->registers == 0 || options.sm.registers == 0) return made;
  const std::uint64_t threads = (options.threads + 31) / 32 * 32;
  const std::uint64_t blocks = std::max<std::uint64_t>(options.sm.registers / (threads * made->registers), 1);
  return blocks < options.sm.blocks ? made_for(blocks, text, entry, options) : made;
}

}  // namespace gexp::ptx
