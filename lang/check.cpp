// SPDX-License-Identifier: Apache-2.0
#include "lang/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "lang/check_stage.h"

/// The file level: declarations in order, then the stages in order (each sees the findings of those above it), then what is
/// expected of all of them.
namespace gexp::lang {
namespace {

struct Elements {
  int size = 0;  ///< 0: none, or not one
  bool any = false;
};

Elements common_element(const File& file) {
  Elements elements;
  bool differ = false;
  for (const auto& statement : file.statements) {
    const auto* memory = std::get_if<Memory>(&statement.node);
    if (!memory) continue;
    const int size = element_size(memory->element.text);
    if (size == 0) continue;
    differ = differ || (elements.any && size != elements.size);
    elements.size = size;
    elements.any = true;
  }
  if (differ) elements.size = 0;
  return elements;
}

class FileChecker {
 public:
  FileChecker(const File& file, const Source& source, Diagnostics& diagnostics, const Modules& modules, Elements elements,
              Declarations* declared)
      : file_(file), diagnostics_(diagnostics), modules_(modules),
        expressions_(file, source, diagnostics, elements.size, elements.any, declared) {
    expressions_.calls_among(names_);
  }

  Exports run() {
    declare_all();
    only_once<Budget>(file_.statements, expressions_.source(), diagnostics_);
    only_once<Seed>(file_.statements, expressions_.source(), diagnostics_);
    for (const auto& statement : file_.statements) {
      std::visit([&](const auto& node) { check(node, statement.span); }, statement.node);
    }
    std::size_t index = 0;
    for (const auto& statement : file_.statements) {
      if (const auto* stage = std::get_if<Stage>(&statement.node)) {
        const auto leader = stage->beside ? checkers_.find(stage->beside->text) : checkers_.end();
        auto checker = std::make_unique<StageChecker>(expressions_, diagnostics_, names_, index++);
        auto findings = checker->run(*stage, {stage->name.span.end, stage->end}, leader == checkers_.end() ? nullptr : leader->second.get());
        checkers_[stage->name.text] = std::move(checker);
        if (auto* symbol = names_.find_here(stage->name.text); symbol && symbol->span == stage->name.span) symbol->type = std::move(findings);
      }
    }
    for (const auto& statement : file_.statements) {
      if (const auto* expect = std::get_if<Expect>(&statement.node)) {
        auto place = at("an expect", Time::Finding);
        place.after_all = true;
        place.once = true;
        check_expect(expressions_, *expect, place);
      }
    }
    check_launches(file_, diagnostics_);
    warn_of_unasked();
    expressions_.note(names_, {0, static_cast<std::uint32_t>(expressions_.source().text().size())});
    return exports();
  }

 private:
  Exports exports() const {
    Exports made;
    std::vector<Type::Field> fields;
    for (const auto& statement : file_.statements) {
      const auto* param = std::get_if<Param>(&statement.node);
      const auto* let = std::get_if<Let>(&statement.node);
      const auto* pattern = std::get_if<PatternDef>(&statement.node);
      if (!param && !let && !pattern) continue;
      const auto& name = param ? param->name : let ? let->name : pattern->name;
      const auto* symbol = names_.find_here(name.text);
      if (!symbol || symbol->span != name.span) continue;
      if (symbol->per_thread) made.per_thread.emplace(symbol->name, symbol->span);
      else fields.emplace_back(symbol->name, symbol->type);
    }
    made.type = structure_of(std::move(fields));
    made.names = kept_;
    return made;
  }

  /// A library's analyses are for others; those of a file that measures are for its own finds.
  void warn_of_unasked() {
    const bool measures = std::any_of(file_.statements.begin(), file_.statements.end(), [](const Statement& each) { return std::holds_alternative<Stage>(each.node); });
    if (!measures || diagnostics_.has_errors()) return;  // a call that is wrong may be meant for it
    for (const auto& symbol : names_.symbols()) {
      if (symbol.kind != Symbol::Kind::Analysis || symbol.used || symbol.flawed) continue;
      diagnostics_.warning("E0239", symbol.span, fmt::format("nothing asks the analysis `{}`", symbol.name), fmt::format("write `find NAME: {} = {}(…)` in a stage", symbol.analysis->type.text, symbol.name));
    }
  }

