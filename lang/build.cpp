// SPDX-License-Identifier: Apache-2.0
#include "lang/build.h"

#include <fmt/format.h>

#include <charconv>

#include "lang/base/result.h"
#include "lang/build_parts.h"

namespace gexp::lang {
namespace {

class Builder {
 public:
  explicit Builder(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  Statement statement(const Tree& tree) {
    Statement made;
    made.span = tree.span;
    Parts parts(tree, diagnostics_);
    switch (tree.kind) {
      case Kind::Meta: { Meta s; s.key = parts.word(); s.value = parts.text(); made.node = std::move(s); break; }
      case Kind::Use: made.node = use(parts); break;
      case Kind::Param: made.node = param(parts); break;
      case Kind::Let: { Let s; s.name = parts.word(); s.value = parts.expression(); made.node = std::move(s); break; }
      case Kind::Require: { Require s; s.condition = parts.expression(); s.otherwise = parts.text_clause(Kind::ElseText); made.node = std::move(s); break; }
      case Kind::Budget: { Budget s; s.time = parts.clause(Kind::BudgetTime); s.memory = parts.clause(Kind::BudgetMemory); made.node = std::move(s); break; }
      case Kind::Seed: made.node = seed(tree); break;
      case Kind::Memory: made.node = memory(parts); break;
      case Kind::PatternDef: { PatternDef s; s.name = parts.word(); s.value = parts.expression(); made.node = std::move(s); break; }
      case Kind::StageOpen: { Stage s; s.name = parts.word(); s.beside = beside(parts); s.doc = parts.text_clause(Kind::Doc); made.node = std::move(s); break; }
      case Kind::AnalysisOpen: made.node = analysis(parts); break;
      case Kind::Give: { Give s; if (const auto* name = parts.optional(Kind::GivenName)) s.name = word_of(*name->children[0]); s.value = parts.expression(); made.node = std::move(s); break; }
      case Kind::Sweep: made.node = sweep(parts); break;
      case Kind::Skip: { Skip s; s.condition = parts.expression(); s.why = parts.text(); made.node = std::move(s); break; }
      case Kind::Launch: made.node = launch(tree); break;
      case Kind::Transform: { Transform s; s.call = parts.expression(); made.node = std::move(s); break; }
      case Kind::Flush: { Flush s; s.level = parts.word(); made.node = std::move(s); break; }
      case Kind::Warm: made.node = warm(parts); break;
      case Kind::Timed: { Timed s; s.name = parts.word(); s.how = parts.word(); s.body = body(parts.take()); made.node = std::move(s); break; }
      case Kind::RepeatUntil: made.node = repeat(parts); break;
      case Kind::Record: { Record s; s.name = parts.word(); s.keep = parts.word(); made.node = std::move(s); break; }
      case Kind::Derive: { Derive s; s.name = parts.word(); s.type = parts.word(); s.value = parts.expression(); made.node = std::move(s); break; }
      case Kind::Find: { Find s; s.name = parts.word(); s.type = parts.word(); s.analysis = parts.expression(); s.need = parts.clause(Kind::Need); made.node = std::move(s); break; }
      case Kind::Expect: made.node = expect(parts); break;
      case Kind::Plot: made.node = plot(parts); break;
      default: GEXP_CHECK(false);
    }
    return made;
  }

 private:
  Param param(Parts& parts) {
    Param s;
    s.name = parts.word();
    s.type = parts.word();
    s.value = parts.expression();
    if (const auto* found = parts.optional(Kind::Domain)) s.domain = domain(*found);
    s.doc = parts.text_clause(Kind::Doc);
    return s;
  }

  /// A text's node has no quotes; what is pointed at, or replaced by `gexp lock`, has them.
  static Word path(Parts& parts) {
    auto word = word_of(parts.take());
    --word.span.begin, ++word.span.end;
    return word;
  }

  static Word lock(Parts& parts) {
    const auto* clause = parts.optional(Kind::Sha256);
    return clause ? Word{std::string(clause->children[0]->text), {clause->span.begin, clause->span.end + 1}} : Word{};
  }

  static std::optional<Word> beside(Parts& parts) {
    const auto* clause = parts.optional(Kind::Beside);
    return clause ? std::optional(word_of(*clause->children[0])) : std::nullopt;
  }

  static AnalysisDef analysis(Parts& parts) {
    AnalysisDef s;
    s.name = parts.word();
    while (const auto* argument = parts.optional(Kind::ArgumentType)) {
      s.arguments.push_back({word_of(*argument->children[0]), word_of(*argument->children[1])});
    }
    s.type = parts.word();
    s.doc = parts.text_clause(Kind::Doc);
    return s;
  }

  Use use(Parts& parts) {
    Use s;
    s.path = path(parts);
    s.as = parts.word();
    s.sha256 = lock(parts);
    return s;
  }

  Seed seed(const Tree& tree) {
    Seed s;
    const auto& digits = tree.children[0]->text;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), s.value);
    if (parsed.ec != std::errc()) diagnostics_.error("E0109", tree.children[0]->span, "this seed is larger than 2^64 - 1", "any smaller whole number is as random");
    return s;
  }

