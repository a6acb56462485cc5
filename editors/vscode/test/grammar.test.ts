// SPDX-License-Identifier: Apache-2.0
// The TextMate grammar, through the libraries that VS Code uses.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { IGrammar, INITIAL, Registry, StateStack, parseRawGrammar } from 'vscode-textmate';
import { OnigScanner, OnigString, loadWASM } from 'vscode-oniguruma';
import { extensionFolder, read, specs, words } from './support';
import { readFileSync } from 'node:fs';

let grammar: IGrammar;

before(async () => {
  const wasm = readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
  await loadWASM({ data: wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength) });
  const path = join(extensionFolder, 'syntaxes/gexp.tmLanguage.json');
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new OnigScanner(sources),
      createOnigString: (text) => new OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(read(path), path),
  });
  const loaded = await registry.loadGrammar('source.gexp');
  assert.ok(loaded);
  grammar = loaded;
});

interface Token {
  text: string;
  scope: string;
  line: number;
}

/** The tokens of a text but the space between, each with its innermost scope. */
function tokens(text: string): Token[] {
  const found: Token[] = [];
  let state: StateStack = INITIAL;
  text.split(/\r?\n/).forEach((line, number) => {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    for (const token of result.tokens) {
      const part = line.slice(token.startIndex, token.endIndex);
      if (part.trim()) found.push({ text: part.trim(), scope: token.scopes.at(-1) ?? '', line: number });
    }
  });
  return found;
}

function scopeOf(line: string, word: string): string {
  return tokens(line).find((token) => token.text === word)?.scope ?? 'no such token';
}

