// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/ops.h"

#include <fmt/format.h>

#include "compiler/lower/lower.h"

namespace gexp::compiler {
namespace {

Via find_via(const std::string& text) {
  for (const auto via : {Via::Ca, Via::Cg, Via::Cv, Via::Nc, Via::Tex}) {
    if (text == word(via)) return via;
  }
  return Via::Default;  // the checker has refused other words
}

Op::Kind kind_of(lang::Op::Kind kind) {
  switch (kind) {
    case lang::Op::Kind::Chase: return Op::Kind::Chase;
    case lang::Op::Kind::Load: return Op::Kind::Load;
    case lang::Op::Kind::Store: return Op::Kind::Store;
    case lang::Op::Kind::Alu: return Op::Kind::Alu;
    case lang::Op::Kind::Barrier: return Op::Kind::Barrier;
    case lang::Op::Kind::Branch: return Op::Kind::Branch;
    case lang::Op::Kind::Unroll: return Op::Kind::Unroll;
    case lang::Op::Kind::Loop: return Op::Kind::Loop;
  }
  return Op::Kind::Barrier;
}

std::string show(const Op& op) {
  const std::string path = op.via == Via::Default ? "" : fmt::format(" via {}", word(op.via));
  switch (op.kind) {
    case Op::Kind::Chase: return fmt::format("chase {} by {}{}", op.memory, op.pattern, path);
    case Op::Kind::Load: return fmt::format("load {} at {}{}", op.memory, show(*op.at), path);
    case Op::Kind::Store: return fmt::format("store {} at {}{}", op.memory, show(*op.at), path);
    case Op::Kind::Alu: return fmt::format("alu {} chain {} ilp {}", op.instruction, show(*op.chain), show(*op.ilp));
    case Op::Kind::Barrier: return "barrier";
    case Op::Kind::Branch: return fmt::format("branch {} {{ {} }}", show(*op.condition), show(op.body));
    case Op::Kind::Unroll:
    case Op::Kind::Loop:
      return fmt::format("{} {} in {}..{} {{ {} }}", op.kind == Op::Kind::Loop ? "loop" : "unroll", op.variable, show(*op.from),
                         show(*op.to), show(op.body));
  }
  return "";
}

}  // namespace

const char* word(Via via) {
  switch (via) {
    case Via::Ca: return "ca";
    case Via::Cg: return "cg";
    case Via::Cv: return "cv";
    case Via::Nc: return "nc";
    case Via::Tex: return "tex";
    case Via::Default: break;
  }
  return "";
}

const char* word(Space space) {
  switch (space) {
    case Space::Global: return "global";
    case Space::Shared: return "shared";
    case Space::Constant: return "constant";
    case Space::Texture: return "texture";
    case Space::Local: return "local";
  }
  return "";
}

const char* word(Timing timing) {
  switch (timing) {
    case Timing::Each: return "each";
    case Timing::Total: return "total";
    case Timing::Wall: return "wall";
  }
  return "";
}

Op lower_op(const lang::Op& op, int element_bytes) {
  const auto formula = [&](const lang::ExprPtr& expression) {
    return expression ? lower_expression(*expression, element_bytes) : nullptr;
  };
  Op lowered;
  lowered.kind = kind_of(op.kind);
  lowered.span = op.span;
  lowered.memory = op.memory.text;
  lowered.width = formula(op.width);
  if (op.via) lowered.via = find_via(op.via->text);
  lowered.pattern = op.pattern.text;
  lowered.count = formula(op.count);
  lowered.laps = op.laps;
  lowered.at = formula(op.at);
  lowered.instruction = op.instruction.text;
  lowered.instruction_span = op.instruction.span;
  lowered.chain = formula(op.chain);
  lowered.ilp = formula(op.ilp);
  lowered.condition = formula(op.condition);
  lowered.variable = op.variable.text;
  lowered.from = formula(op.from);
  lowered.to = formula(op.to);
  for (const auto& inner : op.body) lowered.body.push_back(lower_op(inner, element_bytes));
  return lowered;
}

void for_each_op(const Body& body, const std::function<void(const Op&)>& visit) {
  for (const auto& op : body) {
    visit(op);
    for_each_op(op.body, visit);
  }
}

void for_each_op(const Stage& stage, const std::function<void(const Op&)>& visit) {
  for (const auto& launch : stage.warm_launches) for_each_op(launch.body, visit);
  for_each_op(stage.warm, visit);
  for_each_op(stage.timed, visit);
}

const Op* only_chase(const Body& body) {
  return body.size() == 1 && body[0].kind == Op::Kind::Chase ? &body[0] : nullptr;
}

std::string show(const Body& body) {
  std::string text;
  for (const auto& op : body) text += (text.empty() ? "" : "; ") + show(op);
  return text;
}

}  // namespace gexp::compiler
