// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower_stage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "compiler/lower/lower.h"
#include "compiler/lower/ops.h"
#include "lang/limits.h"
#include "lang/vocabulary.h"

namespace gexp::compiler {
namespace {

class StageLowering {
 public:
  StageLowering(const Source& source, int element_bytes, const Scope& scope, const OwnAnalyses& own, Diagnostics& diagnostics)
      : source_(source), element_bytes_(element_bytes), scope_(scope), own_(own), diagnostics_(diagnostics) {}

  Stage run(const lang::Stage& stage, Span span) {
    stage_.name = stage.name.text;
    stage_.doc = stage.doc;
    stage_.span = span;
    for (const auto& item : stage.items) {
      std::visit([&](const auto& node) { lower(node, item.span); }, item.node);
    }
    if (!timed_) {
      diagnostics_.error("E0503", span, fmt::format("stage `{}` times nothing", stage_.name),
                         "add a statement such as `timed lat each { chase A by ring laps 2 }`");
    }
    return std::move(stage_);
  }

 private:
  FormulaPtr formula(const lang::ExprPtr& expression) {
    return expression ? lower_expression(*expression, element_bytes_) : nullptr;
  }

  void lower(const lang::Sweep& sweep, Span span) {
    Sweep lowered;
    for (const auto& name : sweep.names) lowered.names.push_back(name.text);
    const auto& domain = sweep.domain;
    using By = lang::Domain::By;
    lowered.kind = domain.list                ? Sweep::Kind::List
                   : domain.by == By::Times   ? Sweep::Kind::Times
                   : domain.by == By::Points  ? Sweep::Kind::Points
                   : domain.by == By::LogPoints ? Sweep::Kind::LogPoints
                                              : Sweep::Kind::Step;
    lowered.list = formula(domain.list);
    lowered.from = formula(domain.from);
    lowered.to = formula(domain.to);
    lowered.by = formula(domain.amount);
    lowered.refine_to = formula(domain.refine_to);
    const auto* around = lang::refined_around(domain);
    lowered.refine_on = formula(around ? *around : domain.refine_on);
    lowered.refine_highest = around != nullptr;
    lowered.until = formula(domain.until);
    lowered.span = span;
    stage_.sweeps.push_back(std::move(lowered));
  }
  void lower(const lang::Skip& skip, Span) { stage_.skips.push_back({formula(skip.condition), skip.why}); }
  void lower(const lang::Let& let, Span) {
    stage_.bindings.push_back({Binding::Kind::Let, let.name.text, formula(let.value)});
  }
  void lower(const lang::PatternDef& pattern, Span) {
    stage_.bindings.push_back({Binding::Kind::Pattern, pattern.name.text, formula(pattern.value)});
  }
  void lower(const lang::Require& require, Span) {
    stage_.requires_.push_back({formula(require.condition), require.otherwise});
  }
  void lower(const lang::Launch& launch, Span span) {
    stage_.launch = {formula(launch.grid),  formula(launch.block),    formula(launch.cluster), formula(launch.smem),
                     formula(launch.persm), formula(launch.carveout), formula(launch.bank), formula(launch.sm), formula(launch.sms), formula(launch.limit),
                     formula(launch.registers), launch.place ? launch.place->text : "",
                     span};
  }
  void lower(const lang::Transform& transform, Span) {
    const auto& call = std::get<lang::Call>(transform.call->node);
    SoftCache made{nullptr, nullptr, nullptr, transform.call->span};
    for (const auto& argument : call.arguments) {
      const auto& label = argument.label->text;
      (label == "line" ? made.line : label == "hits" ? made.hits : made.monitor) = formula(argument.value);
    }
    stage_.transform = std::move(made);
  }
  void lower(const lang::Flush& flush, Span span) { stage_.flushes.push_back({flush.level.text, span}); }
  void lower(const lang::Warm& warm, Span) {
    const bool kernel = !warm.body.empty() && warm.body.front().kind == lang::Op::Kind::Kernel;
    const bool apart = warm.grid || warm.block || kernel;
    auto& body = apart ? stage_.warm_launches.emplace_back(WarmLaunch{formula(warm.grid), formula(warm.block), {}}).body : stage_.warm;
    body.reserve(body.size() + warm.body.size());
    for (const auto& op : warm.body) body.push_back(lower_op(op, element_bytes_));
  }
  void lower(const lang::Timed& timed, Span) {
    timed_ = true;
    stage_.timed_name = timed.name.text;
    stage_.timing = timed.how.text == "each" ? Timing::Each : timed.how.text == "total" ? Timing::Total : timed.how.text == "values" ? Timing::Values : Timing::Wall;
    stage_.timed.reserve(stage_.timed.size() + timed.body.size());
    for (const auto& op : timed.body) stage_.timed.push_back(lower_op(op, element_bytes_));
  }
  void lower(const lang::RepeatUntil& repeat, Span) {
    stage_.repeat.at_least = whole(repeat.at_least, 5);
    stage_.repeat.at_most = repeat.at_most ? whole(repeat.at_most, stage_.repeat.at_least) : stage_.repeat.at_least;
    stage_.repeat.until = formula(repeat.until);
    if (stage_.repeat.at_least < 1 || stage_.repeat.at_most < stage_.repeat.at_least) {
      diagnostics_.error("E0415", repeat.at_least->span,
                         fmt::format("`{}` is no number of repetitions", source_.slice(cover(repeat.at_least->span, repeat.at_most ? repeat.at_most->span : Span{}))),
                         "write `repeat LEAST..MOST until CONDITION`, LEAST at least 1");
    } else if (static_cast<double>(stage_.repeat.at_most) > lang::kMaxRepetitions) {  // computed; the checker sees written ones
      diagnostics_.error("E0441", repeat.at_least->span, fmt::format("a point is repeated at most {:.0f} times", lang::kMaxRepetitions));
    }
  }
  void lower(const lang::Record& record, Span) {
    stage_.keep = record.keep.text == "histogram" ? Keep::Histogram : record.keep.text == "summary" ? Keep::Summary : Keep::Raw;
  }
  void lower(const lang::Derive& derive, Span) {
    stage_.derives.push_back({Binding::Kind::Derive, derive.name.text, formula(derive.value)});
  }
  void lower(const lang::Find& find, Span span) {
    Question question;
    question.id = stage_.name + "." + find.name.text;
    question.type = find.type.text;
    question.span = span;
    if (find.need) {
      const auto need = evaluate(*formula(find.need), scope_);
      if (const auto* n = need ? need->get<Number>() : nullptr) question.need = n->number;
    }
    const auto call = lower_expression(*find.analysis, element_bytes_);
    const auto* analysis = lang::find_callable(call->text);
    if (!analysis) {
      for (auto& part : lower_own_analysis(*call, own_, question, diagnostics_)) stage_.finds.push_back(std::move(part));
      return;
    }
    question.analysis = call->text;
    question.arguments = call->arguments;
    question.each = analysis->by == lang::Callable::Clause::Never;
    stage_.finds.push_back(std::move(question));
  }
  void lower(const lang::Expect& expect, Span span) {
    stage_.expects.push_back(lower_expect(expect, span, source_, element_bytes_));
  }
  void lower(const lang::Plot& plot, Span span) {
    Plot lowered{formula(plot.y), formula(plot.x), plot.by ? plot.by->text : "", {}, span};
    for (const auto& axis : plot.log) lowered.log.push_back(axis.text);
    lowered.heatmap = plot.drawn && plot.drawn->text == "heatmap";
    stage_.plots.push_back(std::move(lowered));
  }
  template <class T> void lower(const T&, Span) {}  // statements of the file level: refused by the checker