test('the grammar is the one that scripts/make_grammar.mjs makes of words.json', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gexp-grammar-'));
  try {
    const made = spawnSync(process.execPath, [join(extensionFolder, 'scripts/make_grammar.mjs'), folder], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    for (const name of ['gexp.tmLanguage.json', 'markdown.tmLanguage.json']) {
      assert.equal(read(extensionFolder, 'syntaxes', name), read(folder, name), `${name} is old: npm run grammar`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('what a word is shown as', () => {
  const cases: [line: string, word: string, scope: string][] = [
    ['let a = 4 # "why" 5', '# "why" 5', 'comment.line.number-sign.gexp'],
    ['experiment e doc "a # b"', '"a # b"', 'string.quoted.double.gexp'],
    ['experiment e doc "a', '"a', 'invalid.illegal.unclosed-string.gexp'],
    ['param limit: B/cycle = 512KiB in 16KiB..4MiB', 'limit', 'variable.other.definition.gexp'],
    ['param limit: B/cycle = 512KiB in 16KiB..4MiB', 'B/cycle', 'support.type.gexp'],
    ['param limit: B = 512KiB', '512', 'constant.numeric.gexp'],
    ['param limit: B = 512KiB', 'KiB', 'keyword.other.unit.gexp'],
    ['let rate = 1.5e-3GB/s', 'GB/s', 'keyword.other.unit.gexp'],
    ['let rate = 4B/stride', 'B', 'keyword.other.unit.gexp'],
    ['let rate = 4B/stride', 'stride', 'variable.other.gexp'],
    ['let part = 95%', '%', 'keyword.other.unit.gexp'],
    ['sweep n in 0..96', '0', 'constant.numeric.gexp'],
    ['sweep n in 0..96', '..', 'keyword.operator.range.gexp'],
    ['stage capacity {', 'stage', 'keyword.control.gexp'],
    ['stage capacity {', 'capacity', 'entity.name.section.gexp'],
    ['memory A: u32[1MiB] in global', 'u32', 'support.type.gexp'],
    ['memory A: u32[1MiB] in global', 'global', 'constant.language.gexp'],
    ['budget time 60s memory 16MiB', 'memory', 'keyword.control.gexp'],
    ['timed lat each { chase A by ring laps 2 via nc }', 'each', 'constant.language.gexp'],
    ['timed lat each { chase A by ring laps 2 via nc }', 'chase', 'keyword.control.operation.gexp'],
    ['timed lat each { chase A by ring laps 2 via nc }', 'laps', 'keyword.other.clause.gexp'],
    ['timed lat each { chase A by ring laps 2 via nc }', 'nc', 'constant.language.gexp'],
    ['alu fma.f32 chain 64 ilp 2', 'fma.f32', 'support.function.instruction.gexp'],
    ['find C: B = last_flat(misses(lat) over n) need 95%', 'last_flat', 'support.function.analysis.gexp'],
    ['find C: B = last_flat(misses(lat) over n) need 95%', 'misses', 'support.function.gexp'],
    ['find C: B = last_flat(misses(lat) over n) need 95%', 'over', 'keyword.other.clause.gexp'],
    ['pattern p = repeat(uniform(stride: fetch.unit, span: n), 3)', 'repeat', 'support.function.pattern.gexp'],
    ['pattern p = repeat(uniform(stride: fetch.unit, span: n), 3)', 'stride', 'variable.parameter.gexp'],
    ['pattern p = repeat(uniform(stride: fetch.unit, span: n), 3)', 'unit', 'variable.other.property.gexp'],
    ['let x = a div 2 ?? b', 'div', 'keyword.operator.word.gexp'],
    ['let x = a div 2 ?? b', '??', 'keyword.operator.gexp'],
    ['branch lane < 16 { barrier }', 'lane', 'variable.language.gexp'],
    ['use "lib/rings.gexp" as rings sha256 "00"', 'rings', 'entity.name.section.gexp'],
  ];
  for (const [line, word, scope] of cases) assert.equal(scopeOf(line, word), scope, `${word} of: ${line}`);
});

test('every word of the language is shown as what it is', () => {
  const shown: [kind: string, line: (word: string) => string, scope: RegExp][] = [
    ['statements', (word) => `${word} 1`, /^keyword\.control\.gexp/],
    ['operations', (word) => `  ${word} 1`, /^keyword\.control\.operation/],
    ['operators', (word) => `1 ${word} 2`, /^keyword\.operator\.word/],
    ['clauses', (word) => `1 ${word} "x"`, /^keyword\.other\.clause/],
    ['units', (word) => `3${word}`, /^keyword\.other\.unit/],
    ['types', (word) => `param x: ${word} = 1`, /^support\.type/],
    ['elements', (word) => `memory A: ${word}[1] in global`, /^support\.type/],
    ['analyses', (word) => `${word}(x)`, /^support\.function\.analysis/],
    ['functions', (word) => `${word}(x)`, /^support\.function/],
    ['patterns', (word) => `${word}(x)`, /^support\.function\.pattern/],
    ['spaces', (word) => `memory A: u8[1] in ${word}`, /^constant\.language/],
    ['paths', (word) => `load A at 1 via ${word}`, /^constant\.language/],
    ['levels', (word) => `flush ${word}`, /^constant\.language/],
    ['timings', (word) => `timed t ${word} {`, /^constant\.language/],
    ['keeps', (word) => `record t ${word}`, /^constant\.language/],
    ['neighbours', (word) => `merger(2, of: ${word})`, /^constant\.language/],
    ['places', (word) => `launch place ${word}`, /^constant\.language/],
    ['drawings', (word) => `plot y vs x by n as ${word}`, /^constant\.language/],
  ];
  assert.deepEqual(shown.map(([kind]) => kind).sort(), Object.keys(words).sort());
  for (const [kind, line, scope] of shown) {
    for (const word of words[kind]) assert.match(scopeOf(line(word), word), scope, `${kind}: ${line(word)}`);
  }
});

test('shipped files: every token has a scope of its own, statements and units among them', () => {
  const counts = new Map<string, number>();
  const files = specs('experiments');
  assert.ok(files.length >= 40);
  for (const file of files) {
    const text = read(file);
    const found = tokens(text);
    for (const token of found) {
      const where = `${file}:${token.line + 1}: ${token.text}`;
      assert.notEqual(token.scope, 'source.gexp', `no scope for ${where}`);
      assert.doesNotMatch(token.scope, /^invalid/, where);
      counts.set(token.scope, (counts.get(token.scope) ?? 0) + 1);
    }
    // The first word of a line that begins a statement.
    text.split('\n').forEach((line, number) => {
      const word = /^ *([a-z]+) /.exec(line)?.[1];
      if (!word || !words.statements.includes(word)) return;
      const first = found.find((token) => token.line === number);
      assert.equal(first?.scope, 'keyword.control.gexp', `${file}:${number + 1}: ${line}`);
    });
  }
  const least: Record<string, number> = {
    'keyword.control.gexp': 1000,
    'keyword.control.operation.gexp': 150,
    'keyword.other.clause.gexp': 1000,
    'keyword.other.unit.gexp': 400,
    'constant.numeric.gexp': 1500,
    'string.quoted.double.gexp': 150,
    'comment.line.number-sign.gexp': 50,
    'entity.name.section.gexp': 150,
    'support.function.analysis.gexp': 150,
    'variable.parameter.gexp': 200,
    'constant.language.gexp': 250,
    'variable.other.definition.gexp': 600,
  };
  for (const [scope, count] of Object.entries(least))
    assert.ok((counts.get(scope) ?? 0) >= count, `${scope}: ${counts.get(scope)}`);
});

test('the rules of indentation: a line that opens a body, and one that does not', () => {
  const rules = JSON.parse(read(extensionFolder, 'language-configuration.json')).indentationRules;
  const increase = new RegExp(rules.increaseIndentPattern),
    decrease = new RegExp(rules.decreaseIndentPattern);
  for (const line of ['stage s {', 'stage s doc "a { b" {', '  timed t each {  # why', '  pattern p = nonuniform('])
    assert.match(line, increase, line);
  for (const line of ['warm { barrier }', '# stage s {', 'let a = 1', 'require a else "b {"'])
    assert.doesNotMatch(line, increase, line);
  for (const line of ['}', '  }', ')']) assert.match(line, decrease, line);
  assert.doesNotMatch('let a = [1]', decrease);
});