  [[nodiscard]] Place at(const char* what, Time limit = Time::File) const {
    Place place;
    place.names = &names_;
    place.what = what;
    place.limit = limit;
    return place;
  }

  void add(Symbol::Kind kind, const Word& name, std::uint32_t usable_from, Type type = any_type(), std::size_t stage = 0) {
    Symbol symbol;
    symbol.kind = kind;
    symbol.name = name.text;
    symbol.span = name.span;
    symbol.type = std::move(type);
    symbol.usable_from = usable_from;
    symbol.stage = stage;
    names_.declare(std::move(symbol), diagnostics_);
  }

  /// Names first, so that a use above a declaration can be told from a misspelt name.
  void declare_all() {
    std::size_t stages = 0, uses = 0;
    for (const auto& statement : file_.statements) {
      const auto end = statement.span.end;
      if (const auto* param = std::get_if<Param>(&statement.node)) add(Symbol::Kind::Param, param->name, end);
      if (const auto* let = std::get_if<Let>(&statement.node)) add(Symbol::Kind::Let, let->name, end);
      if (const auto* memory = std::get_if<Memory>(&statement.node)) {
        add(Symbol::Kind::Memory, memory->name, 0);
        names_.find_here(memory->name.text)->element = memory->element.text;
      }
      if (const auto* pattern = std::get_if<PatternDef>(&statement.node)) add(Symbol::Kind::Pattern, pattern->name, end);
      if (const auto* analysis = std::get_if<AnalysisDef>(&statement.node)) {
        add(Symbol::Kind::Analysis, analysis->name, analysis->end);
        if (auto* symbol = names_.find_here(analysis->name.text); symbol->span == analysis->name.span) symbol->analysis = analysis;
      }
      if (const auto* use = std::get_if<Use>(&statement.node)) {
        add(Symbol::Kind::Module, use->as, end);
        const auto index = uses++;
        auto* symbol = names_.find_here(use->as.text);
        if (symbol->span == use->as.span && index < modules_.size()) symbol->module = modules_[index];
      }
      if (const auto* stage = std::get_if<Stage>(&statement.node)) {
        add(Symbol::Kind::Stage, stage->name, 0, declared_findings(*stage), stages++);
      }
    }
  }

  void settle(const Word& name, Type type, bool per_thread = false) {
    auto* symbol = names_.find_here(name.text);
    if (!symbol || symbol->span != name.span) return;
    symbol->type = std::move(type);
    symbol->per_thread = per_thread;
  }