  Memory memory(Parts& parts) {
    Memory s;
    s.name = parts.word();
    s.element = parts.word();
    s.length = parts.expression();
    s.space = parts.word();
    Once once(diagnostics_);
    while (parts.more()) {
      const auto& clause = parts.take();
      if (!once.add(clause)) continue;
      (clause.kind == Kind::PageClause ? s.page : clause.kind == Kind::HoldsClause ? s.holds : clause.kind == Kind::PitchClause ? s.pitch : s.align) = parts.build(clause.children[0]);
    }
    return s;
  }

  Domain domain(const Tree& tree) {
    Domain made;
    made.span = tree.span;
    Parts parts(tree, diagnostics_);
    auto first = parts.expression();
    if (const auto* to = parts.optional_expression()) {
      made.from = std::move(first);
      made.to = parts.build(to);
      if (auto step = parts.clause(Kind::StepBy)) made.by = Domain::By::Step, made.amount = std::move(step);
      else if (auto times = parts.clause(Kind::TimesBy)) made.by = Domain::By::Times, made.amount = std::move(times);
      else if (const auto* points = parts.optional(Kind::PointsBy)) {
        made.by = points->children.size() > 1 ? Domain::By::LogPoints : Domain::By::Points;
        made.amount = parts.build(points->children[0]);
      }
    } else {
      made.list = std::move(first);
    }
    if (const auto* refine = parts.optional(Kind::Refine)) {
      made.refine_to = parts.build(refine->children[0]);
      made.refine_on = parts.build(refine->children[1]);
    }
    made.until = parts.clause(Kind::Until);
    return made;
  }

  Sweep sweep(Parts& parts) {
    Sweep s;
    while (const auto* name = parts.optional(Kind::Name)) s.names.push_back(word_of(*name));
    s.domain = domain(parts.take());
    return s;
  }

  Launch launch(const Tree& tree) {
    Launch s;
    Once once(diagnostics_);
    for (const auto& clause : tree.children) {
      if (!once.add(*clause)) continue;
      const auto& inner = *clause->children[0];
      if (clause->kind == Kind::Place) {
        s.place = word_of(inner);
        continue;
      }
      ExprPtr* slot = clause->kind == Kind::Grid      ? &s.grid
                      : clause->kind == Kind::Block   ? &s.block
                      : clause->kind == Kind::Cluster ? &s.cluster
                      : clause->kind == Kind::Smem    ? &s.smem
                      : clause->kind == Kind::Persm   ? &s.persm
                      : clause->kind == Kind::Sm      ? &s.sm
                      : clause->kind == Kind::Sms     ? &s.sms
                      : clause->kind == Kind::Limit   ? &s.limit : clause->kind == Kind::Registers ? &s.registers
                      : clause->kind == Kind::Bank    ? &s.bank
                                                      : &s.carveout;
      *slot = build_expression(inner, diagnostics_);
    }
    return s;
  }

