// SPDX-License-Identifier: Apache-2.0
// Writes syntaxes/*.tmLanguage.json of ../words.json, which a test makes of gexp's own tables. A TextMate grammar sees one line at
// a time: it is the highlight of the first moment, and of places without a language server.
import { readFileSync, writeFileSync } from 'node:fs';

const words = JSON.parse(readFileSync(new URL('../../words.json', import.meta.url), 'utf8'));
const any = (...kinds) =>
  kinds
    .flatMap((kind) => words[kind])
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
    .join('|');
const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const capture = (...names) =>
  Object.fromEntries(names.map((name, i) => [i + 1, { name: `${name}.gexp` }]).filter(([, c]) => c.name !== '.gexp'));
const rule = (name, match) => ({ name: `${name}.gexp`, match });
const declared = (statements, scope) => ({
  match: `\\b(${statements})\\s+(${NAME})`,
  captures: capture('keyword.control', scope),
});
/** The type behind the name that a statement declares. */
const typed = (statements, type) => ({
  match: `\\b(${statements})\\s+(${NAME})\\s*(:)\\s*(${type})`,
  captures: capture('keyword.control', 'variable.other.definition', 'punctuation.separator', 'support.type'),
});
const chosen = (before, kind) => ({
  match: `\\b(${before})\\s+(${any(kind)})\\b`,
  captures: capture('keyword.other.clause', 'constant.language'),
});

const patterns = [
  rule('comment.line.number-sign', '#.*$'),
  rule('string.quoted.double', '"[^"]*"'),
  rule('invalid.illegal.unclosed-string', '"[^"]*$'),

  // What statements declare.
  declared('stage|experiment', 'entity.name.section'),
  typed('param|find|derive', `${NAME}(?:/${NAME})?`),
  typed('memory(?=\\s+\\w+\\s*:)', any('elements')),
  {
    match: `\\b(timed)\\s+(${NAME})\\s+(${any('timings')})\\b`,
    captures: capture('keyword.control', 'variable.other.definition', 'constant.language'),
  },
  {
    match: `\\b(record)\\s+(${NAME})\\s+(${any('keeps')})\\b`,
    captures: capture('keyword.control', 'variable.other', 'constant.language'),
  },
  { match: `\\b(flush)\\s+(${any('levels')})\\b`, captures: capture('keyword.control', 'constant.language') },
  { match: `\\b(meta)\\s+(${NAME})`, captures: capture('keyword.control', 'variable.other.property') },
  {
    match: `\\b(alu)\\s+(${NAME}(?:\\.[A-Za-z0-9_]+)*)`,
    captures: capture('keyword.control.operation', 'support.function.instruction'),
  },
  { match: `\\b(chase|load|store)\\s+(${NAME})`, captures: capture('keyword.control.operation', 'variable.other') },
  {
    match: `\\b(unroll|loop)\\s+(${NAME})\\s+(in)\\b`,
    captures: capture('keyword.control.operation', 'variable.other.definition', 'keyword.other.clause'),
  },
  declared('let|pattern|sweep', 'variable.other.definition'),
  {
    match: `\\b(for)\\s+(${NAME})\\s+(in)\\b`,
    captures: capture('keyword.other.clause', 'variable.other.definition', 'keyword.other.clause'),
  },
  {
    match: `\\b(as)\\s+(${NAME})\\s+(sha256)\\b`,
    captures: capture('keyword.other.clause', 'entity.name.section', 'keyword.other.clause'),
  },
  chosen('in', 'spaces'),
  chosen('via', 'paths'),
  chosen('place', 'places'),
  chosen('as', 'drawings'),

  // Calls, labels, fields.
  {
    match: `\\b(of)\\s*(:)\\s*(${any('neighbours')})\\b`,
    captures: capture('variable.parameter', 'punctuation.separator', 'constant.language'),
  },
  rule('support.function.analysis', `\\b(?:${any('analyses')})(?=\\()`),
  rule('support.function.pattern', `\\b(?:${any('patterns')})(?=\\()`),
  rule('support.function', `\\b(?:${any('functions')})(?=\\()`),
  { match: `\\b(${NAME})\\s*(:)(?!:)`, captures: capture('variable.parameter', 'punctuation.separator') },
  { match: `(?<=[A-Za-z0-9_])(\\.)(${NAME})`, captures: capture('punctuation.accessor', 'variable.other.property') },
  rule('variable.language', '\\b(?:device|lane|tid|warp|gtid|cta|step|lap|seg)\\b(?=\\.|\\s*[-+*/<>=!)]|\\s+(?:div|mod|and|or)\\b)'),

  {
    match: `\\b([0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(%|(?:${any('units').replace('|%', '')})(?:/(?:cycle|s))?(?![A-Za-z0-9_]))?`,
    captures: capture('constant.numeric', 'keyword.other.unit'),
  },
  rule('keyword.control', `\\b(?:${any('statements')})\\b`),
  rule('keyword.control.operation', `\\b(?:${any('operations')})\\b`),
  rule('keyword.operator.word', `\\b(?:${any('operators')})\\b`),
  rule('keyword.other.clause', `\\b(?:${any('clauses')})\\b`),
  rule('keyword.operator.range', '\\.\\.'),
  rule('keyword.operator', '==|!=|<=|>=|<|>|\\?\\?|[-+*/=]'),
  rule('punctuation.section', '[\\[\\](){}]'),
  rule('punctuation.separator', '[,:]'),
  rule('variable.other', `\\b${NAME}\\b`),
];

const grammar = { name: 'gexp', scopeName: 'source.gexp', fileTypes: ['gexp'], patterns };
/** Code of gexp in Markdown, as in this project's documents and in what the language server shows. */
const markdown = {
  scopeName: 'markdown.gexp.codeblock',
  injectionSelector: 'L:text.html.markdown',
  patterns: [
    {
      name: 'markup.fenced_code.block.markdown',
      begin: '(^|\\G)(\\s*)(`{3,}|~{3,})\\s*(gexp)\\b[^`]*$',
      end: '(^|\\G)(\\2|\\s{0,3})(\\3)\\s*$',
      beginCaptures: { 3: { name: 'punctuation.definition.markdown' }, 4: { name: 'fenced_code.block.language' } },
      endCaptures: { 3: { name: 'punctuation.definition.markdown' } },
      patterns: [
        {
          begin: '(^|\\G)(\\s*)(.*)',
          while: '(^|\\G)(?!\\s*([`~]{3,})\\s*$)',
          contentName: 'meta.embedded.block.gexp',
          patterns: [{ include: 'source.gexp' }],
        },
      ],
    },
  ],
};
const folder = process.argv[2] ?? new URL('../syntaxes', import.meta.url).pathname;
writeFileSync(`${folder}/gexp.tmLanguage.json`, JSON.stringify(grammar, null, 2) + '\n');
writeFileSync(`${folder}/markdown.tmLanguage.json`, JSON.stringify(markdown, null, 2) + '\n');
