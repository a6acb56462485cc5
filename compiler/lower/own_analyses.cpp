// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/own_analyses.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/lower/lower.h"
#include "lang/own_analysis.h"
#include "lang/vocabulary.h"

// An analysis of one's own is written out where it is asked: its arguments take the places of their names, each analysis in it becomes a
// question, whose answer is read by the question's id, and what it gives is a formula of these answers. No name of the stage can be meant
// by one of the analysis: those are gone, save those of the language, and the checker has refused stages where they mean another thing.
namespace gexp::compiler {
namespace {

constexpr std::size_t kMostNodes = 1 << 14, kMostDepth = 1000;

/// A formula with its measures, however often its parts are shared.
struct Measured {
  FormulaPtr formula;
  std::size_t nodes = 1, depth = 1;
};

struct Found {
  const lang::AnalysisDef* definition = nullptr;
  OwnAnalyses among;
};

const lang::AnalysisDef* defined_in(const lang::File& file, const std::string& name) {
  for (const auto& statement : file.statements) {
    const auto* definition = std::get_if<lang::AnalysisDef>(&statement.node);
    if (definition && definition->name.text == name) return definition;
  }
  return nullptr;
}

/// The checker has seen that there is one.
Found find_own(const std::string& callee, const OwnAnalyses& among) {
  const auto dot = callee.find('.');
  if (dot == std::string::npos) return {defined_in(among.file, callee), among};
  std::size_t index = 0;
  for (const auto& statement : among.file.statements) {
    const auto* use = std::get_if<lang::Use>(&statement.node);
    if (!use) continue;
    const auto& used = among.uses.at(index++);
    if (use->as.text == callee.substr(0, dot)) return {defined_in(*used.file, callee.substr(dot + 1)), {*used.file, used.uses}};
  }
  return {nullptr, among};
}

bool is_structure(const Formula& formula) { return formula.kind == Formula::Kind::Call && formula.text == "structure"; }

FormulaPtr both(const FormulaPtr& a, const FormulaPtr& b) {
  if (!a || !b) return a ? a : b;
  auto made = std::make_shared<Formula>();
  made->kind = Formula::Kind::And;
  made->span = a->span;
  made->operands = {a, b};
  return made;
}

class Writer {
 public:
  Writer(const Question& asked, Diagnostics& diagnostics) : asked_(asked), diagnostics_(diagnostics) {}

  std::vector<Question> run(const Formula& call, const OwnAnalyses& among) {
    Context stage{among};
    auto whole = asked_;
    const auto given = own(call, stage, "");
    const auto* first = call.arguments.empty() ? nullptr : &call.arguments.front();
    whole.analysis = call.text;
    whole.combined = given.formula;
    whole.each = first && !first->by.empty();
    for (const auto& part : parts_) whole.parts.push_back(part.id);
    if (too_large_) {
      diagnostics_.error("E0238", asked_.span, fmt::format("`{}` is more than {} operations, or {} deep, when it is written out", call.text, kMostNodes, kMostDepth), "ask for its parts in finds of their own");
      return {};
    }
    if (parts_.size() == 1 && given.formula->kind == Formula::Kind::Name && given.formula->text == parts_[0].id) {  // it gives that as it stands
      parts_[0].id = asked_.id;
      parts_[0].type = asked_.type;
      return std::move(parts_);
    }
    parts_.push_back(std::move(whole));
    return std::move(parts_);
  }

 private:
  /// What the names of one body stand for. The outermost is the stage's, whose names stay.
  struct Context {
    OwnAnalyses among;
    std::map<std::string, Measured> names = {};
    std::string prefix = {};  ///< of the parts that are named in it: "cost."
    FormulaPtr where = nullptr;
    std::string by = {};
    bool body = false;
    std::set<std::string> meant = {};  ///< names that what it is given reads, and variables of lists around: no other variable has one
  };

  Measured measured(std::shared_ptr<Formula> formula, std::initializer_list<const Measured*> parts = {}) {
    Measured made{std::move(formula)};
    for (const auto* part : parts) take(made, *part);
    return made;
  }
  void take(Measured& whole, const Measured& part) {
    whole.nodes += part.nodes;
    whole.depth = std::max(whole.depth, part.depth + 1);
    too_large_ = too_large_ || whole.nodes > kMostNodes || whole.depth > kMostDepth;
  }

  std::shared_ptr<Formula> like(const Formula& formula, const Context& context) const {
    auto made = std::make_shared<Formula>();
    made->kind = formula.kind;
    made->span = context.body ? asked_.span : formula.span;
    made->constant = formula.constant;
    made->text = formula.text;
    return made;
  }

  Measured maybe(const FormulaPtr& formula, const Context& context) { return formula ? written(*formula, context) : Measured{nullptr, 0, 0}; }

  /// `name`: of the one analysis that the formula may be, for its part.
  Measured written(const Formula& formula, const Context& context, const std::string& name = {}) {
    if (too_large_) return {std::make_shared<Formula>()};
    switch (formula.kind) {
      case Formula::Kind::Name: {
        const auto found = context.names.find(formula.text);
        return found != context.names.end() ? found->second : measured(like(formula, context));
      }
      case Formula::Kind::Field: {
        const auto of = written(*formula.operands[0], context);
        if (is_structure(*of.formula)) {
          for (const auto& field : of.formula->arguments) {
            if (field.label == formula.text) return {field.value, of.nodes, of.depth};
          }
        }
        auto made = like(formula, context);
        made->operands = {of.formula};
        return measured(std::move(made), {&of});
      }
      case Formula::Kind::Call: return called(formula, context, name);
      case Formula::Kind::Comprehension: return comprehension(formula, context);
      default: break;
    }
    auto made = like(formula, context);
    Measured whole{made};
    for (const auto& operand : formula.operands) {
      const auto part = written(*operand, context);
      take(whole, part);
      made->operands.push_back(part.formula);
    }
    return whole;
  }

