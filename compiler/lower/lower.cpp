// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "compiler/lower/kernels.h"
#include "compiler/lower/lower_stage.h"
#include "compiler/lower/ops.h"
#include "compiler/memory/memory_space.h"
#include "lang/base/result.h"
#include "lang/dimensions.h"
#include "lang/vocabulary.h"

namespace gexp::compiler {
namespace {

int element_bytes(const std::string& element) { return lang::element_size(element); }

/// What `1elem` means: the one element size of all memories; the checker refuses `elem` where there is no such size.
int common_element(const lang::File& file) {
  int bytes = 0;
  for (const auto& statement : file.statements) {
    if (const auto* memory = std::get_if<lang::Memory>(&statement.node)) bytes = element_bytes(memory->element.text);
  }
  return bytes;
}

/// What a stage declares besides its findings.
std::set<std::string_view> own_names(const Stage& stage) {
  std::set<std::string_view> names{stage.timed_name};
  for (const auto& sweep : stage.sweeps) names.insert(sweep.names.begin(), sweep.names.end());
  for (const auto* bindings : {&stage.bindings, &stage.derives}) {
    for (const auto& binding : *bindings) names.insert(binding.name);
  }
  return names;
}

class Lowering {
 public:
  Lowering(const lang::File& file, const Source& source, const lang::Uses& uses, const Settings& settings, const std::string& prefix, Diagnostics& diagnostics)
      : file_(file), source_(source), uses_(uses), settings_(settings), prefix_(prefix), diagnostics_(diagnostics), element_bytes_(common_element(file)) {}

  Program values() {
    for (const auto& statement : file_.statements) {
      std::visit([&](const auto& node) {
        using Node = std::decay_t<decltype(node)>;
        constexpr bool value = std::is_same_v<Node, lang::Param> || std::is_same_v<Node, lang::Let> || std::is_same_v<Node, lang::PatternDef> ||
                               std::is_same_v<Node, lang::Require> || std::is_same_v<Node, lang::Use>;
        if constexpr (value) lower(node, statement.span);
      }, statement.node);
    }
    return std::move(program_);
  }

  Ir run(bool details) {
    program_.experiment = file_.experiment.text;
    program_.doc = file_.doc;
    program_.stages.reserve(file_.statements.size());
    for (const auto& statement : file_.statements) {
      std::visit([&](const auto& node) { lower(node, statement.span); }, statement.node);
    }
    for (const auto& [name, value] : settings_) {
      const bool known = std::any_of(program_.parameters.begin(), program_.parameters.end(),
                                     [&, &wanted = name](const Parameter& p) { return p.name == wanted; });
      if (!known) unknown_setting(name);
    }
    for (auto& stage : program_.stages) {
      name_arguments(stage, program_.memories, own_names(stage));
      for (const auto* formula : stage_formulas(stage)) {
        std::vector<const Formula*> calls;
        find_unique(**formula, calls);
        if (!calls.empty()) stage.counting.push_back(*formula);
      }
    }
    auto graph = build_graph(details);
    return {std::move(program_), std::move(graph)};
  }

 private:
  FormulaPtr formula(const lang::ExprPtr& expression) {
    return expression ? lower_expression(*expression, element_bytes_) : nullptr;
  }

  void unknown_setting(const std::string& name) {
    std::vector<std::string_view> names;
    for (const auto& parameter : program_.parameters) names.push_back(parameter.name);
    const auto near = nearest(name, names);
    diagnostics_.error("E0409", {}, fmt::format("--set {}: the experiment has no parameter of this name", name),
                       near ? fmt::format("did you mean `{}`?", *near) : "");
  }

  void lower(const lang::Meta& meta, Span) { program_.meta.emplace_back(meta.key.text, meta.value); }

  void lower(const lang::Param& param, Span span) {
    const auto set = settings_.find(prefix_ + param.name.text);
    const auto& expression = set == settings_.end() ? *param.value : *set->second;
    auto value = evaluate(*lower_expression(expression, element_bytes_), scope_);
    if (!value) {
      auto problem = value.error();
      problem.span = span;
      diagnostics_.add(problem);
      return;
    }
    const bool fits = set == settings_.end() || of_type(*value, param);
    if (fits && param.domain && !in_domain(*value, *param.domain)) {
      diagnostics_.error("E0414", param.domain->span,
                         fmt::format("`{}` is {}, which is outside its domain", param.name.text, show(*value)),
                         "give it a value of its domain, or widen that");
    }
    scope_.set(param.name.text, *value);
    program_.parameters.push_back({param.name.text, std::move(*value), param.doc});
  }

