// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "compiler/codegen/instructions.h"
#include "compiler/codegen/thread_code.h"
#include "compiler/compile_budget.h"
#include "compiler/formula/each_thread.h"
#include "compiler/lower/ops.h"
#include "compiler/plan/access.h"
#include "compiler/plan/calibrate.h"
#include "compiler/plan/expand.h"

// Text is made for one point: what is unrolled, how wide loads are and how many chains run beside each other are part of it; all
// other values are arguments, so points that differ in those alone have the same text and share a kernel.
namespace gexp::compiler {
namespace {

constexpr std::int64_t kMaxCount = std::int64_t{1} << 32;
constexpr int kMaxOperations = 4096;   // after unrolling: bounds the text and the compile
constexpr int kCellBytes = 16;         // idle cell of shared, local and constant memories

Diagnostic error(Span span, std::string code, std::string message, std::string hint = {}) {
  Diagnostic diagnostic = failure(std::move(code), std::move(message), std::move(hint));
  diagnostic.span = span;
  return diagnostic;
}

struct Loaded {
  std::string name;
  int width;
};

class Writer {
 public:
  Writer(const BodyPlace& place, const std::vector<Chased>& chases, BodyPlan& plan)
      : place_(place), chases_(chases), plan_(plan), code_(place.scope, place.lets, thread_ranges(place.grid, place.block)) {}

  Result<Shape> run() {
    std::string warm, timed;
    text_ = &warm;
    rehearsed_ = false;
    depth_ = 3;
    if (auto problem = body(place_.warm, 1)) return std::move(*problem);
    warm = before_loops_ + warm;
    text_ = &timed;
    rehearsed_ = true;
    depth_ = 2;
    if (auto problem = body(place_.timed, 1)) return std::move(*problem);
    std::string parameters, setup, constants;
    if (auto problem = memories(parameters, setup, constants)) return std::move(*problem);
    for (std::size_t i = 0; i < plan_.tables.size(); ++i) {
      parameters += fmt::format(", const u32* table{}", i);
      plan_.parameters.push_back({KernelParameter::Kind::Table, "", i, 0});
    }
    for (std::size_t i = 0; i < code_.values().size(); ++i) {
      parameters += fmt::format(", long long a{}", i);
      plan_.parameters.push_back({KernelParameter::Kind::Value, "", 0, code_.values()[i]});
    }
    std::string bounds;
    if (place_.stage.launch.cluster) {
      std::int64_t cluster = 1;
      auto checked = code_.whole_argument(*place_.stage.launch.cluster, 1, 16, "the cluster", &cluster);
      if (!checked) return checked.error();
      if (place_.grid % cluster != 0) {
        return error(place_.stage.launch.cluster->span, "E0418", fmt::format("a grid of {} blocks cannot be cut into clusters of {}", place_.grid, cluster), "take a grid that is a multiple of the cluster");
      }
      bounds = fmt::format("__cluster_dims__({}, 1, 1)", cluster);
    }
    if (!CompileBudget::spend_bytes(parameters.size() + setup.size() + constants.size() + warm.size() + addresses_.size() + timed.size())) {
      return CompileBudget::exceeded(place_.stage.span);
    }
    const Span span = place_.timed.empty() ? place_.stage.span : place_.timed[0].span;
    const auto settled = place_.timed.empty() ? "" : settle_text("sum");
    const bool chosen = place_.chosen;
    const auto where = placing(chosen, {{"records", place_.timing == Timing::Each ? "window * ((blockDim.x + 31) / 32)" : "3 * ((blockDim.x + 31) / 32)"}, {"overhead", std::to_string(kCalibrationWords)}}, "dynamic");
    return Shape{"body.cu",
                 {{"placing", where.parameters}, {"leave", where.leave}, {"cta", chosen ? "0" : "blockIdx.x"}, {"bounds", bounds}, {"constants", constants}, {"parameters", parameters}, {"setup", setup}, {"warm", warm},
                  {"passes", place_.timing == Timing::Wall ? "1" : "0"}, {"addresses", addresses_}, {"timed", timed}, {"settle", settled},
                  {"record", record()}, {"calibrate", calibration_text(place_.timing, settled, first_, first_chase_, first_via_, first_width_)}},
                 span};
  }

