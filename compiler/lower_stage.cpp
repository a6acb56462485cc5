// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower_stage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "compiler/lower.h"

namespace gexp::compiler {
namespace {

std::optional<Via> find_via(const std::string& text) {
  if (text == "ca") return Via::Ca;
  if (text == "cg") return Via::Cg;
  if (text == "cv") return Via::Cv;
  if (text == "nc") return Via::Nc;
  return std::nullopt;
}

class StageLowering {
 public:
  StageLowering(const Source& source, int element_bytes, Diagnostics& diagnostics)
      : source_(source), element_bytes_(element_bytes), diagnostics_(diagnostics) {}

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
  void refuse(Span span, const std::string& what, const std::string& hint = {}) {
    diagnostics_.error("E0502", span, what + " cannot be run yet", hint);
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
    lowered.refine_on = formula(domain.refine_on);
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
    if (launch.cluster || launch.smem || launch.persm || launch.place) {
      refuse(span, "`cluster`, `smem`, `persm` and `place` of a launch", "grid, block, carveout and bank can");
    }
    stage_.launch = {formula(launch.grid), formula(launch.block), formula(launch.carveout), formula(launch.bank), span};
  }
  void lower(const lang::Flush&, Span span) {
    refuse(span, "`flush`", "a launch begins with cold SM-private caches; warm what else matters");
  }
  void lower(const lang::Warm& warm, Span) {
    for (const auto& op : warm.body) {
      if (auto chase = lower_chase(op)) stage_.warm.push_back(std::move(*chase));
    }
  }
  void lower(const lang::Timed& timed, Span span) {
    if (timed_) {
      refuse(span, "a second timed region in one stage", "write a stage for each");
      return;
    }
    timed_ = true;
    stage_.timed_name = timed.name.text;
    if (timed.how.text == "wall") refuse(timed.how.span, "`timed … wall`", "`each` and `total` can");
    stage_.timing = timed.how.text == "each" ? Timing::Each : Timing::Total;
    if (timed.body.size() != 1) {
      refuse(span, fmt::format("a timed region of {} operations", timed.body.size()), "one chase can");
      return;
    }
    if (auto chase = lower_chase(timed.body[0])) stage_.timed = std::move(*chase);
  }
  void lower(const lang::RepeatUntil& repeat, Span) {
    stage_.repeat.at_least = whole(repeat.at_least, 5);
    stage_.repeat.at_most = repeat.at_most ? whole(repeat.at_most, stage_.repeat.at_least) : stage_.repeat.at_least;
    stage_.repeat.until = formula(repeat.until);
    if (stage_.repeat.at_least < 1 || stage_.repeat.at_most < stage_.repeat.at_least) {
      diagnostics_.error("E0415", repeat.at_least->span,
                         fmt::format("{}..{} is no number of repetitions", stage_.repeat.at_least, stage_.repeat.at_most),
                         "write `repeat LEAST..MOST until CONDITION`, LEAST at least 1");
    }
  }
  void lower(const lang::Record& record, Span) {
    if (record.keep.text != "raw") refuse(record.keep.span, fmt::format("`record … {}`", record.keep.text), "`raw` can");
  }
  void lower(const lang::Derive& derive, Span) {
    stage_.derives.push_back({Binding::Kind::Derive, derive.name.text, formula(derive.value)});
  }
  void lower(const lang::Find& find, Span span) {
    Question question;
    question.id = stage_.name + "." + find.name.text;
    question.type = find.type.text;
    const auto call = lower_expression(*find.analysis, element_bytes_);
    question.analysis = call->text;
    question.arguments = call->arguments;
    question.span = span;
    if (find.need) {
      const auto need = evaluate(*formula(find.need), Names());
      if (const auto* n = need ? need->get<Number>() : nullptr) question.need = n->number;
    }
    stage_.finds.push_back(std::move(question));
  }
  void lower(const lang::Expect& expect, Span span) {
    stage_.expects.push_back(lower_expect(expect, span, source_, element_bytes_));
  }
  void lower(const lang::Plot& plot, Span span) {
    Plot lowered{formula(plot.y), formula(plot.x), plot.by ? plot.by->text : "", {}, span};
    for (const auto& axis : plot.log) lowered.log.push_back(axis.text);
    stage_.plots.push_back(std::move(lowered));
  }
  template <class T> void lower(const T&, Span) {}  // statements of the file level: refused by the checker

