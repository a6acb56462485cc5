// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiler/codegen/body_writer.h"
#include "compiler/lower/ops.h"
#include "lang/base/budget.h"
#include "compiler/plan/calibrate.h"

// Text is made for one point: what is unrolled, how wide loads are and how many chains run beside each other are part of it; all
// other values are arguments, so points that differ in those alone have the same text and share a kernel.
namespace gexp::compiler {
namespace {

constexpr double kMaxKept = 1 << 24;  // values of a launch
constexpr std::uint32_t kFewestBound = 256;  // threads: fewer have no more registers
constexpr int kCalibratingPasses = kRegionTimes / 2;  // in each of which loops turn twice

}  // namespace

/// A compiler uses what some loads brought before it makes the others, to save registers for blocks that share a multiprocessor: on an
/// H200 eight loads went two at a time. So it is told that one block is enough, of as many threads as this one, or a few more: each
/// bound is a kernel of its own.
std::string BodyWriter::bounds() const {
  if (in_flight_ < 2) return {};
  return fmt::format("__launch_bounds__({}, 1) ", std::max(kFewestBound, std::bit_ceil(place_.block)));
}

Diagnostic BodyWriter::error(Span span, std::string code, std::string message, std::string hint) {
  Diagnostic diagnostic = failure(std::move(code), std::move(message), std::move(hint));
  diagnostic.span = span;
  return diagnostic;
}

Result<BodyText> BodyWriter::write() {
  std::string warm, timed;
  if (place_.timing == Timing::Values) kept_argument_ = code_.argument("kept", 0);
  text_ = &warm;
  rehearsed_ = false;
  depth_ = 3;
  if (auto problem = body(place_.warm, 1)) return std::move(*problem);
  text_ = &timed;
  rehearsed_ = true;
  depth_ = 2;
  if (auto problem = body(place_.timed, 1)) return std::move(*problem);
  if (place_.timing == Timing::Values) {
    if (static_cast<double>(plan_.kept + 1) * place_.grid * place_.block > kMaxKept) {
      return error(place_.stage.span, "E0418", fmt::format("{} threads keep up to {} values each: a record has at most {}", std::uint64_t{place_.grid} * place_.block, plan_.kept, kMaxKept),
                   "keep fewer, or launch fewer threads");
    }
    code_.settle_argument(kept_argument_, static_cast<std::int64_t>(plan_.kept + 1));
  }
  MemoryTexts texts;
  if (auto problem = memories(texts)) return std::move(*problem);
  warm.insert(0, before_loops_);
  for (const auto& policy : policies_) {
    append(texts.setup, "  asm volatile(\".reg .b64 gexp_{0}; createpolicy.fractional.L2::{1}.b64 gexp_{0};\");\n", policy, policy.substr(3));
  }
  for (std::size_t i = 0; i < plan_.tables.size(); ++i) {
    append(texts.parameters, ", const u32* table{}", i);
    plan_.parameters.push_back({KernelParameter::Kind::Table, "", i, 0});
  }
  for (std::size_t i = 0; i < code_.values().size(); ++i) {
    append(texts.parameters, ", long long a{}", i);
    plan_.parameters.push_back({KernelParameter::Kind::Value, "", 0, code_.values()[i]});
  }
  // No block reads what another has not written yet, and none ends while another may still access it.
  const std::string meet = ranks_.empty() ? "" : "  asm volatile(\"barrier.cluster.arrive; barrier.cluster.wait;\" ::: \"memory\");\n";
  texts.setup += meet;
  const auto settled = place_.timed.empty() ? "" : settle_text("sum");
  BodyText made{std::move(texts.constants), std::move(texts.parameters), std::move(texts.setup), std::move(warm), std::move(addresses_),
                std::move(timed), settled, place_.role ? "" : meet + record(),
                calibration_text(place_.timing, settled, first_, first_chase_, first_manner_, first_width_, first_loads_), calibrates_, barriers_, calibrates_ ? 2 + kCalibratingPasses : 2};
  if (!Budget::spend_bytes(made.parameters.size() + made.setup.size() + made.constants.size() + made.warm.size() +
                           made.addresses.size() + made.timed.size())) {
    return Budget::exceeded(place_.stage.span);
  }
  return made;
}

Result<Shape> BodyWriter::run() {
  auto made = write();
  if (!made) return made.error();
  const Span span = place_.timed.empty() ? place_.stage.span : place_.timed[0].span;
  const bool chosen = place_.chosen;
  Placing where;
  if (chosen) {
    const char* const words = place_.timing == Timing::Each ? "window * ((blockDim.x + 31) / 32)" : "3 * ((blockDim.x + 31) / 32)";
    where = placing({{"records", words}, {"overhead", std::to_string(kCalibrationWords)}}, "dynamic");
  }
  Shape shape{&kBodyTemplate,
              {{"bounds", bounds()},
               {"cta", chosen ? "0" : "blockIdx.x"},
               {"first_pass", place_.timing == Timing::Wall ? "1" : "0"},
               {"passes", std::to_string(made->passes)},
               {"alone", calibrates_ && !barriers_ ? "if (pass > 1 && gtid >= 32) continue;" : ""}},
              span};
  shape.take({{"placing", &where.parameters}, {"leave", &where.leave}, {"constants", &made->constants}, {"parameters", &made->parameters},
              {"setup", &made->setup}, {"warm", &made->warm}, {"addresses", &made->addresses}, {"timed", &made->timed},
              {"settle", &made->settle}, {"record", &made->record}, {"calibrate", &made->calibrate}});
  return shape;
}

std::optional<Diagnostic> BodyWriter::body(const Body& ops, double rounds) {
  Region region{rounds, {}, 0, {}};
  if (auto problem = list(ops, region)) return problem;
  consume_loaded(region);
  for (const auto& result : region.results) consume(result);
  return std::nullopt;
}

std::optional<Diagnostic> BodyWriter::list(const Body& ops, Region& region) {
  auto outside = code_.bound();
  for (const auto& op : ops) {
    if (++operations_ > kMaxOperations) {
      return error(op.span, "E0432", fmt::format("this body unrolls to more than {} operations", kMaxOperations), "use `loop` instead of `unroll`");
    }
    Problem problem;
    switch (op.kind) {
#define GEXP_OPERATION(word, kind, ...) \
  case Op::Kind::kind: problem = word(op, region); break;
#include "lang/statements.def"
    }
    if (problem) return problem;
  }
  code_.restore(std::move(outside));  // a variable ends with its body
  return std::nullopt;
}

std::optional<Diagnostic> BodyWriter::barrier(const Op& op, Region&) {
  const auto agree = conditions_.empty() ? std::optional(true) : blocks_agree(conditions_, threads(), rounds_around());
  if (!may_hang(place_.stage)) {
    const char* const hint = "put the barrier behind the `branch`, take whole blocks (`branch cta mod 2 == 0`), or ask: `expect hang`";
    if (!agree) return error(op.span, "E0436", "whether all threads of a block reach this barrier cannot be told", hint);
    if (!*agree) return error(op.span, "E0436", "not all threads of a block reach this barrier, so the others wait for ever", hint);
  }
  barriers_ = barriers_ || rehearsed_;
  // What threads of a warp do that come to a barrier apart is undefined of `bar.sync`, which is `barrier.sync.aligned`.
  const char* const sync = agree && *agree ? "bar.sync" : "barrier.sync";
  line(place_.role ? "GEXP_MEET();" : fmt::format("asm volatile(\"/*barrier*/ {} 0;\" ::: \"memory\");", sync));
  return std::nullopt;
}

void BodyWriter::consume_loaded(Region& region) {
  in_flight_ = std::max(in_flight_, region.loaded.size() - region.stored);
  for (; region.stored < region.loaded.size(); ++region.stored) consume(region.loaded[region.stored]);
}

void BodyWriter::consume(const Loaded& value) {
  if (value.width < 8) {
    line("asm volatile(\"{{ .reg .u64 w; cvt.u64.u32 w, %1; xor.b64 %0, %0, w; }}\" : \"+l\"(sum) : \"r\"({}) : \"memory\");", value.name);
    return;
  }
  line("asm volatile(\"xor.b64 %0, %0, %1;\" : \"+l\"(sum) : \"l\"({}) : \"memory\");", value.name);
  if (value.width == 16) line("asm volatile(\"xor.b64 %0, %0, %1;\" : \"+l\"(sum) : \"l\"({}h) : \"memory\");", value.name);
}

void BodyWriter::begin_timing(const std::string& settled) {
  if (!each()) return;
  line(settled);
  line("t0 = gexp_clock();");
}

void BodyWriter::end_timing(const Op& op, const Memory& memory, const std::string& now) {
  if (!each()) return;
  line("t1 = {};", now);
  if (!first_ && (op.kind == Op::Kind::Load || op.kind == Op::Kind::Chase) && op.into.empty() && has_chain(memory, op.via)) {
    calibrates_ = true;
    line("if (pass > 1 && gtid == 0 && calibrated < {}) overhead[{} + calibrated++] = gexp_ticks(t0, t1, ~0u);", kRegionTimes, 2 * kChainTimes);
  }
  line("if (pass == 1 && lane == 0) { if (taken >= skip && taken - skip < window) "
       "((unsigned short*)dynamic)[trace_at + (u32)warp * window + taken - skip] = gexp_ticks(t0, t1, 65535u); ++taken; }");
}

std::string BodyWriter::record() const {
  switch (place_.timing) {
    case Timing::Wall: return "";
    case Timing::Values: return fmt::format("  records[gtid * {}] = taken;\n", kept_argument_);
    case Timing::Total:
      return "  u32 sm; asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(sm));\n"
             "  if (lane == 0) { u32* const mine = records + 3 * (cta * ((blockDim.x + 31) / 32) + warp); mine[0] = (u32)begin; mine[1] = (u32)end; mine[2] = sm; }\n";
    case Timing::Each:
      return "  __syncthreads();\n"
             "  if (lane == 0) for (u32 i = 0; i < window; ++i) records[warp * window + i] = i + skip < taken ? ((unsigned short*)dynamic)[trace_at + (u32)warp * window + i] : 0xffffffffu;\n";
  }
  return "";
}

Result<BodyText> body_text(const BodyPlace& place, const std::vector<Chased>& chases, BodyPlan& plan) {
  return BodyWriter(place, chases, plan).write();
}

Result<Shape> body_shape(const BodyPlace& place, const std::vector<Chased>& chases, BodyPlan& plan) {
  return BodyWriter(place, chases, plan).run();
}

}  // namespace gexp::compiler