 private:
  using Problem = std::optional<Diagnostic>;

  Threads threads() const { return {code_.scope(), place_.lets, place_.grid, place_.block}; }
  void line(const std::string& text) { *text_ += std::string(static_cast<std::size_t>(depth_) * 2, ' ') + text + "\n"; }
  bool each() const { return rehearsed_ && place_.timing == Timing::Each; }
  std::string fresh(const char* prefix) { return fmt::format("{}{}", prefix, next_++); }

  Result<const Memory*> memory_of(const Op& op) {
    for (const auto& memory : place_.program.memories) {
      if (memory.name != op.memory) continue;
      used_.insert(memory.name);
      return &memory;
    }
    return error(op.span, "E0408", fmt::format("`{}` is no memory here", op.memory));
  }
  Result<int> width_of(const Op& op, const Memory& memory) { return access_width(op, memory, code_.scope()); }

  /// The operations of a body, then the consumption of what they loaded. `rounds`: how often the body runs in all.
  Problem body(const Body& ops, double rounds) {
    std::vector<Loaded> loaded;
    std::size_t stored = 0;
    if (auto problem = list(ops, rounds, loaded, stored)) return problem;
    for (std::size_t i = stored; i < loaded.size(); ++i) consume(loaded[i]);
    return std::nullopt;
  }

  Problem list(const Body& ops, double rounds, std::vector<Loaded>& loaded, std::size_t& stored) {
    for (const auto& op : ops) {
      if (++operations_ > kMaxOperations) {
        return error(op.span, "E0432", fmt::format("this body unrolls to more than {} operations", kMaxOperations), "use `loop` instead of `unroll`");
      }
      Problem problem;
      switch (op.kind) {
        case Op::Kind::Chase: problem = chase(op, rounds); break;
        case Op::Kind::Load: problem = load(op, rounds, loaded); break;
        case Op::Kind::Store: problem = store(op, rounds, loaded, stored); break;
        case Op::Kind::Alu: problem = alu(op); break;
        case Op::Kind::Barrier: line("asm volatile(\"/*barrier*/ bar.sync 0;\" ::: \"memory\");"); break;
        case Op::Kind::Branch: problem = branch(op, rounds); break;
        case Op::Kind::Unroll: problem = unroll(op, rounds, loaded, stored); break;
        case Op::Kind::Loop: problem = loop(op, rounds); break;
      }
      if (problem) return problem;
    }
    return std::nullopt;
  }

  void consume(const Loaded& value) {
    if (value.width < 8) {
      line(fmt::format("asm volatile(\"{{ .reg .u64 w; cvt.u64.u32 w, %1; xor.b64 %0, %0, w; }}\" : \"+l\"(sum) : \"r\"({}) : \"memory\");", value.name));
      return;
    }
    line(fmt::format("asm volatile(\"xor.b64 %0, %0, %1;\" : \"+l\"(sum) : \"l\"({}) : \"memory\");", value.name));
    if (value.width == 16) line(fmt::format("asm volatile(\"xor.b64 %0, %0, %1;\" : \"+l\"(sum) : \"l\"({}h) : \"memory\");", value.name));
  }

  /// Holds the next clock read back until a value is there.
  void settle(const std::string& value) { line(settle_text(value)); }
  void begin_timing() {
    if (each()) line("asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(t0) :: \"memory\");");
  }
  /// After the consumer: the clock, and the trace by the first lane of each warp.
  void end_timing() {
    if (!each()) return;
    line("asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(t1) :: \"memory\");");
    line("if (pass == 1 && lane == 0) { if (taken >= skip && taken - skip < window) "
         "((unsigned short*)dynamic)[trace_at + (u32)warp * window + taken - skip] = t1 - t0 < 65535u ? t1 - t0 : 65535u; ++taken; }");
  }

  static std::string base_of(const Memory& memory) { return memory.space == Space::Texture ? "0ull" : "m_" + memory.name; }