  /// Its variables keep their names, unless these mean something in what the body is given: then they are numbered.
  Measured comprehension(const Formula& formula, const Context& context) {
    auto inner = context;
    auto made = like(formula, context);
    Measured whole{made};
    for (const auto& loop : formula.loops) {
      const auto from = written(*loop.from, inner), to = maybe(loop.to, inner), step = maybe(loop.step, inner);
      for (const auto* part : {&from, &to, &step}) take(whole, *part);
      auto name = loop.name;
      for (int i = 2; context.body && !inner.meant.insert(name).second; ++i) name = fmt::format("{}{}", loop.name, i);
      auto variable = std::make_shared<Formula>();
      variable->kind = Formula::Kind::Name;
      variable->span = made->span;
      variable->text = name;
      inner.names[loop.name] = {std::move(variable)};
      made->loops.push_back({std::move(name), from.formula, to.formula, step.formula});
    }
    const auto item = written(*formula.operands[0], inner);
    take(whole, item);
    made->operands = {item.formula};
    return whole;
  }

  Measured called(const Formula& call, const Context& context, const std::string& name) {
    const auto* callable = lang::find_callable(call.text);
    if (!callable) return own(call, context, name);
    const bool asks = callable->kind == lang::Callable::Kind::Analysis;
    auto made = like(call, context);
    Measured whole{made};
    for (const auto& argument : call.arguments) {
      const auto value = written(*argument.value, context), over = maybe(argument.over, context), where = maybe(argument.where, context);
      for (const auto* part : {&value, &over, &where}) take(whole, *part);
      const bool coordinate = asks && callable->free_labels;
      made->arguments.push_back({coordinate ? word(argument.label, context) : argument.label, value.formula, over.formula, word(argument.by, context), where.formula});
    }
    return asks ? part(std::move(*made), *callable, context, name) : whole;
  }

  /// The name that stands for one of the body, where a name alone may stand.
  static std::string word(const std::string& text, const Context& context) {
    const auto found = context.names.find(text);
    return found == context.names.end() ? text : found->second.formula->text;
  }

  Measured part(Formula call, const lang::Callable& callable, const Context& context, const std::string& name) {
    auto question = asked_;
    question.id = fmt::format("{}.{}", asked_.id, fresh(context.prefix + (name.empty() ? call.text : name)));
    question.type.clear();
    question.analysis = call.text;
    question.arguments = std::move(call.arguments);
    question.each = callable.by == lang::Callable::Clause::Never;
    const auto data = std::find_if(question.arguments.begin(), question.arguments.end(), [](const auto& argument) { return argument.label.empty(); });
    if (data != question.arguments.end()) {
      data->where = both(context.where, data->where);
      if (!context.by.empty()) data->by = context.by;
    }
    auto answer = std::make_shared<Formula>();
    answer->kind = Formula::Kind::Name;
    answer->span = asked_.span;
    answer->text = question.id;
    parts_.push_back(std::move(question));
    return {std::move(answer)};
  }

  std::string fresh(const std::string& name) {
    auto made = name;
    for (int i = 2; !taken_.insert(made).second; ++i) made = fmt::format("{}{}", name, i);
    return made;
  }

  Measured own(const Formula& call, const Context& context, const std::string& name) {
    const auto found = find_own(call.text, context.among);
    const auto& definition = *found.definition;
    Context body{found.among};
    body.body = true;
    // "hit." of `let hit = cost(t)`
    body.prefix = context.body ? fresh(context.prefix + (name.empty() ? definition.name.text : name)) + "." : "";
    body.where = context.where;
    body.by = context.by;
    std::size_t position = 0;
    for (const auto& argument : call.arguments) {
      const auto& declared = definition.arguments[position];
      const auto given = written(*argument.value, context);
      body.names[argument.label.empty() ? declared.name.text : argument.label] = given;
      for (auto& read : free_names(*given.formula)) body.meant.insert(std::move(read));
      position += argument.label.empty() && position + 1 < definition.arguments.size() ? 1 : 0;
      body.where = both(body.where, maybe(argument.where, context).formula);
      if (!argument.by.empty()) body.by = word(argument.by, context);
    }
    return given_by(definition, body);
  }

  Measured given_by(const lang::AnalysisDef& definition, Context& body) {
    auto fields = std::make_shared<Formula>();
    fields->kind = Formula::Kind::Call;
    fields->span = asked_.span;
    fields->text = "structure";
    Measured whole{fields};
    for (const auto& item : definition.items) {
      if (const auto* let = std::get_if<lang::Let>(&item.node)) {
        body.names[let->name.text] = written(*lower_expression(*let->value, 0), body, let->name.text);
      }
      const auto* give = std::get_if<lang::Give>(&item.node);
      if (!give) continue;
      const auto value = written(*lower_expression(*give->value, 0), body, give->name ? give->name->text : "");
      if (!give->name) return value;
      take(whole, value);
      fields->arguments.push_back({give->name->text, value.formula, nullptr, "", nullptr});
    }
    return whole;
  }

  const Question& asked_;
  Diagnostics& diagnostics_;
  std::vector<Question> parts_;
  std::set<std::string> taken_;  ///< names of parts
  bool too_large_ = false;
};

}  // namespace

std::vector<Question> lower_own_analysis(const Formula& call, const OwnAnalyses& among, const Question& asked, Diagnostics& diagnostics) {
  return Writer(asked, diagnostics).run(call, among);
}

}  // namespace gexp::compiler
