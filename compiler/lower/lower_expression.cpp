// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower.h"
#include "lang/base/result.h"

namespace gexp::compiler {
namespace {

Formula::Kind kind_of(lang::BinaryOp op) {
  switch (op) {
    case lang::BinaryOp::Add: return Formula::Kind::Add;
    case lang::BinaryOp::Subtract: return Formula::Kind::Subtract;
    case lang::BinaryOp::Multiply: return Formula::Kind::Multiply;
    case lang::BinaryOp::Divide: return Formula::Kind::Divide;
    case lang::BinaryOp::Div: return Formula::Kind::Div;
    case lang::BinaryOp::Mod: return Formula::Kind::Mod;
    case lang::BinaryOp::Shl: return Formula::Kind::Shl;
    case lang::BinaryOp::Shr: return Formula::Kind::Shr;
    case lang::BinaryOp::Equal: return Formula::Kind::Equal;
    case lang::BinaryOp::NotEqual: return Formula::Kind::NotEqual;
    case lang::BinaryOp::Less: return Formula::Kind::Less;
    case lang::BinaryOp::LessEqual: return Formula::Kind::LessEqual;
    case lang::BinaryOp::Greater: return Formula::Kind::Greater;
    case lang::BinaryOp::GreaterEqual: return Formula::Kind::GreaterEqual;
    case lang::BinaryOp::And: return Formula::Kind::And;
    case lang::BinaryOp::Xor: return Formula::Kind::Xor;
    case lang::BinaryOp::Or: return Formula::Kind::Or;
    case lang::BinaryOp::Else: return Formula::Kind::Else;
  }
  return Formula::Kind::Constant;
}

class ExpressionLowering {
 public:
  explicit ExpressionLowering(int element_bytes) : element_bytes_(element_bytes) {}

  FormulaPtr lower(const lang::Expr& expression) {
    auto formula = std::make_shared<Formula>();
    formula->span = expression.span;
    std::visit([&](const auto& node) { fill(*formula, node); }, expression.node);
    return formula;
  }

 private:
  template <class... Parts> void operands(Formula& formula, const Parts&... parts) {
    formula.operands.reserve(sizeof...(parts));
    (formula.operands.push_back(lower(*parts)), ...);
  }
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
    formula.kind = Formula::Kind::Name;
    formula.text = name.text;
  }
  void fill(Formula& formula, const lang::Member& member) {
    formula.kind = Formula::Kind::Field;
    formula.text = member.field.text;
    operands(formula, member.of);
  }
  void fill(Formula& formula, const lang::Call& call) {
    formula.kind = Formula::Kind::Call;
    formula.text = call.callee.text;
    formula.arguments.reserve(call.arguments.size());
    for (const auto& argument : call.arguments) {
      formula.arguments.push_back({argument.label ? argument.label->text : "", lower(*argument.value), maybe(argument.over),
                                   argument.by ? argument.by->text : "", maybe(argument.where)});
    }
  }
  void fill(Formula& formula, const lang::ListOf& list) {
    formula.kind = Formula::Kind::List;
    for (const auto& item : list.items) formula.operands.push_back(lower(*item));
  }
  void fill(Formula& formula, const lang::Comprehension& comprehension) {
    formula.kind = Formula::Kind::Comprehension;
    operands(formula, comprehension.item);
    for (const auto& loop : comprehension.loops) {
      formula.loops.push_back({loop.name.text, lower(*loop.from), maybe(loop.to), maybe(loop.step)});
    }
  }
  void fill(Formula& formula, const lang::Unary& unary) {
    formula.kind = unary.op == lang::UnaryOp::Not ? Formula::Kind::Not : Formula::Kind::Negate;
    operands(formula, unary.operand);
  }
  void fill(Formula& formula, const lang::Binary& binary) {
    formula.kind = kind_of(binary.op);
    operands(formula, binary.left, binary.right);
  }
  void fill(Formula& formula, const lang::Within& within) {
    formula.kind = Formula::Kind::Within;
    operands(formula, within.value, within.tolerance, within.target);
  }
  void fill(Formula& formula, const lang::InRange& in) {
    formula.kind = Formula::Kind::InRange;
    operands(formula, in.value, in.low, in.high);
  }

  int element_bytes_;
};

}  // namespace

FormulaPtr lower_expression(const lang::Expr& expression, int element_bytes) { return ExpressionLowering(element_bytes).lower(expression); }

}  // namespace gexp::compiler