  /// The variable that holds an access's address, settled before timing begins; loops move it on.
  Result<std::string> address(const Op& op, const Memory& memory, int width) {
    auto bytes = memory_bytes(memory, place_.scope);
    if (!bytes) return bytes.error();
    if (auto problem = inside(op, memory, *bytes, width)) return std::move(*problem);
    auto offset = code_.offset(*op.at);
    if (!offset) return offset.error();
    const auto base = base_of(memory);
    if (!offset->affine) {
      return rehearsed_ ? fmt::format("(pass == 1 ? {} + (u64){} : {})", base, offset->rest, idle_cell(memory)) : fmt::format("({} + (u64){})", base, offset->rest);
    }
    const auto name = fresh("x");
    auto& settled = rehearsed_ ? addresses_ : before_loops_;
    const std::string indent = rehearsed_ ? "    " : "      ";
    settled += rehearsed_ ? fmt::format("{}u64 {} = pass == 1 ? {} + (u64){} : {};\n", indent, name, base, offset->rest, idle_cell(memory))
                          : fmt::format("{}u64 {} = {} + (u64){};\n", indent, name, base, offset->rest);
    std::string current = name;
    for (auto& enclosing : enclosing_) {
      const auto slope = std::find_if(offset->slopes.begin(), offset->slopes.end(), [&](const auto& s) { return s.first == enclosing.variable; });
      const auto step = fmt::format("{}_{}", name, enclosing.variable);
      // An address that a loop does not move is moved by a zero that no compiler can know: else one load would do for all rounds,
      // unless a store or a barrier between them makes memory another.
      const std::string still = enclosing.only_loads ? "zero" : "0ll";
      const std::string by = slope == offset->slopes.end() ? still : slope->second;
      settled += rehearsed_ ? fmt::format("{}const u64 {} = pass == 1 ? (u64){} : 0ull;\n", indent, step, by)
                            : fmt::format("{}const u64 {} = (u64){};\n", indent, step, by);
      const auto inner = fmt::format("{}i{}", current, enclosing.variable);
      enclosing.begins += fmt::format("u64 {} = {} + (u64){} * {}; ", inner, current, enclosing.from, step);
      enclosing.ends += fmt::format("{} += {}; ", inner, step);
      current = inner;
    }
    return current;
  }

  /// E0420 and E0421 unless every access of every thread and round is inside the memory and aligned.
  Problem inside(const Op& op, const Memory& memory, std::uint64_t bytes, int width) {
    auto range = code_.range(*op.at);
    if (!range) return range.error();
    const double last = static_cast<double>(bytes) - width;
    const bool aligned = std::fmod(range->low, width) == 0 && range->grid % static_cast<std::uint64_t>(width) == 0;
    const auto reaches = [&] {
      auto& reach = plan_.reach[memory.name];
      reach = std::max(reach, static_cast<std::uint64_t>(range->high) + static_cast<std::uint64_t>(width));
      return std::nullopt;
    };
    if (range->low >= 0 && range->high <= last && aligned) return reaches();
    if (auto exact = listed_range(*op.at, threads(), rounds_around())) range = *exact;
    else if (range->low == range->high) range->grid = 0;
    if (range->low < 0 || range->high > last) {
      const double worst = range->low < 0 ? range->low : range->high;
      return error(op.at->span, "E0420",
                   fmt::format("an access of {} B at offset {} is outside the {} of `{}`", width, worst, show(static_cast<double>(bytes), kBytes), memory.name),
                   range->low < 0 ? fmt::format("add {} to the offset", show(-range->low, kBytes)) : fmt::format("make `{}` longer, or the offsets smaller", memory.name));
    }
    if (std::fmod(range->low, width) != 0 || range->grid % static_cast<std::uint64_t>(width) != 0) {
      return error(op.at->span, "E0421", fmt::format("not every offset here is a multiple of the {} B that are accessed", width),
                   fmt::format("multiply by {}B, or access less with `as`", width));
    }
    return reaches();
  }

