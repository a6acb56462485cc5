// SPDX-License-Identifier: Apache-2.0
#include "lang/build_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "lang/base/result.h"

namespace gexp::lang {
namespace {

BinaryOp operator_of(std::string_view sign) {
  static const std::map<std::string_view, BinaryOp> kOperators = {
      {"+", BinaryOp::Add},       {"-", BinaryOp::Subtract},   {"*", BinaryOp::Multiply}, {"/", BinaryOp::Divide},
      {"div", BinaryOp::Div},     {"mod", BinaryOp::Mod},      {"shl", BinaryOp::Shl},     {"shr", BinaryOp::Shr},   {"==", BinaryOp::Equal},   {"!=", BinaryOp::NotEqual},
      {"<", BinaryOp::Less},      {"<=", BinaryOp::LessEqual}, {">", BinaryOp::Greater},  {">=", BinaryOp::GreaterEqual},
      {"??", BinaryOp::Else}};
  return kOperators.at(sign);
}

/// Chains such as `1 + 1 + …` nest without brackets; everything that walks an expression recurses, so its depth has a limit.
constexpr std::size_t kMaxDepth = 1000;
constexpr std::size_t kMaxLoops = 32;  // of one list, each inside the one before

class ExpressionBuilder {
 public:
  explicit ExpressionBuilder(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  ExprPtr build(const Tree& tree) {
    const auto beside = std::exchange(deepest_, 0);
    auto made = build_node(tree);
    deepest_ = std::max(beside, deepest_ + 1);
    return made;
  }

 private:
  ExprPtr build_node(const Tree& tree) {
    auto made = std::make_unique<Expr>();
    made->span = tree.span;
    switch (tree.kind) {
      case Kind::Quantity: made->node = quantity(tree); break;
      case Kind::TextValue: made->node = Text{tree.children.empty() ? "" : std::string(tree.children[0]->text)}; break;
      case Kind::Path: return path(tree);
      case Kind::Call: made->node = call(tree); break;
      case Kind::List: list(tree, *made); break;
      case Kind::Group: return group(tree);
      case Kind::Unary: return signs(tree, UnaryOp::Negate);
      case Kind::Negation: return signs(tree, UnaryOp::Not);
      case Kind::Product:
      case Kind::Sum:
      case Kind::ValueChain: return chain(tree);
      case Kind::Conjunction: return words(tree, BinaryOp::And);
      case Kind::Exclusion: return words(tree, BinaryOp::Xor);
      case Kind::Disjunction: return words(tree, BinaryOp::Or);
      case Kind::Comparison: return comparison(tree);
      default: GEXP_CHECK(false);
    }
    return made;
  }

  /// That many more levels around what was built last; false, and said, when they are too many.
  bool deepen(std::size_t levels, Span span) {
    if (deepest_ + levels <= kMaxDepth) {
      deepest_ += levels;
      return true;
    }
    if (!too_deep_) diagnostics_.error("E0101", span, fmt::format("this expression is more than {} operations deep", kMaxDepth), "name its parts with `let`");
    too_deep_ = true;
    return false;
  }

  Quantity quantity(const Tree& tree) {
    Quantity made;
    const auto& digits = tree.children[0]->text;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), made.number);
    if (parsed.ec != std::errc()) diagnostics_.error("E0109", tree.span, fmt::format("{} is too large a number", digits), "numbers end at 1.8e308");
    if (tree.children.size() < 2) return made;
    made.unit = tree.children[1]->text;
    if (find_unit(made.unit)) return made;
    const auto whole = fmt::format("{}{}", digits, made.unit);
    if (digits == "0" && (made.unit[0] == 'x' || made.unit[0] == 'X')) {
      diagnostics_.error("E0109", tree.span, fmt::format("`{}`: numbers are decimal", whole), "write 16B for 0x10 bytes");
    } else if (made.unit[0] == '_') {
      auto plain = whole;
      std::erase(plain, '_');
      diagnostics_.error("E0109", tree.span, fmt::format("`{}`: the digits of a number stand together", whole), fmt::format("write `{}`", plain));
    } else {
      // Decimal kilobytes are meant as often as binary ones: say both.
      const auto near = nearest(made.unit, unit_words());
      std::string hint = near ? fmt::format("did you mean `{}{}`?", digits, *near)
                              : fmt::format("a product is written `{} * {}`; units are B KiB MiB GiB GB elem cycles ops ns us ms s MHz GHz %", digits, made.unit);
      if (made.unit == "KB" || made.unit == "kB" || made.unit == "kb" || made.unit == "K" || made.unit == "k") hint = fmt::format("write `{}KiB` for 1024 bytes each", digits);
      if (made.unit == "MB" || made.unit == "M") hint = fmt::format("write `{}MiB`", digits);
      diagnostics_.error("E0109", tree.children[1]->span, fmt::format("`{}` is no unit", made.unit), hint);
    }
    made.unit.clear();
    return made;
  }