  /// A value of --set has seen no checker: E0409 unless it is of the parameter's type.
  bool of_type(const Value& value, const lang::Param& param) {
    const auto type = lang::declared_type(param.type.text);
    const auto* number = value.get<Number>();
    if (!type || !value.known()) return true;
    if (type->number() ? number && (number->dimension == type->dimension || number->number == 0) : value.get<std::string>() != nullptr) return true;
    const bool bytes = type->number() && type->dimension == kBytes && number && number->dimension.none();
    diagnostics_.error("E0409", param.type.span, fmt::format("--set {}{}={}: `{}` is {}", prefix_, param.name.text, show(value), param.name.text, lang::describe(*type)),
                       bytes ? fmt::format("write --set {}{}={}B or {}KiB", prefix_, param.name.text, show(value), show(value)) : "write a value as it stands in the file");
    return false;
  }

  bool in_domain(const Value& value, const lang::Domain& domain) {
    if (domain.list) {
      auto list = evaluate(*formula(domain.list), scope_);
      const auto* items = list ? list->get<List>() : nullptr;
      return items && std::find(items->begin(), items->end(), value) != items->end();
    }
    auto low = evaluate(*formula(domain.from), scope_);
    auto high = evaluate(*formula(domain.to), scope_);
    const auto* n = value.get<Number>();
    const auto* a = low ? low->get<Number>() : nullptr;
    const auto* b = high ? high->get<Number>() : nullptr;
    return n && a && b && n->number >= a->number && n->number <= b->number;
  }

  void lower(const lang::Let& let, Span) {
    program_.lets.push_back({Binding::Kind::Let, let.name.text, formula(let.value)});
    // Later params may read it; what names a thread or the device has no value here.
    if (auto value = evaluate(*program_.lets.back().formula, scope_)) scope_.set(let.name.text, std::move(*value));
  }
  void lower(const lang::PatternDef& pattern, Span) {
    program_.lets.push_back({Binding::Kind::Pattern, pattern.name.text, formula(pattern.value)});
  }
  void lower(const lang::Require& require, Span) {
    program_.requires_.push_back({formula(require.condition), require.otherwise});
  }
  void lower(const lang::Budget& budget, Span) {
    program_.budget_time = formula(budget.time);
    program_.budget_memory = formula(budget.memory);
  }
  void lower(const lang::Seed& seed, Span) { program_.seed = seed.value; }

  void lower(const lang::Memory& memory, Span span) {
    Memory lowered;
    lowered.name = memory.name.text;
    lowered.element_bytes = element_bytes(memory.element.text);
    lowered.element = memory.element.text;
    lowered.length = formula(memory.length);
    lowered.page = formula(memory.page);
    lowered.align = formula(memory.align);
    lowered.holds = formula(memory.holds);
    lowered.pitch = formula(memory.pitch);
    lowered.span = span;
    lowered.space = &memory_space(memory.space.text);
    program_.memories.push_back(std::move(lowered));
  }

  void lower(const lang::Stage& stage, Span span) {
    program_.stages.push_back(lower_stage(stage, span, source_, element_bytes_, scope_, {file_, uses_}, diagnostics_));
    if (stage.beside) join(stage.beside->text);
  }
  /// The last stage runs in the launch of another, at its points: what makes these is its own, too.
  void join(const std::string& beside) {
    const auto own = program_.stages.size() - 1;
    const auto leader = std::find_if(program_.stages.rbegin(), program_.stages.rend(), [&](const Stage& each) { return each.name == beside; });
    auto& stage = program_.stages.back();
    stage.leader = static_cast<std::size_t>(program_.stages.rend() - leader) - 1;
    leader->beside.push_back(own);
    stage.sweeps = leader->sweeps;
    stage.skips = leader->skips;
    stage.bindings.insert(stage.bindings.begin(), leader->bindings.begin(), leader->bindings.end());
    stage.repeat = leader->repeat;
  }
  void lower(const lang::Expect& expect, Span span) {
    program_.expects.push_back(lower_expect(expect, span, source_, element_bytes_));
  }
  /// The used file becomes one value with fields. Its patterns get names of their own too, by which a chase finds them.
  void lower(const lang::Use& use, Span span) {
    const auto name = use.as.text + ".";
    auto used = evaluate_used(uses_[next_use_++], settings_, prefix_ + name, diagnostics_);
    for (auto& parameter : used.parameters) program_.parameters.push_back({name + parameter.name, std::move(parameter.value), std::move(parameter.doc)});
    const auto bind = [&](Binding::Kind kind, const std::string& as, Value value) {
      auto formula = std::make_shared<Formula>();
      formula->span = span;
      formula->constant = std::move(value);
      program_.lets.push_back({kind, as, std::move(formula)});
    };
    for (const auto& [field, value] : used.values) {
      if (value.get<std::shared_ptr<const Pattern>>()) bind(Binding::Kind::Pattern, name + field, value);
    }
    scope_.set(use.as.text, used.values);
    bind(Binding::Kind::Let, use.as.text, std::move(used.values));
  }
  /// Statements of a stage at file level: the checker has refused them.
  template <class T> void lower(const T&, Span) {}