  std::vector<LoopRounds> rounds_around() const {
    std::vector<LoopRounds> loops;
    for (const auto& enclosing : enclosing_) loops.emplace_back(enclosing.variable, code_.ranges().at(enclosing.variable));
    return loops;
  }
  void count(const Op& op, const Memory& memory, double rounds, int width) {
    if (!rehearsed_) return;
    if (!first_) first_ = &memory, first_chase_ = op.kind == Op::Kind::Chase, first_via_ = op.kind == Op::Kind::Store ? Via::Default : op.via, first_width_ = width;
    // A run this long never ends; its counts need only not overflow.
    constexpr double kMost = 1125899906842624.0;  // 2^50
    plan_.moved += static_cast<std::uint64_t>(std::min(kMost, rounds * threads_where(conditions_, threads(), rounds_around()) * width));
    plan_.accesses += static_cast<std::int64_t>(std::min(kMost, rounds));
  }

  /// The access says which statement it is: NVRTC copies the text of inline PTX, comments too, and a fault names it.
  static std::string noted(const std::string& statement, std::string text) {
    for (const std::string_view begin : {"tex.1d", "ld.", "st."}) {
      if (const auto at = text.find(begin); at != std::string::npos) return text.insert(at, fmt::format("/*{}*/ ", statement));
    }
    return text;
  }

  Problem load(const Op& op, double rounds, std::vector<Loaded>& loaded) {
    auto memory = memory_of(op);
    if (!memory) return memory.error();
    auto width = width_of(op, **memory);
    if (!width) return width.error();
    if (auto fine = accepts(op, **memory, *width); !fine) return fine.error();
    auto at = address(op, **memory, *width);
    if (!at) return at.error();
    const auto value = fresh("v");
    line(fmt::format("{0} {1}{2};", value_type(*width), value, *width == 16 ? ", " + value + "h" : ""));
    begin_timing();
    line(noted("load " + op.memory, load_text(**memory, op.via, *width, *at, value)));
    if (each()) {
      consume({value, *width});
      settle("sum");
      end_timing();
    } else {
      loaded.push_back({value, *width});
    }
    count(op, **memory, rounds, *width);
    return std::nullopt;
  }

  /// A store writes what the load that stands like it has read; without one, the thread's number.
  Problem store(const Op& op, double rounds, std::vector<Loaded>& loaded, std::size_t& stored) {
    auto memory = memory_of(op);
    if (!memory) return memory.error();
    auto width = width_of(op, **memory);
    if (!width) return width.error();
    if (auto fine = accepts(op, **memory, *width); !fine) return fine.error();
    auto at = address(op, **memory, *width);
    if (!at) return at.error();
    std::string value;
    if (stored < loaded.size() && loaded[stored].width == *width) {
      value = loaded[stored++].name;
    } else {
      value = fresh("v");
      line(fmt::format("const {0} {1} = ({0})gtid{2};", value_type(*width), value, *width == 16 ? fmt::format(", {}h = (u64)gtid", value) : ""));
    }
    begin_timing();
    line(noted("store " + op.memory, store_text(**memory, op.via, *width, *at, value)));
    end_timing();
    count(op, **memory, rounds, *width);
    return std::nullopt;
  }

  /// Where a chase stands, as names of variables. It begins once: a round of a loop, or of an `unroll`, goes on where the last one ended.
  struct Cursor {
    std::string base, at, steps;
  };

  void begin_chase(const Op& op, const Memory& memory, int width, const Chased& chased, const Cursor& cursor) {
    const auto& pattern = *chased.pattern;
    const auto& [base, at, steps] = cursor;
    // The first link of each ring: of every thread where rings differ between threads.
    const std::size_t table = plan_.tables.size();
    std::vector<std::uint32_t> first;
    for (std::int64_t thread = 0; thread < pattern.threads; ++thread) {
      const auto link = pattern.steps > 0 ? static_cast<std::uint64_t>(pattern.at(thread, 0) / width) : 0;
      first.push_back(static_cast<std::uint32_t>(link));
      first.push_back(static_cast<std::uint32_t>(link >> 32));
    }
    plan_.tables.push_back(std::move(first));
    const std::string ring = pattern.threads == 1 ? "0" : pattern.threads == place_.block ? "tid" : "gtid";
    const auto number = code_.argument(fmt::format("steps {}", table), chased.steps);
    auto& settled = rehearsed_ ? addresses_ : before_loops_;
    const std::string indent = rehearsed_ ? "    " : "      ";
    const bool fetched = memory.space == Space::Texture || op.via == Via::Tex;
    const std::string start = fmt::format("((const u64*)table{})[{}] * {}", table, ring, fetched ? 1 : width);
    if (rehearsed_) {
      settled += fmt::format("{}const u64 {} = pass == 1 ? {} : {};\n", indent, base, base_of(memory), idle_cell(memory));
      settled += fmt::format("{}u64 {} = {} + (pass == 1 ? {} : 0ull);\n", indent, at, base, start);
      settled += fmt::format("{}const u64 {} = pass == 1 ? (u64){} : ({} < 16 ? (u64){} : 16ull);\n", indent, steps, number, number, number);
    } else {
      settled += fmt::format("{}const u64 {} = {};\n{}u64 {} = {} + {};\n{}const u64 {} = {};\n", indent, base, base_of(memory), indent, at, base, start, indent, steps, number);
    }
    // An index has no base to be added to: without an instruction that reads it, the first fetch would wait for the table.
    if (fetched) settled += fmt::format("{}asm volatile(\"add.u64 %0, %0, 0;\" : \"+l\"({}) :: \"memory\");\n", indent, at);
  }