  std::int64_t whole(const lang::ExprPtr& expression, std::int64_t otherwise) {
    if (!expression) return otherwise;
    const auto value = evaluate(*formula(expression), scope_);
    const auto* n = value ? value->get<Number>() : nullptr;
    return n && n->number == std::floor(n->number) && std::fabs(n->number) < 1e9 ? static_cast<std::int64_t>(n->number) : 0;
  }

  const Source& source_;
  int element_bytes_;
  const Scope& scope_;
  const OwnAnalyses& own_;
  Diagnostics& diagnostics_;
  Stage stage_;
  bool timed_ = false;
};

}  // namespace

Stage lower_stage(const lang::Stage& stage, Span span, const Source& source, int element_bytes, const Scope& scope, const OwnAnalyses& own, Diagnostics& diagnostics) {
  return StageLowering(source, element_bytes, scope, own, diagnostics).run(stage, span);
}

Expectation lower_expect(const lang::Expect& expect, Span span, const Source& source, int element_bytes) {
  Expectation lowered;
  lowered.condition = lower_expression(*expect.condition, element_bytes);
  if (expect.where) lowered.where = lower_expression(*expect.where, element_bytes);
  for (const auto& selector : expect.on) lowered.on.push_back(selector.text);
  lowered.from = expect.from;
  lowered.xfail = expect.xfail;
  lowered.text = std::string(source.slice(expect.condition->span));
  lowered.span = span;
  return lowered;
}

std::vector<const FormulaPtr*> stage_formulas(const Stage& stage) {
  std::vector<const FormulaPtr*> all;
  const auto add = [&](const auto&... formulas) {
    const auto one = [&](const FormulaPtr& formula) {
      if (formula) all.push_back(&formula);
    };
    (one(formulas), ...);
  };
  for (const auto& sweep : stage.sweeps) {
    add(sweep.from, sweep.to, sweep.by, sweep.list, sweep.refine_to, sweep.refine_on, sweep.until);
  }
  for (const auto& binding : stage.bindings) add(binding.formula);
  for (const auto& require : stage.requires_) add(require.condition);
  for (const auto& skip : stage.skips) add(skip.condition);
  const auto& launch = stage.launch;
  add(launch.grid, launch.block, launch.cluster, launch.smem, launch.persm, launch.carveout, launch.bank, launch.sm, launch.sms);
  add(launch.limit, launch.registers, stage.repeat.until);
  if (stage.transform) add(stage.transform->line, stage.transform->monitor);
  for (const auto& warm : stage.warm_launches) add(warm.grid, warm.block);
  for_each_op(stage, [&](const Op& op) {
    add(op.count, op.width, op.at, op.rank, op.chain, op.ilp, op.condition, op.from, op.to, op.signals, op.bound, op.value);
    if (!op.kernel) return;
    for (const auto& argument : op.kernel->arguments) add(argument.value, argument.entries, argument.width);
    for (const auto& value : op.kernel->templates) add(value);
    for (const auto& define : op.kernel->defines) add(define.value);
  });
  for (const auto& derive : stage.derives) add(derive.formula);
  for (const auto& find : stage.finds) {
    add(find.combined);
    for (const auto& argument : find.arguments) add(argument.value, argument.over, argument.where);
  }
  return all;
}

void find_unique(const Formula& formula, std::vector<const Formula*>& found) {
  if (formula.kind == Formula::Kind::Call && formula.text == "unique" && formula.arguments.size() == 1) found.push_back(&formula);
  for (const auto& operand : formula.operands) find_unique(*operand, found);
  for (const auto& argument : formula.arguments) {
    for (const auto& part : {argument.value, argument.over, argument.where}) {
      if (part) find_unique(*part, found);
    }
  }
  for (const auto& loop : formula.loops) {
    for (const auto& part : {loop.from, loop.to, loop.step}) {
      if (part) find_unique(*part, found);
    }
  }
}

std::string stage_summary(const Stage& stage) {
  std::string text;
  for (const auto& sweep : stage.sweeps) text += fmt::format("sweep {}; ", fmt::join(sweep.names, ","));
  if (stage.transform) text += "transform soft_l1; ";
  for (const auto& flush : stage.flushes) text += fmt::format("flush {}; ", flush.level);
  for (const auto& warm : stage.warm_launches) text += fmt::format("warm launch {}; ", show(warm.body));
  if (!stage.warm.empty()) text += fmt::format("warm {}; ", show(stage.warm));
  return text + fmt::format("timed {} {}: {}", stage.timed_name, word(stage.timing), show(stage.timed));
}

}  // namespace gexp::compiler
