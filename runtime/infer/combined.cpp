// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/combined.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/infer/analysis.h"

// A formula of findings is right where all of them are. Each says how sure it is, and the engine's rule for several is that of the least
// sure one (selections.cpp). Its interval is told where the formula rises or falls with each of them: then its ends lie where theirs do.
namespace gexp::infer {
namespace {

using compiler::Formula;

constexpr std::size_t kMostEnds = 8;  // limit: findings with an interval of one formula, whose ends are all tried

const Finding* find(const std::vector<Finding>& all, const std::string& id) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Finding& finding) { return finding.id == id; });
  return found == all.end() ? nullptr : &*found;
}

/// Every finding that a formula reads, as often as it does: parts by their ids, those of earlier stages as STAGE.NAME.
void findings_read(const Formula& formula, const std::vector<Finding>& all, std::vector<const Finding*>& read) {
  for (const auto& name : compiler::dotted_names(formula)) {
    if (const auto* finding = find(all, name)) read.push_back(finding);
  }
}

/// Those of its own stage that a condition reads by their names, but for those that `??` may replace.
void findings_above(const Formula& condition, const std::string& stage, const std::vector<Finding>& all,
                    std::vector<const Finding*>& read) {
  if (condition.kind == Formula::Kind::Name) {
    if (const auto* finding = find(all, stage + "." + condition.text)) read.push_back(finding);
  }
  const std::size_t first = condition.kind == Formula::Kind::Else ? 1 : 0;
  for (std::size_t i = first; i < condition.operands.size(); ++i) findings_above(*condition.operands[i], stage, all, read);
  for (const auto& argument : condition.arguments) findings_above(*argument.value, stage, all, read);
}

/// Those of its own stage by which a question chooses records.
std::vector<const Finding*> chosen_by(const compiler::Question& question, const std::vector<Finding>& all) {
  std::vector<const Finding*> read;
  for (const auto& argument : question.arguments) {
    if (argument.where) findings_above(*argument.where, question.id.substr(0, question.id.find('.')), all, read);
  }
  return read;
}

/// Whether a formula rises or falls with each of its numbers, as long as no divisor passes zero.
bool monotone(const Formula& formula) {
  using Kind = Formula::Kind;
  static constexpr std::array kKinds{Kind::Constant, Kind::Name, Kind::Field, Kind::Negate, Kind::Add, Kind::Subtract, Kind::Multiply, Kind::Divide, Kind::Div};  // fact: the rest does not
  static constexpr std::array<std::string_view, 6> kFunctions{"min", "max", "floor", "ceil", "round", "log2"};  // fact: the rest does not
  const bool call = formula.kind == Kind::Call && std::find(kFunctions.begin(), kFunctions.end(), formula.text) != kFunctions.end();
  if (!call && std::find(kKinds.begin(), kKinds.end(), formula.kind) == kKinds.end()) return false;
  return std::all_of(formula.operands.begin(), formula.operands.end(), [](const auto& operand) { return monotone(*operand); }) &&
         std::all_of(formula.arguments.begin(), formula.arguments.end(), [](const auto& argument) { return monotone(*argument.value); });
}

/// What a formula divides by, all of it.
void divisors_of(const Formula& formula, std::vector<const Formula*>& divisors) {
  if (formula.kind == Formula::Kind::Divide || formula.kind == Formula::Kind::Div) divisors.push_back(formula.operands[1].get());
  for (const auto& operand : formula.operands) divisors_of(*operand, divisors);
  for (const auto& argument : formula.arguments) divisors_of(*argument.value, divisors);
}

/// Whether all divisors keep their sign, which `signs` has after the first call: a quotient whose divisor passes zero has no ends.
bool keep_signs(const std::vector<const Formula*>& divisors, const compiler::Scope& at, std::vector<bool>& signs) {
  const bool first = signs.empty();
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    const auto value = compiler::evaluate(*divisors[i], at);
    const auto* number = value ? value->get<Number>() : nullptr;
    if (!number || number->number == 0) return false;
    if (first) signs.push_back(number->number > 0);
    else if (signs[i] != (number->number > 0)) return false;
  }
  return true;
}