  Problem chase(const Op& op, double rounds) {
    const auto found = std::find_if(chases_.begin(), chases_.end(), [&](const Chased& c) { return c.op == &op; });
    GEXP_CHECK(found != chases_.end());
    auto memory = memory_of(op);
    if (!memory) return memory.error();
    auto width = width_of(op, **memory);
    if (!width) return width.error();
    if (auto fine = accepts(op, **memory, *width); !fine) return fine.error();
    const auto [cursor, begins] = cursors_.try_emplace(&op);
    if (begins) {
      cursor->second = {fresh("b"), fresh("x"), fresh("n")};
      begin_chase(op, **memory, *width, *found, cursor->second);
    }
    const auto& [base, at, steps] = cursor->second;
    const auto link = fresh("l");
    line(fmt::format("{} {} = 0;", value_type(link_bytes(*width)), link));
    line("#pragma unroll 1");
    line(fmt::format("for (u64 i = 0; i < {}; ++i) {{", steps));
    ++depth_;
    begin_timing();
    line(step_text(**memory, op.via, *width, at, link, base));
    if (each()) settle(at);
    end_timing();
    --depth_;
    line("}");
    if (!each()) consume({at, 8});
    else line(fmt::format("sum ^= {};", at));
    count(op, **memory, rounds * static_cast<double>(found->steps), *width);
    return std::nullopt;
  }