  Warm warm(Parts& parts) {
    Warm s;
    Once once(diagnostics_);
    const auto* clause = &parts.take();
    for (; clause->kind == Kind::Grid || clause->kind == Kind::Block; clause = &parts.take()) {
      if (once.add(*clause)) (clause->kind == Kind::Grid ? s.grid : s.block) = build_expression(*clause->children[0], diagnostics_);
    }
    s.body = body(*clause);
    return s;
  }

  RepeatUntil repeat(Parts& parts) {
    RepeatUntil s;
    s.at_least = parts.expression();
    if (const auto* most = parts.optional_expression()) s.at_most = parts.build(most);
    s.until = parts.clause(Kind::Until);
    return s;
  }

  Expect expect(Parts& parts) {
    Expect s;
    s.condition = parts.expression();
    s.where = parts.clause(Kind::Where);
    if (const auto* on = parts.optional(Kind::OnClause)) {
      for (const auto& selector : on->children) s.on.push_back({std::string(selector->text), selector->span});
    }
    s.from = parts.text_clause(Kind::FromClause);
    s.xfail = parts.text_clause(Kind::XfailClause);
    return s;
  }

  Plot plot(Parts& parts) {
    Plot s;
    s.y = parts.expression();
    s.x = parts.expression();
    if (const auto* by = parts.optional(Kind::By)) s.by = word_of(*by->children[0]);
    if (const auto* drawn = parts.optional(Kind::DrawnClause)) s.drawn = word_of(*drawn->children[0]);
    if (const auto* log = parts.optional(Kind::LogClause)) {
      for (const auto& axis : log->children) s.log.push_back(word_of(*axis));
    }
    return s;
  }

  KernelArgument kernel_argument(const Tree& tree) {
    KernelArgument made;
    made.span = tree.span;
    Parts parts(tree, diagnostics_);
    if (const auto* name = parts.optional(Kind::Name)) made.name = word_of(*name), made.entries = parts.clause(Kind::Entries);
    else made.value = parts.expression();
    Once once(diagnostics_);
    while (parts.more()) {
      const auto& clause = parts.take();
      if (!once.add(clause)) continue;
      if (clause.kind == Kind::PatternClause) made.pattern = word_of(*clause.children[0]);
      else made.width = parts.build(clause.children[0]);
    }
    return made;
  }

  KernelCall kernel(Parts& parts) {
    KernelCall made;
    made.path = path(parts);
    made.sha256 = lock(parts);
    made.entry = parts.word();
    Once once(diagnostics_);
    while (parts.more()) {
      const auto& part = parts.take();
      if (part.kind == Kind::KernelArgument) {
        made.arguments.push_back(kernel_argument(part));
      } else if (part.kind == Kind::DefineClause) {
        made.defines.push_back({word_of(*part.children[0]), parts.build(part.children[1])});
      } else if (once.add(part)) {
        for (const auto& value : part.children) made.templates.push_back(parts.build(value));
      }
    }
    return made;
  }

  std::vector<Op> body(const Tree& tree) {
    std::vector<Op> ops;
    for (ops.reserve(tree.children.size()); const auto& part : tree.children) op(*part, ops.emplace_back());
    return ops;
  }

  /// What decides which operations follow, or gives a variable its value.
  void control(Kind kind, Parts& parts, Op& made) {
    switch (kind) {
      case Kind::Branch:
        made.condition = parts.expression();
        made.body = body(parts.take());
        if (const auto* otherwise = parts.optional(Kind::Body)) made.otherwise = body(*otherwise);
        break;
      case Kind::Stamp: made.variable = parts.word(); break;
      case Kind::Keep: made.value = parts.expression(); break;
      case Kind::Interleave: made.body = body(parts.take()); break;
      case Kind::Var:
        made.variable = parts.word();
        made.type = parts.word();
        made.value = parts.expression();
        break;
      case Kind::Assign:
        made.variable = parts.word();
        made.value = parts.expression();
        break;
      case Kind::Loop:
        if (auto* condition = parts.optional_expression()) {
          made.condition = parts.build(condition);
          made.count = parts.clause(Kind::Laps);
          made.body = body(parts.take());
          break;
        }
        [[fallthrough]];
      case Kind::Unroll:
        made.variable = parts.word();
        made.from = parts.expression();
        made.to = parts.expression();
        made.body = body(parts.take());
        break;
      default: GEXP_CHECK(false);
    }
  }