  /// Every named thing a node; an edge wherever a formula reads a name.
  ir::Graph build_graph(bool details) {
    using ir::NodeKind;
    ir::Graph graph;
    std::unordered_map<std::string_view, ir::NodeId> named;
    const auto read = [&](ir::NodeId node, std::string_view name) {
      const auto found = named.find(name);
      if (found != named.end() && found->second != node) graph.depends(node, found->second);
    };
    const auto connect = [&](ir::NodeId node, const FormulaPtr& formula) {
      if (formula) for_each_name(*formula, [&](const std::string& name) { read(node, name); });
    };
    const auto add = [&](NodeKind kind, const std::string& name, std::size_t index, std::string detail) {
      const auto id = graph.add({kind, name, index, std::move(detail)});
      named[name] = id;
      return id;
    };
    for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
      add(NodeKind::Parameter, program_.parameters[i].name, i, details ? "= " + show(program_.parameters[i].value) : "");
    }
    for (std::size_t i = 0; i < program_.lets.size(); ++i) {
      const auto& formula = program_.lets[i].formula;
      const bool used = formula->constant.get<Fields>() != nullptr;  // no formula of the language is a constant with fields
      connect(add(NodeKind::Let, program_.lets[i].name, i, used ? "is a used file" : details ? "= " + show(*formula) : ""), formula);
    }
    for (std::size_t i = 0; i < program_.memories.size(); ++i) {
      const auto& memory = program_.memories[i];
      const auto id = add(NodeKind::Memory, memory.name, i, std::string(memory.space->word));
      for (const auto& formula : {memory.length, memory.page, memory.align, memory.pitch, memory.holds}) connect(id, formula);
    }
    for (std::size_t i = 0; i < program_.stages.size(); ++i) {
      const auto& stage = program_.stages[i];
      const auto id = add(NodeKind::Stage, stage.name, i, details ? stage_summary(stage) : "");
      std::vector<std::string_view> names;
      for (const auto* formula : stage_formulas(stage)) for_each_name(**formula, [&](const std::string& name) { names.push_back(name); });
      for_each_op(stage, [&](const Op& op) { names.insert(names.end(), {op.memory, op.pattern}); });
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
      for (const auto own = own_names(stage); const auto name : names) {
        if (!own.contains(name)) read(id, name);  // its own names hide those of the file
      }
      for (std::size_t f = 0; f < stage.finds.size(); ++f) {
        const auto finding = graph.add({NodeKind::Finding, stage.finds[f].id, f, stage.finds[f].analysis});
        graph.depends(finding, id);
      }
      for (std::size_t e = 0; e < stage.expects.size(); ++e) {
        graph.depends(graph.add({NodeKind::Expectation, stage.name, e, stage.expects[e].text}), id);
      }
    }
    for (std::size_t i = 0; i < program_.expects.size(); ++i) {
      connect(graph.add({NodeKind::Expectation, "expect", i, program_.expects[i].text}), program_.expects[i].condition);
    }
    return graph;
  }

  const lang::File& file_;
  const Source& source_;
  const lang::Uses& uses_;  ///< one a statement, in their order
  const Settings& settings_;
  std::string prefix_;  ///< of this file's parameters in the settings: "m."
  Diagnostics& diagnostics_;
  std::size_t next_use_ = 0;
  int element_bytes_;
  Program program_;
  Names scope_;
};

}  // namespace

Ir lower(const lang::File& file, const Source& source, const lang::Uses& uses, const Settings& settings, Diagnostics& diagnostics,
         bool details) {
  return Lowering(file, source, uses, settings, "", diagnostics).run(details);
}

Program lower_values(const lang::File& file, const Source& source, const lang::Uses& uses, const Settings& settings, const std::string& prefix,
                     Diagnostics& diagnostics) {
  return Lowering(file, source, uses, settings, prefix, diagnostics).values();
}

}  // namespace gexp::compiler
