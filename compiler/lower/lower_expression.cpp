// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower.h"
#include "lang/base/result.h"

namespace gexp::compiler {
namespace {

using Kind = Formula::Kind;

Kind kind_of(lang::BinaryOp op) {
  switch (op) {
    case lang::BinaryOp::Add: return Kind::Add;
    case lang::BinaryOp::Subtract: return Kind::Subtract;
    case lang::BinaryOp::Multiply: return Kind::Multiply;
    case lang::BinaryOp::Divide: return Kind::Divide;
    case lang::BinaryOp::Div: return Kind::Div;
    case lang::BinaryOp::Mod: return Kind::Mod;
    case lang::BinaryOp::Equal: return Kind::Equal;
    case lang::BinaryOp::NotEqual: return Kind::NotEqual;
    case lang::BinaryOp::Less: return Kind::Less;
    case lang::BinaryOp::LessEqual: return Kind::LessEqual;
    case lang::BinaryOp::Greater: return Kind::Greater;
    case lang::BinaryOp::GreaterEqual: return Kind::GreaterEqual;
    case lang::BinaryOp::And: return Kind::And;
    case lang::BinaryOp::Or: return Kind::Or;
    case lang::BinaryOp::Else: return Kind::Else;
  }
  return Kind::Constant;
}

class Lowering {
 public:
  explicit Lowering(int element_bytes) : element_bytes_(element_bytes) {}

  FormulaPtr lower(const lang::Expr& expression) {
    auto formula = std::make_shared<Formula>();
    formula->span = expression.span;
    std::visit([&](const auto& node) { fill(*formula, node); }, expression.node);
    return formula;
  }

 private:
  FormulaPtr maybe(const lang::ExprPtr& expression) { return expression ? lower(*expression) : nullptr; }

  void fill(Formula& formula, const lang::Quantity& quantity) {
    if (quantity.unit.empty()) {
      formula.constant = Value(quantity.number);
      return;
    }
    const auto unit = find_unit(quantity.unit);
    GEXP_CHECK(unit.has_value());  // the checker has refused unknown units
    const double scale = unit->scale == 0 ? element_bytes_ : unit->scale;  // `elem` has the memory's size
    formula.constant = Value(quantity.number * scale, unit->dimension);
  }
  void fill(Formula& formula, const lang::Text& text) { formula.constant = Value(text.value); }
  void fill(Formula& formula, const lang::Name& name) {
    formula.kind = Kind::Name;
    formula.text = name.text;
  }
  void fill(Formula& formula, const lang::Member& member) {
    formula.kind = Kind::Field;
    formula.text = member.field.text;
    formula.operands.push_back(lower(*member.of));
  }
  void fill(Formula& formula, const lang::Call& call) {
    formula.kind = Kind::Call;
    formula.text = call.callee.text;
    for (const auto& argument : call.arguments) {
      formula.arguments.push_back({argument.label ? argument.label->text : "", lower(*argument.value), maybe(argument.over),
                                   argument.by ? argument.by->text : "", maybe(argument.where)});
    }
  }
  void fill(Formula& formula, const lang::ListOf& list) {
    formula.kind = Kind::List;
    for (const auto& item : list.items) formula.operands.push_back(lower(*item));
  }
  void fill(Formula& formula, const lang::Comprehension& comprehension) {
    formula.kind = Kind::Comprehension;
    formula.operands.push_back(lower(*comprehension.item));
    for (const auto& loop : comprehension.loops) {
      formula.loops.push_back({loop.name.text, lower(*loop.from), maybe(loop.to), maybe(loop.step)});
    }
  }
  void fill(Formula& formula, const lang::Unary& unary) {
    formula.kind = unary.op == lang::UnaryOp::Not ? Kind::Not : Kind::Negate;
    formula.operands.push_back(lower(*unary.operand));
  }
  void fill(Formula& formula, const lang::Binary& binary) {
    formula.kind = kind_of(binary.op);
    formula.operands = {lower(*binary.left), lower(*binary.right)};
  }
  void fill(Formula& formula, const lang::Within& within) {
    formula.kind = Kind::Within;
    formula.operands = {lower(*within.value), lower(*within.tolerance), lower(*within.target)};
  }
  void fill(Formula& formula, const lang::InRange& in) {
    formula.kind = Kind::InRange;
    formula.operands = {lower(*in.value), lower(*in.low), lower(*in.high)};
  }

  int element_bytes_;
};

}  // namespace

FormulaPtr lower_expression(const lang::Expr& expression, int element_bytes) { return Lowering(element_bytes).lower(expression); }

}  // namespace gexp::compiler
