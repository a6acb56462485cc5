// SPDX-License-Identifier: Apache-2.0
#include "runtime/lsp/pieces.h"

#include <algorithm>
#include <array>

#include "lang/words.h"

// The grammar needs a whole statement. An editor asks in the middle of one. Two facts make the pieces tell enough:
// reserved words alone begin statements, and two operands never follow each other, so a clause word behind an operand
// is a clause even where something has its name.
namespace gexp::lsp {
namespace {

using lang::Level;
using lang::Piece;

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Clauses of expressions, which every statement may hold.
bool expression_clause(std::string_view word) {
  return one_of(word, {"over", "by", "where", "for", "in", "step", "within", "of", "to", "on"});
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Placed> run() {
    const auto pieces = lang::read_pieces(text_);
    for (std::size_t i = 0; i < pieces.size(); ++i) take(pieces, i);
    return std::move(placed_);
  }

  /// What a piece behind all those taken would be.
  [[nodiscard]] Placed next() const {
    Placed made;
    made.slot = slot();
    made.statement = statement_;
    made.begin = begin_;
    made.level = levels_.back();
    made.root = placed_.size();
    if (!open_.empty()) made.call = open_.back().around;
    return made;
  }

  void take(const std::vector<Piece>& pieces, std::size_t i) {
    Placed made = next();
    made.piece = pieces[i];
    made.text = slice(pieces[i]);
    const auto* follower = i + 1 < pieces.size() ? &pieces[i + 1] : nullptr;
    made.role = role(made, follower);
    if (made.role == Role::Statement) start(made);
    if (made.role == Role::Field && placed_.size() >= 2) made.root = placed_[placed_.size() - 2].root;
    placed_.push_back(made);
    if (made.role == Role::Comment) return;
    if (made.role == Role::Mark) mark(made.text);
    if (made.role == Role::Clause) clause_ = made.text, instruction_ = false;
    last_ = placed_.size() - 1;
    some_ = true;
  }

  /// Labels of the innermost call so far.
  [[nodiscard]] std::vector<std::string_view> labels() const {
    return open_.empty() ? std::vector<std::string_view>() : open_.back().labels;
  }

 private:
  struct Open {
    char bracket = '(';
    bool call = false;
    const lang::Callable* around = nullptr;  ///< the innermost call there, this one or an outer one
    std::vector<std::string_view> labels;
  };

  [[nodiscard]] std::string_view slice(const Piece& piece) const {
    return text_.substr(piece.span.begin, piece.span.end - piece.span.begin);
  }
  [[nodiscard]] const Placed* last() const { return some_ ? &placed_[last_] : nullptr; }

  [[nodiscard]] bool operand_ends() const {
    const auto* before = last();
    if (!before) return false;
    switch (before->role) {
      case Role::Name:
      case Role::Field:
      case Role::Word:
      case Role::Literal:
        return true;
      case Role::Mark:
        return one_of(before->text, {")", "]"});
      default:
        return false;
    }
  }

  [[nodiscard]] Slot slot() const {
    const auto* before = last();
    if (!before) return Slot::Statement;
    if (!statement_ || one_of(before->text, {"{", "}"})) return Slot::Statement;
    if (before->text == "." && before->role == Role::Mark) return instruction_ ? Slot::Instruction : Slot::Field;
    if (before->role == Role::Statement) return behind_statement(before->text);
    if (before->role == Role::Clause && before->text == "for") return Slot::Declared;
    if (!open_.empty()) return inside_brackets(*before);
    return by_statement(*before);
  }

  [[nodiscard]] static Slot behind_statement(std::string_view word) {
    if (one_of(word, {"gexp", "use", "seed", "kernel"})) return Slot::Nothing;
    if (word == "meta") return Slot::MetaKey;
    if (word == "record") return Slot::Record;
    if (word == "flush") return Slot::CacheLevel;
    if (word == "alu") return Slot::Instruction;
    if (word == "barrier") return Slot::AfterOperand;
    if (one_of(word, {"chase", "load", "store"})) return Slot::Memory;
    if (one_of(word, {"launch", "budget", "warm"})) return Slot::Clauses;
    if (one_of(word, {"require", "skip", "branch", "expect", "plot", "repeat", "transform", "give"})) return Slot::Expression;
    return Slot::Declared;
  }

  [[nodiscard]] Slot inside_brackets(const Placed& before) const {
    const auto& open = open_.back();
    const bool typed_names = statement_->word == "analysis" && open_.size() == 1;
    if (typed_names && one_of(before.text, {":", "/"})) return Slot::Type;
    if (operand_ends()) return Slot::AfterOperand;
    if (typed_names) return Slot::Declared;
    const bool given = statement_->word == "kernel" && open_.size() == 1 && open.bracket == '(';
    if (given) return before.role == Role::Clause && before.text == "by" ? Slot::Pattern : Slot::Given;
    const bool names = statement_->word == "sweep" && clause_.empty() && open.bracket == '(';
    if (names) return Slot::Declared;
    if (before.text == ":" && !open.labels.empty() && open.call && open.around) {
      const auto label = std::find_if(open.around->labels.begin(), open.around->labels.end(),
                                      [&](const lang::Label& each) { return each.name == open.labels.back(); });
      if (label != open.around->labels.end() && label->takes == lang::Takes::Neighbours) return Slot::Neighbour;
    }
    return open.call && one_of(before.text, {"(", ","}) ? Slot::Argument : Slot::Expression;
  }

  [[nodiscard]] Slot by_statement(const Placed& before) const {
    const auto word = statement_->word;
    if (before.role == Role::Mark && before.text == ":") return word == "memory" ? Slot::Element : Slot::Type;
    if (before.text == "/" && !assigned_ && one_of(word, {"param", "find", "derive", "analysis"})) return Slot::Type;
    if (before.text == "->") return Slot::Type;
    if (before.role == Role::Name && before.slot == Slot::Declared && word == "timed") return Slot::Timing;
    if (before.slot == Slot::Record && word == "record") return Slot::Keep;
    if (before.role == Role::Clause) {
      if (before.text == "log" && word == "sweep") return Slot::AfterOperand;
      if (before.text == "via") return Slot::Path;
      if (before.text == "place") return Slot::Placement;
      if (before.text == "as" && word == "use") return Slot::Declared;
      if (before.text == "in" && word == "memory") return Slot::Space;
      if (before.text == "by" && word == "chase") return Slot::Pattern;
      if (one_of(before.text, {"entry", "define"}) && word == "kernel") return Slot::Instruction;
      if (before.text == "sha256") return Slot::Nothing;
      if (before.text == "on" && word == "expect") return Slot::Selector;
    }
    if (before.text == "," && word == "expect" && clause_ == "on") return Slot::Selector;
    if (before.text == "=" && word == "find") return Slot::Analysis;
    return operand_ends() ? Slot::AfterOperand : Slot::Expression;
  }

  /// Whether a statement word begins one here. Some are words of a clause, too.
  [[nodiscard]] bool begins_statement(const Placed& made, const Piece* follower) const {
    if (!lang::is_statement_word(made.text) || made.slot == Slot::Field || made.slot == Slot::MetaKey) return false;
    if (made.slot == Slot::Type && statement_ && statement_->word == "analysis") return false;  // a `record` is a type of its arguments
    if (made.slot == Slot::Instruction && statement_ && statement_->word == "kernel") return false;  // a kernel may be called `load`
    const bool call = follower && slice(*follower) == "(" && follower->span.begin == made.piece.span.end;
    if (made.text == "repeat" && call && !operand_ends() && made.slot != Slot::Statement) return false;
    const bool in_budget = made.text == "memory" && statement_ && statement_->word == "budget" && clause_ != "memory";
    if (!in_budget || !follower || follower->kind != Piece::Kind::Word) return !in_budget;
    auto at = follower->span.end;  // `memory A:` begins a statement, `memory limit` does not
    while (at < text_.size() && text_[at] == ' ') ++at;
    return at < text_.size() && text_[at] == ':';
  }

  [[nodiscard]] Role role(const Placed& made, const Piece* follower) const {
    if (made.piece.kind == Piece::Kind::Comment) return Role::Comment;
    if (made.piece.kind == Piece::Kind::Number || made.piece.kind == Piece::Kind::Text) return Role::Literal;
    if (made.piece.kind == Piece::Kind::Mark) return Role::Mark;
    if (begins_statement(made, follower)) return Role::Statement;
    if (made.slot == Slot::Field) return Role::Field;
    if (lang::is_operator_word(made.text)) return Role::Operator;
    const bool bracket = follower && slice(*follower) == "(" && follower->span.begin == made.piece.span.end;
    if (bracket && made.slot != Slot::Declared && made.slot != Slot::Instruction) return Role::Callee;
    if (made.slot == Slot::Argument && follower && slice(*follower) == ":") return Role::Label;
    switch (made.slot) {
      case Slot::Type:
      case Slot::Element:
      case Slot::Space:
      case Slot::Path:
      case Slot::CacheLevel:
      case Slot::Timing:
      case Slot::Keep:
      case Slot::Placement:
      case Slot::MetaKey:
      case Slot::Selector:
        return Role::Word;
      case Slot::Instruction: {  // without a type it is the name of a value
        const bool named = statement_->word == "alu" && last() && last()->text == "alu" && !(follower && slice(*follower) == ".");
        return named ? Role::Name : Role::Word;
      }
      case Slot::Neighbour:
        return lang::neighbour_words().has(made.text) ? Role::Word : Role::Name;
      case Slot::Clauses:
        return statement_->has_clause(made.text) ? Role::Clause : Role::Name;
      case Slot::AfterOperand: {
        const bool known = expression_clause(made.text) || statement_->has_clause(made.text);
        return known || (statement_->word == "budget" && made.text == "memory") ? Role::Clause : Role::Name;
      }
      default:
        break;
    }
    const bool of_refine = made.text == "to" && last() && last()->text == "refine" && last()->role == Role::Clause;
    return of_refine ? Role::Clause : Role::Name;
  }

  void start(Placed& made) {
    made.statement = statement_ = lang::find_statement(made.text);
    made.begin = begin_ = placed_.size();
    clause_ = {};
    assigned_ = false;
    instruction_ = made.text == "alu";
    open_.clear();
    if (levels_.back() == Level::Head && !one_of(made.text, {"gexp", "experiment"})) levels_.back() = Level::File;
    if (one_of(made.text, {"stage", "analysis"})) levels_.resize(1);  // the one before was not closed
    made.level = levels_.back();
    made.call = nullptr;
  }

  void mark(std::string_view text) {
    if (text == "(" || text == "[") {
      const auto* before = last();
      const bool call = text == "(" && before && (before->role == Role::Callee || before->role == Role::Field);  // `m.cost(`
      const auto* around = open_.empty() ? nullptr : open_.back().around;
      open_.push_back({text[0], call, call ? lang::find_callable(before->text) : around, {}});
    } else if ((text == ")" || text == "]") && !open_.empty()) {
      open_.pop_back();
    } else if (text == "{") {
      const auto word = statement_ ? statement_->word : "";
      levels_.push_back(word == "stage" ? Level::Stage : word == "analysis" ? Level::Analysis : Level::Body);
      statement_ = nullptr;
    } else if (text == "}") {
      if (levels_.size() > 1) levels_.pop_back();
      statement_ = nullptr;
    } else if (text == "=") {
      assigned_ = true;
    } else if (text == ":" && !open_.empty() && last()) {
      open_.back().labels.push_back(last()->text);
    }
  }

  std::string_view text_;
  std::vector<Placed> placed_;
  std::vector<Level> levels_{Level::Head};
  std::vector<Open> open_;
  const lang::StatementForm* statement_ = nullptr;
  std::size_t begin_ = 0, last_ = 0;
  std::string_view clause_;  ///< the latest of the statement
  bool some_ = false, assigned_ = false, instruction_ = false;
};

}  // namespace

std::vector<Placed> place_pieces(std::string_view text) { return Scanner(text).run(); }

Cursor cursor_at(std::string_view text, const std::vector<Placed>& pieces, std::uint32_t offset) {
  Cursor cursor;
  cursor.word = {offset, offset};
  std::vector<Piece> before;
  for (const auto& each : pieces) {
    const auto span = each.piece.span;
    if (span.begin >= offset) break;
    const bool open_text = each.piece.kind == Piece::Kind::Text && (each.text.size() < 2 || each.text.back() != '"');
    if (each.role == Role::Comment && text.substr(span.begin, offset - span.begin).find('\n') == std::string_view::npos)
      cursor.in_comment = true;
    if (each.piece.kind == Piece::Kind::Text && (offset < span.end || open_text) && offset <= span.end)
      cursor.in_text = true;
    if ((each.piece.kind == Piece::Kind::Word || each.piece.kind == Piece::Kind::Number) && offset <= span.end) {
      cursor.word = {span.begin, offset};
      (each.piece.kind == Piece::Kind::Word ? cursor.in_word : cursor.in_number) = true;
      break;
    }
    before.push_back(each.piece);
  }
  Scanner scanner(text);
  // A number before the cursor is not followed by what stands there now.
  for (std::size_t i = 0; i < before.size(); ++i) scanner.take(before, i);
  cursor.before = before.size();
  cursor.here = scanner.next();
  cursor.labels = scanner.labels();
  const auto line = text.substr(0, cursor.word.begin).find_last_of("\r\n");
  const auto from = line == std::string_view::npos ? 0 : line + 1;
  cursor.begins_line = text.substr(from, cursor.word.begin - from).find_first_not_of(" \t") == std::string_view::npos;
  return cursor;
}

}  // namespace gexp::lsp