struct End {
  std::string id;
  Number low, high;
};

/// The ends that the formula takes, each reading findings of parts alone, and each of these once.
std::optional<std::pair<double, double>> interval_of(const Formula& formula, const std::vector<const Finding*>& read, const compiler::Scope& scope) {
  if (!monotone(formula)) return std::nullopt;
  std::vector<End> ends;
  for (const auto* finding : read) {
    const auto* number = finding->value.get<Number>();
    const bool twice = std::count(read.begin(), read.end(), finding) > 1;
    if (!number || !finding->interval || twice || scope.lookup(finding->id) == nullptr) return std::nullopt;
    const auto [low, high] = *finding->interval;
    ends.push_back({finding->id, {low, number->dimension}, {high, number->dimension}});
  }
  if (ends.empty() || ends.size() > kMostEnds) return std::nullopt;
  std::vector<const Formula*> divisors;
  divisors_of(formula, divisors);
  std::vector<bool> signs;
  std::optional<std::pair<double, double>> interval;
  for (std::size_t corner = 0; corner < (std::size_t{1} << ends.size()); ++corner) {
    compiler::Names at(&scope);
    for (std::size_t i = 0; i < ends.size(); ++i) at.set(ends[i].id, Value((corner >> i & 1) != 0 ? ends[i].high : ends[i].low));
    if (!keep_signs(divisors, at, signs)) return std::nullopt;
    const auto value = compiler::evaluate(formula, at);
    const auto* number = value ? value->get<Number>() : nullptr;
    if (!number || !std::isfinite(number->number)) return std::nullopt;
    interval = interval ? std::pair(std::min(interval->first, number->number), std::max(interval->second, number->number)) : std::pair(number->number, number->number);
  }
  return interval;
}

std::string because_of(const Finding& part) { return fmt::format("it is made of `{}`, which is undetermined: {}", part.id, part.why); }

/// Why a value is none that is found: it is no surer than what it reads.
std::string unsure_as(const Finding& read, const compiler::Question& question, const Value& value) {
  return fmt::format("{} looks likely, but {}: it is that of `{}`", show(value), below_need(read.confidence, question.need), read.id);
}

/// What it is for each value after `by`: the parts' answers stand in the same order.
Result<Value> each_value(const compiler::Question& question, const std::vector<Finding>& all, const compiler::Scope& scope) {
  std::size_t count = 0;
  for (const auto& id : question.parts) {
    const auto* list = find(all, id)->value.get<List>();
    if (!list || (count > 0 && list->size() != count)) return failure("E0403", "its parts do not have one answer for each value after `by`");
    count = list->size();
  }
  List answers;
  for (std::size_t i = 0; i < count; ++i) {
    compiler::Names at(&scope);
    for (const auto& id : question.parts) at.set(id, find(all, id)->value.get<List>()->at(i));
    auto value = compiler::evaluate(*question.combined, at);
    if (!value || !value->known()) return value;
    answers.push_back(std::move(*value));
  }
  return Value(std::move(answers));
}

/// "`a` 3 cycles (99.00 %)"
std::string told(const Finding& finding) {
  return fmt::format("{} = {} ({:.2f} %)", finding.id, finding.value.get<Fields>() ? "a structure" : show(finding.value), 100 * finding.confidence);
}

}  // namespace

std::string unit_of(const Value& value) {
  if (const auto* number = value.get<Number>()) return name(number->dimension).empty() ? "count" : name(number->dimension);
  return value.get<List>() ? "list" : value.get<Fields>() ? "structure" : value.get<std::string>() ? "name" : "";
}

namespace {

/// Numbers that no finding can be: a formula of finite ones passed what a number holds.
bool is_finite(const Value& value) {
  if (const auto* number = value.get<Number>()) return std::isfinite(number->number);
  if (const auto* list = value.get<List>()) return std::all_of(list->begin(), list->end(), is_finite);
  const auto* fields = value.get<Fields>();
  return !fields || std::all_of(fields->begin(), fields->end(), [](const auto& field) { return is_finite(field.second); });
}

}  // namespace