  void check(const Param& param, Span) {
    const auto place = at("a parameter");
    const auto declared = declared_type(param.type.text);
    if (const auto& words = param_type_words(); std::find(words.begin(), words.end(), param.type.text) == words.end()) {
      diagnostics_.error("E0213", param.type.span, fmt::format("`{}` is no type of a parameter", param.type.text), meant_type(param.type.text, param_type_words()));
      expressions_.check(param.value, place);
    } else {
      expressions_.want(param.value, *declared, place, fmt::format("`{}`", param.name.text));
    }
    const auto type = declared.value_or(any_type());
    if (param.domain) check_domain(expressions_, diagnostics_, *param.domain, type, place, place);
    settle(param.name, type);
  }
  void check(const Let& let, Span) {
    expressions_.read_per_thread = false;
    auto type = settled(expressions_.check(let.value, at("this value of the file")).type);
    settle(let.name, std::move(type), expressions_.read_per_thread);
  }
  void check(const Require& require, Span) { expressions_.want(require.condition, bool_type(), at("a precondition of the file"), "what is required"); }
  void check(const Budget& budget, Span) {
    expressions_.want(budget.time, number_of(kSeconds), at("the budget"), "the time of a budget");
    expressions_.want(budget.memory, number_of(kBytes), at("the budget"), "the memory of a budget");
  }
  void check(const Memory& memory, Span) {
    const auto place = at("a memory");
    check_word(diagnostics_, memory.element, element_words());
    check_word(diagnostics_, memory.space, space_words());
    const auto length = expressions_.check(memory.length, place);
    if (memory.length && !length.type.plain()) expressions_.expect_type(*memory.length, length.type, number_of(kBytes), "the length of a memory");
    expressions_.want(memory.page, number_of(kBytes), place, "a page");
    expressions_.want(memory.align, number_of(kBytes), place, "an alignment");
    expressions_.want(memory.pitch, number_of(kBytes), place, "the distance of rows");
    if (memory.pitch && space_words().has(memory.space.text) && memory.space.text != "texture") {
      diagnostics_.error("E0241", memory.pitch->span, fmt::format("a memory in {} has no rows", memory.space.text), "leave `pitch` out, or take a memory in texture");
    }
    if (!memory.holds) return;
    const auto held = expressions_.check(memory.holds, place).type;
    const bool numbers = held.kind == Type::Kind::List && (!held.item || held.item->any() || held.item->plain());
    if (!held.any() && !numbers && held.kind != Type::Kind::Pattern) {
      expressions_.expect_type(*memory.holds, held, list_of(number_of({})), "what a memory holds");
    }
    static constexpr std::array kFilled{"global", "readonly", "texture", "host", "managed", "peer"};
    if (!element_words().has(memory.element.text) || !space_words().has(memory.space.text)) return;
    const bool narrow = memory.element.text == "f16" || memory.element.text == "bf16";
    if (std::find(kFilled.begin(), kFilled.end(), memory.space.text) == kFilled.end() || narrow) {
      diagnostics_.error("E0235", memory.holds->span, fmt::format("a memory of {} in {} cannot hold given numbers", memory.element.text, memory.space.text),
                         "memories of whole numbers, f32 and f64 in global, readonly, texture, host, managed and peer can");
    }
  }
  void check(const PatternDef& pattern, Span) {
    auto place = at("a pattern of the file");
    place.threads = true;
    expressions_.read_per_thread = false;
    const auto typed = expressions_.want(pattern.value, pattern_type(), place, fmt::format("`{}`", pattern.name.text));
    settle(pattern.name, pattern_type(), expressions_.read_per_thread || typed.time > Time::File);
  }
  void check(const AnalysisDef& analysis, Span) {
    const bool sound = expressions_.check_definition(analysis);
    auto* symbol = names_.find_here(analysis.name.text);
    if (symbol && symbol->span == analysis.name.span) symbol->flawed = !sound;
  }
  void check(const Give&, Span span) {
    diagnostics_.error("E0203", first_word(expressions_.source(), span), "this statement belongs inside an analysis", "write `analysis NAME(t: record) -> cycles { … }` around it");
  }
  void check(const Meta&, Span) {}
  void check(const Seed&, Span) {}
  void check(const Use&, Span) {}
  void check(const Stage&, Span) {}   // after every declaration of the file
  void check(const Expect&, Span) {}  // after the stages
  template <class T> void check(const T&, Span span) {
    diagnostics_.error("E0203", first_word(expressions_.source(), span), "this statement belongs inside a stage", "write `stage NAME { … }` around it");
  }

  const File& file_;
  Diagnostics& diagnostics_;
  const Modules& modules_;
  ExpressionChecker expressions_;
  std::shared_ptr<SymbolScope> kept_ = std::make_shared<SymbolScope>(&builtin_names());  ///< also by files that use this one
  SymbolScope& names_ = *kept_;
  std::map<std::string, std::unique_ptr<StageChecker>> checkers_;  ///< of the stages so far: those beside one know its names
};

}  // namespace

Exports check(const File& file, const Source& source, Diagnostics& diagnostics, const Modules& modules, Declarations* declared) {
  if (diagnostics.has_errors()) return {};  // names in text that did not parse would be reported as unknown
  return FileChecker(file, source, diagnostics, modules, common_element(file), declared).run();
}

}  // namespace gexp::lang
