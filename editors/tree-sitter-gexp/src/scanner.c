// SPDX-License-Identifier: Apache-2.0
// The tokens that a regular expression cannot tell: names, which are no reserved words, and units, which touch their number.
#include <string.h>

#include "tree_sitter/parser.h"

#include "reserved.h"

enum TokenType { NAME, UNIT, WHILE, ERROR_SENTINEL };

/// Longer than every word that is looked up.
enum { LONGEST = 24 };

static bool is_word_start(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_word(int32_t c) { return is_word_start(c) || (c >= '0' && c <= '9'); }
static bool is_space(int32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Reads a word; `text` holds its beginning, as much as there is room for, with a zero behind it.
static void read_word(TSLexer *lexer, char text[LONGEST]) {
  unsigned length = 0;
  while (is_word(lexer->lookahead)) {
    if (length < LONGEST - 1) text[length++] = (char)lexer->lookahead;
    lexer->advance(lexer, false);
  }
  text[length] = '\0';
}

static bool is_reserved(const char *text) {
  for (unsigned i = 0; i < sizeof kReserved / sizeof *kReserved; ++i) {
    if (strcmp(text, kReserved[i]) == 0) return true;
  }
  return false;
}

/// `%`, a word, or a word and `/s` or `/cycle`: `4B/stride` is a division by `stride`.
static bool scan_unit(TSLexer *lexer) {
  char text[LONGEST];
  lexer->result_symbol = UNIT;
  if (lexer->lookahead == '%') {
    lexer->advance(lexer, false);
    lexer->mark_end(lexer);
    return true;
  }
  read_word(lexer, text);
  lexer->mark_end(lexer);
  if (lexer->lookahead != '/') return true;
  lexer->advance(lexer, false);
  read_word(lexer, text);
  if (strcmp(text, "s") == 0 || strcmp(text, "cycle") == 0) lexer->mark_end(lexer);
  return true;
}

/// A name; or, behind `loop`, the word `while`, which is a name where `in` follows it.
static bool scan_name(TSLexer *lexer, bool may_be_while) {
  char text[LONGEST];
  while (is_space(lexer->lookahead)) lexer->advance(lexer, true);
  if (!is_word_start(lexer->lookahead)) return false;
  read_word(lexer, text);
  if (is_reserved(text)) return false;
  lexer->mark_end(lexer);
  lexer->result_symbol = NAME;
  if (may_be_while && strcmp(text, "while") == 0) {
    while (is_space(lexer->lookahead)) lexer->advance(lexer, false);
    read_word(lexer, text);
    if (strcmp(text, "in") != 0) lexer->result_symbol = WHILE;
  }
  return true;
}

void *tree_sitter_gexp_external_scanner_create(void) { return NULL; }
void tree_sitter_gexp_external_scanner_destroy(void *payload) { (void)payload; }
unsigned tree_sitter_gexp_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload, (void)buffer;
  return 0;
}
void tree_sitter_gexp_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload, (void)buffer, (void)length;
}

bool tree_sitter_gexp_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid_symbols) {
  (void)payload;
  const bool recovering = valid_symbols[ERROR_SENTINEL];  // then all are marked as valid
  if (valid_symbols[UNIT] && !recovering && (lexer->lookahead == '%' || is_word_start(lexer->lookahead))) return scan_unit(lexer);
  return valid_symbols[NAME] && scan_name(lexer, valid_symbols[WHILE] && !recovering);
}