Finding combine(const compiler::Question& question, const std::vector<Finding>& all, const compiler::Scope& outer) {
  std::vector<const Finding*> read;
  findings_read(*question.combined, all, read);
  for (const auto& id : question.parts) {
    const auto* part = find(all, id);
    if (!part) return undetermined(question, fmt::format("it is made of `{}`, which was not asked", id));
    if (std::find(read.begin(), read.end(), part) == read.end()) read.push_back(part);  // one that another part reads
  }
  compiler::Names scope(&outer);
  const Finding* least = nullptr;
  for (const auto* finding : read) {
    if (finding->status != Finding::Status::Found) return undetermined(question, because_of(*finding));
    if (!least || finding->confidence < least->confidence) least = finding;
  }
  for (const auto& id : question.parts) scope.set(id, find(all, id)->value);
  auto value = question.each ? each_value(question, all, scope) : compiler::evaluate(*question.combined, scope);
  if (!value) return undetermined(question, value.error().message);
  if (!value->known()) return undetermined(question, fmt::format("`{}` has no value", compiler::show(*question.combined)));
  if (!is_finite(*value)) return undetermined(question, fmt::format("`{}` is beyond what a number holds", compiler::show(*question.combined)));
  auto made = undetermined(question, fmt::format("`{}`, of the findings that it names; its confidence is that of the least sure, `{}`", compiler::show(*question.combined), least->id));
  made.confidence = least->confidence;
  for (const auto& id : question.parts) made.evidence += (made.evidence.empty() ? "" : "; ") + told(*find(all, id));
  if (made.confidence < question.need) {
    made.why = unsure_as(*least, question, *value);
    return made;
  }
  if (const auto* fields = value->get<Fields>(); fields && question.type == "name" && fields->contains("name")) value = Value(fields->at("name"));
  made.status = Finding::Status::Found;
  made.exact = std::all_of(read.begin(), read.end(), [](const Finding* finding) { return finding->exact; });
  if (!question.each && value->get<Number>()) made.interval = interval_of(*question.combined, read, scope);
  made.value = std::move(*value);
  return made;
}

std::string missing_part(const compiler::Question& question, const std::vector<Finding>& all) {
  std::vector<const Finding*> read;
  for (const auto& argument : question.arguments) {
    for (const auto& part : {argument.value, argument.over, argument.where}) {
      if (part) findings_read(*part, all, read);
    }
  }
  const auto missing = std::find_if(read.begin(), read.end(), [&](const Finding* finding) {
    const bool part = finding->id.find('.') != finding->id.rfind('.');  // STAGE.FIND.PART; what else is read may be replaced by `??`
    return part && finding->status != Finding::Status::Found;
  });
  if (missing != read.end()) return because_of(**missing);
  for (const auto* finding : chosen_by(question, all)) {
    if (finding->status == Finding::Status::Undetermined) return not_found({finding->id});
  }
  return "";
}

void no_surer_than_chosen_by(Finding& finding, const compiler::Question& question, const std::vector<Finding>& all) {
  for (const auto* chosen : chosen_by(question, all)) {
    if (finding.status != Finding::Status::Found || chosen->confidence >= finding.confidence) continue;
    finding.confidence = chosen->confidence;
    if (finding.confidence >= question.need) continue;
    finding.status = Finding::Status::Undetermined;
    finding.why = unsure_as(*chosen, question, finding.value);
    finding.value = Value();
  }
}

void combine_again(const compiler::Program& program, const compiler::Scope& scope, std::vector<Finding>& all) {
  for (const auto& stage : program.stages) {
    for (const auto& question : stage.finds) {
      const auto found = Findings{all}.find(question.id);
      if (!found || found->status == Finding::Status::Undetermined) continue;
      if (question.combined) {
        if (auto again = combine(question, all, scope); again.status != Finding::Status::Found) *found = std::move(again);
      } else if (auto why = missing_part(question, all); !why.empty()) {
        *found = undetermined(question, why);
      }
    }
  }
}

}  // namespace gexp::infer