  void op(const Tree& tree, Op& made) {
    made.kind = operation_of(tree.kind);
    made.span = tree.span;
    Parts parts(tree, diagnostics_);
    switch (tree.kind) {
      case Kind::Chase: {
        made.memory = parts.word();
        made.pattern = parts.word();
        const auto& count = parts.take();
        made.laps = count.kind == Kind::Laps;
        made.count = parts.build(count.children[0]);
        break;
      }
      case Kind::Load:
      case Kind::Store:
        made.memory = parts.word();
        if (const auto* by = parts.optional(Kind::PatternClause)) made.pattern = word_of(*by->children[0]);
        else made.at = parts.expression();
        break;
      case Kind::Alu:
        made.instruction = parts.word();
        if (made.instruction.text.find('.') == std::string::npos) {
          made.named = std::make_unique<Expr>();
          made.named->span = made.instruction.span;
          made.named->node = Name{made.instruction.text};
        }
        made.chain = parts.expression();
        made.ilp = parts.expression();
        break;
      case Kind::Signal:
      case Kind::Wait: made.flag = parts.word(); break;
      case Kind::Barrier:
      case Kind::Drain: break;
      case Kind::Discard:
        made.memory = parts.word();
        made.at = parts.expression();
        break;
      case Kind::Atomic:
        made.instruction = parts.word();
        made.memory = parts.word();
        made.at = parts.expression();
        break;
      case Kind::Fence: made.scope = parts.word(); break;
      case Kind::Kernel:
        made.kernel = kernel(parts);
        return;
      default: control(tree.kind, parts, made);
    }
    Once once(diagnostics_);
    while (parts.more()) {
      if (const auto& clause = parts.take(); once.add(clause)) clause_of(clause, parts, made);
    }
  }

  static void clause_of(const Tree& clause, Parts& parts, Op& made) {
    const auto first = [&] { return word_of(*clause.children[0]); };
    switch (clause.kind) {
      case Kind::ViaClause: made.via = first(); break;
      case Kind::HintClause: made.hint = first(); break;
      case Kind::ToClause: made.level = first(); break;
      case Kind::ScopeClause: made.scope = first(); break;
      case Kind::RedWord: made.red = true; break;
      case Kind::WaitFor: made.signals = parts.build(clause.children[0]); break;
      case Kind::WaitWithin: made.bound = parts.build(clause.children[0]); break;
      case Kind::ValueClause: made.value = parts.build(clause.children[0]); break;
      case Kind::RankClause: made.rank = parts.build(clause.children[0]); break;
      case Kind::RowsClause: made.rows = parts.build(clause.children[0]); break;
      case Kind::PitchClause: made.pitch = parts.build(clause.children[0]); break;
      case Kind::FetchClause: made.fetch = parts.build(clause.children[0]); break;
      case Kind::IntoClause:
        if (clause.children.size() < 2) made.gives = first();
        else made.into = first(), made.into_at = parts.build(clause.children[1]);
        break;
      default: made.width = parts.build(clause.children[0]);
    }
  }

  Diagnostics& diagnostics_;
};

}  // namespace

Statement build_statement(const Tree& tree, Diagnostics& diagnostics) { return Builder(diagnostics).statement(tree); }

void build_header(const Tree& tree, File& file, Diagnostics& diagnostics) {
  Parts parts(tree, diagnostics);
  const auto version = parts.word();
  if (version.text != "1") {
    diagnostics.error("E0111", version.span, fmt::format("this gexp reads version 1 of the language, the file is version {}", version.text),
                      version.text.size() > 1 || version.text > "1" ? "a newer gexp may read it" : "write `gexp 1`");
  }
  file.version = 1;
  file.experiment = parts.word();
  file.doc = parts.text_clause(Kind::Doc);
}

}  // namespace gexp::lang
