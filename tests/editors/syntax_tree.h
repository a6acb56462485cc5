// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tree_sitter/api.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

extern "C" const TSLanguage* tree_sitter_gexp();

/// What editors/tree-sitter-gexp makes of a text.
namespace gexp::test {

class SyntaxTree {
 public:
  explicit SyntaxTree(std::string_view text) : text_(text) {
    const std::unique_ptr<TSParser, decltype(&ts_parser_delete)> parser(ts_parser_new(), ts_parser_delete);
    if (!ts_parser_set_language(parser.get(), tree_sitter_gexp())) return;  // then there is no tree
    tree_.reset(ts_parser_parse_string(parser.get(), nullptr, text.data(), static_cast<std::uint32_t>(text.size())));
  }

  [[nodiscard]] TSNode root() const { return ts_tree_root_node(tree_.get()); }
  /// No ERROR node, and none that was made up because it is missing.
  [[nodiscard]] bool whole() const { return tree_ && !ts_node_has_error(root()); }
  [[nodiscard]] std::string_view text(TSNode node) const {
    return text_.substr(ts_node_start_byte(node), ts_node_end_byte(node) - ts_node_start_byte(node));
  }
  /// The named nodes as an S-expression.
  [[nodiscard]] std::string expression() const {
    const std::unique_ptr<char, decltype(&std::free)> shown(ts_node_string(root()), std::free);
    return shown.get();
  }

 private:
  std::string_view text_;
  std::unique_ptr<TSTree, decltype(&ts_tree_delete)> tree_{nullptr, ts_tree_delete};
};

struct Capture {
  std::string name;  ///< without `@`
  TSNode node;
};

/// A query file (`queries/highlights.scm`), compiled.
class Query {
 public:
  explicit Query(std::string_view text) {
    std::uint32_t at = 0;
    TSQueryError error = TSQueryErrorNone;
    query_.reset(ts_query_new(tree_sitter_gexp(), text.data(), static_cast<std::uint32_t>(text.size()), &at, &error));
    if (!query_) problem_ = "the query has error " + std::to_string(error) + " at: " + std::string(text.substr(at, 60));
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }  ///< empty where it compiles

  /// In the order of the text; of several captures of a node the first is what editors show last.
  [[nodiscard]] std::vector<Capture> captures(const SyntaxTree& tree) const {
    std::vector<Capture> found;
    if (!query_) return found;
    const std::unique_ptr<TSQueryCursor, decltype(&ts_query_cursor_delete)> cursor(ts_query_cursor_new(), ts_query_cursor_delete);
    ts_query_cursor_exec(cursor.get(), query_.get(), tree.root());
    TSQueryMatch match;
    std::uint32_t index = 0;
    while (ts_query_cursor_next_capture(cursor.get(), &match, &index)) {
      const auto& capture = match.captures[index];
      std::uint32_t length = 0;
      const char* name = ts_query_capture_name_for_id(query_.get(), capture.index, &length);
      found.push_back({std::string(name, length), capture.node});
    }
    return found;
  }

 private:
  std::unique_ptr<TSQuery, decltype(&ts_query_delete)> query_{nullptr, ts_query_delete};
  std::string problem_;
};

}  // namespace gexp::test