  ExprPtr path(const Tree& tree) {
    auto made = std::make_unique<Expr>();
    made->span = tree.children[0]->span;
    made->node = Name{std::string(tree.children[0]->text)};
    if (!deepen(tree.children.size() - 1, tree.span)) return made;
    for (std::size_t i = 1; i < tree.children.size(); ++i) {
      auto outer = std::make_unique<Expr>();
      outer->span = {tree.span.begin, tree.children[i]->span.end};
      outer->node = Member{std::move(made), word_of(*tree.children[i])};
      made = std::move(outer);
    }
    return made;
  }

  Call call(const Tree& tree) {
    Call made;
    made.callee = word_of(*tree.children[0]);
    for (std::size_t i = 1; i < tree.children.size(); ++i) {
      CallArgument argument;
      for (const auto& part : tree.children[i]->children) {
        if (part->kind == Kind::Label) argument.label = word_of(*part);
        else if (part->kind == Kind::Over) argument.over = build(*part->children[0]);
        else if (part->kind == Kind::By) argument.by = word_of(*part->children[0]);
        else if (part->kind == Kind::Where) argument.where = build(*part->children[0]);
        else argument.value = build(*part);
      }
      made.arguments.push_back(std::move(argument));
    }
    return made;
  }

  void list(const Tree& tree, Expr& made) {
    Comprehension comprehension;
    ListOf items;
    for (const auto& part : tree.children) {
      if (part->kind == Kind::For) {
        For loop;
        loop.name = word_of(*part->children[0]);
        loop.from = build(*part->children[1]);
        if (part->children.size() > 2) loop.to = build(*part->children[2]);
        if (part->children.size() > 3) loop.step = build(*part->children[3]);
        comprehension.loops.push_back(std::move(loop));
      } else {
        items.items.push_back(build(*part));
      }
    }
    if (comprehension.loops.size() > kMaxLoops) {
      diagnostics_.error("E0101", tree.span, fmt::format("a list with more than {} `for`s", kMaxLoops), "take it apart into several lists");
      comprehension.loops.resize(kMaxLoops);
    }
    if (comprehension.loops.empty()) {
      made.node = std::move(items);
    } else {
      comprehension.item = std::move(items.items[0]);
      made.node = std::move(comprehension);
    }
  }

  ExprPtr group(const Tree& tree) {
    if (tree.children.size() == 1) {
      auto inner = build(*tree.children[0]);
      inner->span = tree.span;  // a caret under it takes the parentheses along
      return inner;
    }
    auto made = std::make_unique<Expr>();
    made->span = tree.span;
    ListOf items;
    for (const auto& part : tree.children) items.items.push_back(build(*part));
    items.tuple = true;
    made->node = std::move(items);
    return made;
  }

  ExprPtr signs(const Tree& tree, UnaryOp op) {
    auto made = build(*tree.children.back());
    if (!deepen(tree.children.size() - 1, tree.span)) return made;
    for (std::size_t i = tree.children.size() - 1; i-- > 0;) {
      auto outer = std::make_unique<Expr>();
      outer->span = cover(tree.children[i]->span, made->span);
      outer->node = Unary{op, std::move(made)};
      made = std::move(outer);
    }
    return made;
  }

  ExprPtr binary(BinaryOp op, Span op_span, ExprPtr left, ExprPtr right) {
    auto made = std::make_unique<Expr>();
    made->span = cover(left->span, right->span);
    made->node = Binary{op, op_span, std::move(left), std::move(right)};
    return made;
  }

  /// operand sign operand sign operand: from the left.
  ExprPtr chain(const Tree& tree) {
    auto made = build(*tree.children[0]);
    for (std::size_t i = 1; i + 1 < tree.children.size(); i += 2) {
      auto right = build(*tree.children[i + 1]);
      if (!deepen(1, tree.span)) return made;
      made = binary(operator_of(tree.children[i]->text), tree.children[i]->span, std::move(made), std::move(right));
    }
    return made;
  }

  ExprPtr words(const Tree& tree, BinaryOp op) {
    auto made = build(*tree.children[0]);
    for (std::size_t i = 1; i < tree.children.size(); ++i) {
      auto right = build(*tree.children[i]);
      if (!deepen(1, tree.span)) return made;
      made = binary(op, {}, std::move(made), std::move(right));
    }
    return made;
  }

  ExprPtr comparison(const Tree& tree) {
    auto left = build(*tree.children[0]);
    const auto& second = *tree.children[1];
    if (second.kind == Kind::CompareSign) {
      return binary(operator_of(second.text), second.span, std::move(left), build(*tree.children[2]));
    }
    auto made = std::make_unique<Expr>();
    auto first = build(*second.children[0]);
    auto last = build(*second.children[1]);
    made->span = cover(left->span, last->span);
    if (second.kind == Kind::Within) made->node = Within{std::move(left), std::move(first), std::move(last)};
    else made->node = InRange{std::move(left), std::move(first), std::move(last)};
    return made;
  }

  Diagnostics& diagnostics_;
  std::size_t deepest_ = 0;  ///< levels of the deepest expression built beside or inside this one
  bool too_deep_ = false;
};

}  // namespace

ExprPtr build_expression(const Tree& tree, Diagnostics& diagnostics) { return ExpressionBuilder(diagnostics).build(tree); }

}  // namespace gexp::lang