  Problem alu(const Op& op) {
    const auto* instruction = find_instruction(op.instruction);
    if (!instruction) {
      std::vector<std::string_view> names;
      for (const auto& known : instructions()) names.push_back(known.name);
      const auto near = nearest(op.instruction, names);
      const auto typed = std::find_if(names.begin(), names.end(), [&](std::string_view name) { return name.starts_with(op.instruction + "."); });
      return error(op.instruction_span, "E0430", fmt::format("`{}` is no instruction that `alu` can chain", op.instruction),
                   typed != names.end() ? fmt::format("an instruction has a type: `{}`", *typed)
                   : near             ? fmt::format("did you mean `{}`?", *near)
                                      : "fma.f32, add.u32 and mul.f64 are some; docs/language/alu.md lists them");
    }
    std::int64_t beside = 1, steps = 0;
    auto checked = code_.whole_argument(*op.ilp, 1, 32, "the number of chains", &beside);
    if (!checked) return checked.error();
    auto chain = code_.whole_argument(*op.chain, 1, kMaxCount, "the length of a chain", &steps);
    if (!chain) return chain.error();
    const auto value = fresh("r");
    auto& settled = rehearsed_ ? addresses_ : before_loops_;
    const std::string indent = rehearsed_ ? "    " : "      ";
    settled += fmt::format("{0}const {1} {2}_c = ({1})(window != 0xffffffffu);\n", indent, instruction->type, value);  // 1, and the compiler does not know it
    // A jump costs a chain some cycles that nothing hides, so there are few: blocks that fit the innermost instruction cache, and
    // what is left in one straight piece, which is part of the text. A block that no round would run is not written: instructions
    // that are skipped still lie between those that run, and make the code longer than was asked.
    const auto block = alu_block(beside);
    std::string links;
    for (std::int64_t i = 0; i < beside; ++i) {
      settled += fmt::format("{0}{1} {2}_{3} = ({1})(tid + {3});\n", indent, instruction->type, value, i);
      links += fmt::format("asm volatile(\"{}\" : \"+{}\"({}_{}) : \"{}\"({}_c) : \"memory\"); ", instruction->ptx, instruction->letter, value, i, instruction->letter, value);
    }
    if (steps >= block) {
      const auto rounds = fresh("n");
      settled += fmt::format("{}const u32 {} = (u32)({} / {});\n", indent, rounds, *chain, block);
      line("#pragma unroll 1");
      line(fmt::format("for (u32 i = 0; i < {}; ++i) {{", rounds));
      line(fmt::format("  _Pragma(\"unroll\") for (int j = 0; j < {}; ++j) {{ {}}}", block, links));
      line("}");
    }
    if (steps % block > 0) line(fmt::format("_Pragma(\"unroll\") for (int j = 0; j < {}; ++j) {{ {}}}", steps % block, links));
    for (std::int64_t i = 0; i < beside; ++i) {
      const bool wide = instruction->letter == 'l' || instruction->letter == 'd';
      line(wide ? fmt::format("asm volatile(\"{{ .reg .b64 w; mov.b64 w, %1; xor.b64 %0, %0, w; }}\" : \"+l\"(sum) : \"{}\"({}_{}) : \"memory\");", instruction->letter, value, i)
                : fmt::format("asm volatile(\"{{ .reg .b32 w; .reg .b64 d; mov.b32 w, %1; cvt.u64.u32 d, w; xor.b64 %0, %0, d; }}\" : \"+l\"(sum) : \"{}\"({}_{}) : \"memory\");", instruction->letter, value, i));
    }
    return std::nullopt;
  }

  Problem branch(const Op& op, double rounds) {
    auto condition = code_.text(*op.condition);
    if (!condition) return condition.error();
    line(fmt::format("if ({}) {{", *condition));
    conditions_.push_back(op.condition.get());
    ++depth_;
    auto problem = body(op.body, rounds);
    --depth_;
    conditions_.pop_back();
    line("}");
    return problem;
  }

  Problem unroll(const Op& op, double rounds, std::vector<Loaded>& loaded, std::size_t& stored) {
    std::int64_t from = 0, to = 0;
    for (const auto& [bound, value] : {std::pair{op.from.get(), &from}, std::pair{op.to.get(), &to}}) {
      auto number = evaluate(*bound, code_.scope());
      if (!number) return number.error();
      const auto* n = number->get<Number>();
      if (!n || n->number != std::floor(n->number) || std::fabs(n->number) > kMaxCount) {
        return error(bound->span, "E0418", fmt::format("the bound of an unroll is {}: a whole number is wanted", show(*number)), "`div` divides without a rest, floor(x) and ceil(x) round");
      }
      *value = static_cast<std::int64_t>(n->number);
    }
    for (std::int64_t round = from; round <= to && !op.body.empty(); ++round) {
      code_.set_round(op.variable, static_cast<double>(round));
      if (auto problem = list(op.body, rounds, loaded, stored)) return problem;
    }
    return std::nullopt;
  }

  struct Enclosing {
    std::string variable, from;  ///< its first round, as text
    std::string begins, ends;    ///< pointers of the accesses inside: declared before the loop, moved on at the end of a round
    bool only_loads = true;      ///< no store and no barrier inside
  };

