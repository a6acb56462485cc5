// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/lower/kernels.h"
#include "compiler/lower/lower.h"

namespace gexp::compiler {
namespace {

Via find_via(const std::string& text) {
  for (const auto via : {Via::Ca, Via::Cg, Via::Cv, Via::Nc, Via::Tex, Via::Cs, Via::Lu, Via::Ldu, Via::Volatile, Via::Bulk, Via::Wb, Via::Wt}) {
    if (text == word(via)) return via;
  }
  return Via::Default;  // the checker has refused other words
}

/// An operation in short: its word and the operands that it has.
std::string show(const Op& op) {
  std::string text(lang::word(op.kind));
  if (!op.memory.empty()) text += " " + op.memory;
  if (!op.pattern.empty()) text += " by " + op.pattern;
  if (op.at) text += " at " + show(*op.at);
  if (!op.instruction.empty()) text += " " + op.instruction;
  if (op.chain) text += " chain " + show(*op.chain);
  if (op.ilp) text += " ilp " + show(*op.ilp);
  if (op.condition) text += " " + show(*op.condition);
  if (op.from) text += fmt::format(" {} in {}..{}", op.variable, show(*op.from), show(*op.to));
  else if (!op.variable.empty()) text += " " + op.variable;
  if (!op.type.empty()) text += ": " + op.type;
  if (op.value) text += (op.kind == Op::Kind::Store ? " value " : op.kind == Op::Kind::Keep ? " " : " = ") + show(*op.value);
  if (!op.gives.empty()) text += " into " + op.gives;
  if (!op.flag.empty()) text += " " + op.flag;
  if (op.signals) text += " for " + show(*op.signals);
  if (op.kernel) text += fmt::format(" \"{}\" entry {}", op.kernel->path, op.kernel->entry);
  if (!op.level.empty()) text += " to " + op.level;
  if (!op.into.empty()) text += fmt::format(" into {} at {}", op.into, show(*op.into_at));
  if (!op.hint.empty()) text += " hint " + op.hint;
  if (op.fetch) text += " fetch " + show(*op.fetch);
  if (op.rows) text += " rows " + show(*op.rows);
  if (op.pitch) text += " pitch " + show(*op.pitch);
  if (op.rank) text += " rank " + show(*op.rank);
  if (!op.scope.empty()) text += " " + op.scope;
  if (op.red) text += " red";
  if (op.via != Via::Default) text += fmt::format(" via {}", word(op.via));
  const bool holds_others = op.condition || op.from || op.kind == Op::Kind::Interleave;
  if (!op.otherwise.empty()) return fmt::format("{} {{ {} }} else {{ {} }}", text, show(op.body), show(op.otherwise));
  return holds_others ? fmt::format("{} {{ {} }}", text, show(op.body)) : text;
}

FormulaPtr name_of(const std::string& text, Span span) {
  auto made = std::make_shared<Formula>();
  made->kind = Formula::Kind::Name;
  made->span = span;
  const auto dot = text.find('.');  // of a used file
  made->text = text.substr(0, dot);
  if (dot == std::string::npos) return made;
  auto field = std::make_shared<Formula>();
  field->kind = Formula::Kind::Field;
  field->span = span;
  field->text = text.substr(dot + 1);
  field->operands = {std::move(made)};
  return field;
}

/// `item(pattern, gtid)`: what `load A by pattern` has as its offset.
FormulaPtr item_of_thread(const lang::Word& pattern) {
  auto made = std::make_shared<Formula>();
  made->kind = Formula::Kind::Call;
  made->span = pattern.span;
  made->text = "item";
  made->arguments.push_back({"", name_of(pattern.text, pattern.span), nullptr, "", nullptr});
  made->arguments.push_back({"", name_of("gtid", pattern.span), nullptr, "", nullptr});
  return made;
}

}  // namespace

const char* word(Via via) {
  switch (via) {
    case Via::Ca: return "ca";
    case Via::Cg: return "cg";
    case Via::Cv: return "cv";
    case Via::Nc: return "nc";
    case Via::Tex: return "tex";
    case Via::Cs: return "cs";
    case Via::Lu: return "lu";
    case Via::Ldu: return "ldu";
    case Via::Volatile: return "volatile";
    case Via::Bulk: return "bulk";
    case Via::Wb: return "wb";
    case Via::Wt: return "wt";
    case Via::Default: break;
  }
  return "";
}

const char* word(Timing timing) {
  switch (timing) {
    case Timing::Each: return "each";
    case Timing::Total: return "total";
    case Timing::Wall: return "wall";
    case Timing::Values: return "values";
  }
  return "";
}

namespace {

void fill_op(const lang::Op& op, int element_bytes, Op& lowered) {
  const auto formula = [&](const lang::ExprPtr& expression) {
    return expression ? lower_expression(*expression, element_bytes) : nullptr;
  };
  lowered.kind = op.kind;
  lowered.span = op.span;
  lowered.memory = op.memory.text;
  lowered.width = formula(op.width);
  if (op.via) lowered.via = find_via(op.via->text);
  const auto word = [](const std::optional<lang::Word>& given) { return given ? given->text : std::string(); };
  lowered.hint = word(op.hint), lowered.level = word(op.level), lowered.into = word(op.into), lowered.scope = word(op.scope);
  lowered.fetch = formula(op.fetch);
  lowered.rank = formula(op.rank);
  lowered.into_at = formula(op.into_at);
  lowered.rows = formula(op.rows), lowered.pitch = formula(op.pitch);
  lowered.red = op.red;
  const bool chases = op.kind == Op::Kind::Chase;
  if (chases) lowered.pattern = op.pattern.text;
  lowered.count = formula(op.count);
  lowered.laps = op.laps;
  lowered.at = formula(op.at);
  if (!chases && !op.pattern.text.empty()) lowered.at = item_of_thread(op.pattern);
  lowered.instruction = op.instruction.text;
  lowered.instruction_span = op.instruction.span;
  lowered.named = formula(op.named);
  lowered.chain = formula(op.chain);
  lowered.ilp = formula(op.ilp);
  lowered.condition = formula(op.condition);
  lowered.variable = op.variable.text;
  lowered.from = formula(op.from);
  lowered.to = formula(op.to);
  lowered.flag = op.flag.text;
  lowered.signals = formula(op.signals);
  lowered.bound = formula(op.bound);
  if (op.gives) lowered.gives = op.gives->text;
  lowered.type = op.type.text;
  lowered.value = formula(op.value);
  lowered.otherwise.reserve(op.otherwise.size());
  lowered.body.reserve(op.body.size());
  for (const auto& inner : op.otherwise) fill_op(inner, element_bytes, lowered.otherwise.emplace_back());
  for (const auto& inner : op.body) fill_op(inner, element_bytes, lowered.body.emplace_back());
  if (op.kind == Op::Kind::Kernel) lower_kernel(op, element_bytes, lowered);
}

}  // namespace

Op lower_op(const lang::Op& op, int element_bytes) {
  Op lowered;
  fill_op(op, element_bytes, lowered);
  return lowered;
}

bool writes(const Op& op) { return op.kind == Op::Kind::Store || op.kind == Op::Kind::Atomic || op.kind == Op::Kind::Discard; }

const Op* only_chase(const Body& body) {
  const Op* chase = nullptr;
  for (const auto& op : body) {
    if (!op.flag.empty()) continue;
    if (chase || op.kind != Op::Kind::Chase) return nullptr;
    chase = &op;
  }
  return chase;
}

bool launches_files(const Program& program) {
  bool any = false;
  for (const auto& stage : program.stages) for_each_op(stage, [&](const Op& op) { any = any || op.kernel; });
  return any;
}

bool shares_launch(const Stage& stage) {
  bool flags = false;
  for_each_op(stage, [&](const Op& op) { flags = flags || !op.flag.empty(); });
  return flags || stage.leader || !stage.beside.empty();
}

bool reads_contents(const Program& program) {
  bool any = false;
  for (const auto& stage : program.stages) for_each_op(stage, [&](const Op& op) { any = any || !op.gives.empty(); });
  return any;
}

bool may_hang(const Stage& stage) {
  return std::any_of(stage.expects.begin(), stage.expects.end(), [](const Expectation& expect) {
    const auto names = free_names(*expect.condition);
    return std::find(names.begin(), names.end(), "hang") != names.end();
  });
}

const FileKernel* only_kernel(const Body& body) { return body.size() == 1 ? body[0].kernel.get() : nullptr; }

std::string show(const Body& body) {
  std::string text;
  for (const auto& op : body) text += (text.empty() ? "" : "; ") + show(op);
  return text;
}

}  // namespace gexp::compiler