  std::int64_t whole(const lang::ExprPtr& expression, std::int64_t otherwise) {
    if (!expression) return otherwise;
    const auto value = evaluate(*formula(expression), Names());
    const auto* n = value ? value->get<Number>() : nullptr;
    return n && n->number == std::floor(n->number) && std::fabs(n->number) < 1e9 ? static_cast<std::int64_t>(n->number) : 0;
  }

  std::optional<Chase> lower_chase(const lang::Op& op) {
    if (op.kind != lang::Op::Kind::Chase) {
      refuse(op.span, "this operation", "`chase` can");
      return std::nullopt;
    }
    Chase chase;
    chase.memory = op.memory.text;
    chase.pattern = op.pattern.text;
    chase.count = formula(op.count);
    chase.laps = op.laps;
    chase.width = formula(op.width);
    chase.span = op.span;
    if (op.via) {
      if (const auto via = find_via(op.via->text)) {
        chase.via = *via;
      } else {
        refuse(op.via->span, fmt::format("`via {}`", op.via->text), "ca, cg, cv and nc can");
      }
    }
    return chase;
  }

  const Source& source_;
  int element_bytes_;
  Diagnostics& diagnostics_;
  Stage stage_;
  bool timed_ = false;
};

}  // namespace

const char* word(Via via) {
  switch (via) {
    case Via::Ca: return "ca";
    case Via::Cg: return "cg";
    case Via::Cv: return "cv";
    case Via::Nc: return "nc";
    case Via::Default: break;
  }
  return "";
}

Stage lower_stage(const lang::Stage& stage, Span span, const Source& source, int element_bytes, Diagnostics& diagnostics) {
  return StageLowering(source, element_bytes, diagnostics).run(stage, span);
}

Expectation lower_expect(const lang::Expect& expect, Span span, const Source& source, int element_bytes) {
  Expectation lowered;
  lowered.condition = lower_expression(*expect.condition, element_bytes);
  for (const auto& selector : expect.on) lowered.on.push_back(selector.text);
  lowered.from = expect.from;
  lowered.xfail = expect.xfail;
  lowered.text = std::string(source.slice(expect.condition->span));
  lowered.span = span;
  return lowered;
}

std::vector<FormulaPtr> stage_formulas(const Stage& stage) {
  std::vector<FormulaPtr> all;
  for (const auto& sweep : stage.sweeps) {
    all.insert(all.end(), {sweep.from, sweep.to, sweep.by, sweep.list, sweep.refine_to, sweep.refine_on, sweep.until});
  }
  for (const auto& binding : stage.bindings) all.push_back(binding.formula);
  for (const auto& require : stage.requires_) all.push_back(require.condition);
  for (const auto& skip : stage.skips) all.push_back(skip.condition);
  all.insert(all.end(), {stage.launch.grid, stage.launch.block, stage.launch.carveout, stage.launch.bank, stage.repeat.until});
  for (const auto* chase : stage_chases(stage)) all.insert(all.end(), {chase->count, chase->width});
  for (const auto& derive : stage.derives) all.push_back(derive.formula);
  for (const auto& find : stage.finds) {
    for (const auto& argument : find.arguments) all.insert(all.end(), {argument.value, argument.over, argument.where});
  }
  std::erase(all, nullptr);
  return all;
}

std::vector<const Chase*> stage_chases(const Stage& stage) {
  std::vector<const Chase*> all;
  for (const auto& chase : stage.warm) all.push_back(&chase);
  all.push_back(&stage.timed);
  return all;
}

std::string stage_summary(const Stage& stage) {
  std::string text;
  for (const auto& sweep : stage.sweeps) text += fmt::format("sweep {}; ", fmt::join(sweep.names, ","));
  if (!stage.warm.empty()) text += fmt::format("warm {} chase; ", stage.warm.size());
  const std::string via = word(stage.timed.via);
  return text + fmt::format("timed {} {}: chase {} by {}{}", stage.timed_name, stage.timing == Timing::Each ? "each" : "total",
                            stage.timed.memory, stage.timed.pattern, via.empty() ? "" : " via " + via);
}

}  // namespace gexp::compiler