  Problem loop(const Op& op, double rounds) {
    std::int64_t from = 0, to = 0;
    auto first = code_.whole_argument(*op.from, -kMaxCount, kMaxCount, "the start of a loop", &from);
    if (!first) return first.error();
    auto last = code_.whole_argument(*op.to, -kMaxCount, kMaxCount, "the end of a loop", &to);
    if (!last) return last.error();
    if (to < from) return std::nullopt;  // this point has no round; its text differs from that of points that have some
    code_.begin_loop(op.variable, {static_cast<double>(from), static_cast<double>(to), to > from ? 1u : 0u});
    enclosing_.push_back({op.variable, *first, "", "", true});
    for_each_op(op.body, [&](const Op& inner) { enclosing_.back().only_loads &= inner.kind != Op::Kind::Store && inner.kind != Op::Kind::Barrier; });
    std::string inner;
    auto* outer = std::exchange(text_, &inner);
    depth_ += 2;
    auto problem = body(op.body, rounds * static_cast<double>(to - from + 1));
    depth_ -= 2;
    text_ = outer;
    const auto made = enclosing_.back();
    enclosing_.pop_back();
    code_.end_loop();
    if (problem) return problem;
    const auto count = fresh("n"), i = fresh("i");
    line("{");
    line(fmt::format("  {}", made.begins));
    line(fmt::format("  const u32 {} = {};", count, rehearsed_ ? fmt::format("pass == 1 || {0} - {1} < 1 ? (u32)({0} - {1} + 1) : 2u", *last, *first) : fmt::format("(u32)({} - {} + 1)", *last, *first)));
    line("  #pragma unroll 1");
    line(fmt::format("  for (u32 {0} = 0; {0} < {1}; ++{0}) {{", i, count));
    line(fmt::format("    const long long {} = {} + {}; (void){};", op.variable, *first, i, op.variable));
    *text_ += inner;
    line(fmt::format("    {}", made.ends));
    line("  }");
    line("}");
    return std::nullopt;
  }

  Problem memories(std::string& parameters, std::string& setup, std::string& constants) {
    std::uint64_t shared = 0;
    const std::string in = "  ";
    std::string links;
    for (const auto& memory : place_.program.memories) {
      if (!used_.contains(memory.name)) continue;
      auto bytes = memory_bytes(memory, place_.scope);
      if (!bytes) return bytes.error();
      const auto padded = (*bytes + 15) / 16 * 16;
      const bool by_texture = memory.space == Space::Texture || fetched(memory.name);
      if (by_texture) {
        parameters += fmt::format(", u64 t_{}", memory.name);
        plan_.parameters.push_back({KernelParameter::Kind::Texture, memory.name, 0, 0});
      }
      switch (memory.space) {
        case Space::Texture: break;
        case Space::Global:
          parameters += fmt::format(", u64 m_{}", memory.name);
          plan_.parameters.push_back({KernelParameter::Kind::Memory, memory.name, 0, 0});
          break;
        case Space::Shared:
          setup += fmt::format("{}const u64 m_{} = shared + {};\n", in, memory.name, shared);
          shared += padded;
          break;
        case Space::Constant:
          if (padded + kCellBytes > 65536) {
            return error(memory.length->span, "E0424", fmt::format("`{}` has {}: constant memory holds {}", memory.name, show(static_cast<double>(*bytes), kBytes), show(65536.0 - kCellBytes, kBytes)), "larger ones are in `readonly` or `global`");
          }
          constants += fmt::format("extern \"C\" {{ __constant__ u32 c_{}[{}]; }}\n", memory.name, (padded + kCellBytes) / 4);
          setup += fmt::format("{0}u64 m_{1}; asm(\"cvta.to.const.u64 %0, %1;\" : \"=l\"(m_{1}) : \"l\"(c_{1}));\n", in, memory.name);
          setup += fmt::format("{}const u64 idle_constant = m_{} + {};\n", in, memory.name, padded);
          break;
        case Space::Local:
          if (padded > 65536) return error(memory.length->span, "E0424", fmt::format("`{}` has {}: a thread's local memory holds 64 KiB here", memory.name, show(static_cast<double>(*bytes), kBytes)), "larger ones are in `global`");
          setup += fmt::format("{0}u32 l_{1}[{2}]; u64 m_{1}; asm volatile(\"cvta.to.local.u64 %0, %1;\" : \"=l\"(m_{1}) : \"l\"(l_{1}) : \"memory\");\n", in, memory.name, (padded + kCellBytes) / 4);
          setup += fmt::format("{0}const u64 idle_local = m_{1} + {2}; asm volatile(\"st.local.v4.u32 [%0], {{%1, %1, %1, %1}};\" :: \"l\"(idle_local), \"r\"(0) : \"memory\");\n", in, memory.name, padded);
          break;
      }
      if (memory.space == Space::Shared || memory.space == Space::Local) links += links_of(memory);
    }
    if (shared > 0) {
      setup += fmt::format("{0}const u64 idle_shared = shared + {1}; if (threadIdx.x == 0) dynamic[{2}] = dynamic[{2} + 1] = dynamic[{2} + 2] = dynamic[{2} + 3] = 0;\n", in, shared, shared / 4);
      shared += kCellBytes;
    }
    plan_.shared_bytes = shared;
    setup += links;
    return std::nullopt;
  }

  bool fetched(const std::string& memory) {
    bool found = false;
    for_each_op(place_.stage, [&](const Op& op) { found = found || (op.memory == memory && op.via == Via::Tex); });
    return found;
  }

  /// Threads write the links of shared and local memories themselves, from tables of offsets and links.
  std::string links_of(const Memory& memory) {
    std::string text;
    for (const auto& chased : chases_) {
      if (chased.op->memory != memory.name) continue;
      auto width = width_of(*chased.op, memory);
      if (!width) continue;
      const auto& pattern = *chased.pattern;
      std::vector<std::uint32_t> offsets, targets;
      for (std::int64_t thread = 0; thread < pattern.threads; ++thread) {
        for (std::int64_t step = 0; step < pattern.steps; ++step) {
          offsets.push_back(static_cast<std::uint32_t>(pattern.at(thread, step)));
          targets.push_back(static_cast<std::uint32_t>(pattern.at(thread, (step + 1) % pattern.steps) / *width));
        }
      }
      const auto count = offsets.size();
      const auto table = plan_.tables.size();
      offsets.insert(offsets.end(), targets.begin(), targets.end());
      plan_.tables.push_back(std::move(offsets));
      const auto number = code_.argument(fmt::format("links {}", table), static_cast<std::int64_t>(count));
      const bool shared = memory.space == Space::Shared;
      text += fmt::format("  for (long long i = {0}; i < {1}; i += {2}) {{ const u64 at = m_{3} + table{4}[i]; ", shared ? "tid" : "0", number, shared ? "blockDim.x" : "1", memory.name, table);
      text += link_bytes(*width) == 8
                  ? fmt::format("asm volatile(\"st.{}.u64 [%0], %1;\" :: \"l\"(at), \"l\"((u64)table{}[i + {}]) : \"memory\"); }}\n", word(memory.space), table, number)
                  : fmt::format("asm volatile(\"st.{}.u32 [%0], %1;\" :: \"l\"(at), \"r\"(table{}[i + {}]) : \"memory\"); }}\n", word(memory.space), table, number);
    }
    return text;
  }

  std::string record() const {
    switch (place_.timing) {
      case Timing::Wall: return "";
      case Timing::Total:
        return "  u32 sm; asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(sm));\n"
               "  if (lane == 0) { u32* const mine = records + 3 * (cta * ((blockDim.x + 31) / 32) + warp); mine[0] = begin; mine[1] = end; mine[2] = sm; }\n";
      case Timing::Each:
        return "  __syncthreads();\n"
               "  if (lane == 0) for (u32 i = 0; i < window; ++i) records[warp * window + i] = i + skip < taken ? ((unsigned short*)dynamic)[trace_at + (u32)warp * window + i] : 0xffffffffu;\n";
    }
    return "";
  }

  const BodyPlace& place_;
  const std::vector<Chased>& chases_;
  BodyPlan& plan_;
  ThreadCode code_;
  std::string* text_ = nullptr;
  std::string addresses_, before_loops_;
  std::vector<Enclosing> enclosing_;
  std::vector<const Formula*> conditions_;
  std::map<const Op*, Cursor> cursors_;  ///< of the chases so far, of the warm-up or of the timed region: each has its own operations
  std::set<std::string> used_;
  const Memory* first_ = nullptr;  ///< what the timed region accesses first, and how
  bool first_chase_ = false;
  Via first_via_ = Via::Default;
  int first_width_ = 4;
  bool rehearsed_ = false;
  int depth_ = 2, operations_ = 0, next_ = 0;
};

}  // namespace

Result<Shape> body_shape(const BodyPlace& place, const std::vector<Chased>& chases, BodyPlan& plan) {
  return Writer(place, chases, plan).run();
}

}  // namespace gexp::compiler
