// SPDX-License-Identifier: Apache-2.0
// `gexp lsp` as an editor speaks with it: over standard input and output, by the protocol's own library.
import assert from 'node:assert/strict';
import { ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as lsp from 'vscode-languageserver-protocol/node';
import { serverCommand } from '../src/commands';
import { gexp, read, repository, specs, withoutServer } from './support';

const skip = withoutServer();

/** A server and what it said so far. */
class Session {
  private constructor(
    readonly server: ChildProcess,
    readonly connection: lsp.ProtocolConnection,
    readonly capabilities: lsp.ServerCapabilities,
  ) {}
  private readonly published = new Map<string, lsp.PublishDiagnosticsParams[]>();
  private readonly waiting = new Map<string, (params: lsp.PublishDiagnosticsParams) => void>();

  static async start(): Promise<Session> {
    const { program, args } = serverCommand({ path: gexp!, device: '' });
    const server = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const connection = lsp.createProtocolConnection(
      new lsp.StreamMessageReader(server.stdout!),
      new lsp.StreamMessageWriter(server.stdin!),
    );
    connection.listen();
    const { capabilities } = await connection.sendRequest(lsp.InitializeRequest.type, {
      processId: process.pid,
      rootUri: pathToFileURL(repository).href,
      workspaceFolders: null,
      capabilities: {
        textDocument: { publishDiagnostics: { relatedInformation: true }, hover: { contentFormat: ['markdown'] } },
      },
    });
    await connection.sendNotification(lsp.InitializedNotification.type, {});
    const session = new Session(server, connection, capabilities);
    connection.onNotification(lsp.PublishDiagnosticsNotification.type, (params) => session.receive(params));
    return session;
  }

  private receive(params: lsp.PublishDiagnosticsParams): void {
    const wanted = this.waiting.get(params.uri);
    if (wanted) {
      this.waiting.delete(params.uri);
      wanted(params);
    } else {
      this.published.set(params.uri, [...(this.published.get(params.uri) ?? []), params]);
    }
  }

  private diagnostics(uri: string): Promise<lsp.Diagnostic[]> {
    const known = this.published.get(uri)?.shift();
    if (known) return Promise.resolve(known.diagnostics);
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`no diagnostics came for ${uri}`)), 20000);
      this.waiting.set(uri, (params) => (clearTimeout(timer), done(params.diagnostics)));
    });
  }

  async open(uri: string, text: string): Promise<lsp.Diagnostic[]> {
    await this.connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: 'gexp', version: 1, text },
    });
    return this.diagnostics(uri);
  }

  /** Changes the whole text. */
  async change(uri: string, version: number, text: string): Promise<lsp.Diagnostic[]> {
    await this.connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: [{ text }],
    });
    return this.diagnostics(uri);
  }

  async end(): Promise<number | null> {
    await this.connection.sendRequest(lsp.ShutdownRequest.type);
    const ended = new Promise<number | null>((done) => this.server.once('exit', done));
    await this.connection.sendNotification(lsp.ExitNotification.type);
    const code = await ended;
    this.connection.dispose();
    return code;
  }
}

/** Runs against a server of its own, which must end as it is told. */
async function withServer(body: (session: Session) => Promise<void>): Promise<void> {
  const session = await Session.start();
  try {
    await body(session);
    assert.equal(await session.end(), 0, 'the exit code after shutdown and exit');
  } finally {
    session.server.kill();
  }
}

const uri = pathToFileURL(join(repository, 'experiments/cache/of_the_test.gexp')).href;
const text = [
  'gexp 1',
  'experiment e',
  'memory A: u32[64KiB] in global',
  'let line = 32B',
  'stage s {',
  '  sweep n in 1KiB..8KiB step 1KiB',
  '  pattern ring = uniform(stride: line, span: n)',
  '  launch grid 1 block 1',
  '  timed lat each { chase A by ring laps 2 via ca }',
  '  repeat 3',
  '  find C: B = last_flat(misses(lat) over n)',
  '}',
  '',
].join('\n');

/** Where a word stands in the text: its n-th occurrence, from 0. */
function place(word: string, n = 0): lsp.Position {
  let at = -1;
  for (let i = 0; i <= n; ++i) at = text.indexOf(word, at + 1);
  assert.ok(at >= 0, word);
  const before = text.slice(0, at).split('\n');
  return { line: before.length - 1, character: before.at(-1)!.length };
}

test('shipped files have no errors', { skip }, () =>
  withServer(async (session) => {
    for (const file of specs('experiments').slice(0, 12)) {
      const errors = (await session.open(pathToFileURL(file).href, read(file))).filter(
        (d) => d.severity === lsp.DiagnosticSeverity.Error,
      );
      assert.deepEqual(errors, [], file);
    }
  }),
);

test('a mistake is shown where it stands, and goes when it is mended', { skip }, () =>
  withServer(async (session) => {
    assert.deepEqual(await session.open(uri, text), []);
    const [mistake, ...more] = await session.change(uri, 2, text.replace('span: n)', 'span: m)'));
    assert.deepEqual(more, []);
    assert.equal(mistake.code, 'E0202');
    assert.equal(mistake.severity, lsp.DiagnosticSeverity.Error);
    const { line, character } = place('span: n)');
    assert.deepEqual(mistake.range, { start: { line, character: character + 6 }, end: { line, character: character + 7 } });
    assert.deepEqual(await session.change(uri, 3, text), []);
  }),
);

test('hover tells what a word means', { skip }, () =>
  withServer(async (session) => {
    await session.open(uri, text);
    for (const word of ['sweep', 'last_flat', 'chase']) {
      const hover = await session.connection.sendRequest(lsp.HoverRequest.type, { textDocument: { uri }, position: place(word) });
      assert.ok(hover, word);
      assert.match(JSON.stringify(hover.contents), new RegExp(word));
    }
  }),
);

test('completion knows statements, and names in scope', { skip }, () =>
  withServer(async (session) => {
    await session.open(uri, text);
    const labels = async (position: lsp.Position) => {
      const answer = await session.connection.sendRequest(lsp.CompletionRequest.type, { textDocument: { uri }, position });
      return (Array.isArray(answer) ? answer : (answer?.items ?? [])).map((item) => item.label);
    };
    const statements = await labels(place('repeat'));
    assert.ok(statements.includes('derive'), statements.join(' '));
    const stride = place('stride: line');
    const names = await labels({ line: stride.line, character: stride.character + 8 });
    assert.ok(names.includes('line') && names.includes('n'), names.join(' '));
  }),
);

test('the definition of a name is where it is declared', { skip }, () =>
  withServer(async (session) => {
    await session.open(uri, text);
    const answer = await session.connection.sendRequest(lsp.DefinitionRequest.type, {
      textDocument: { uri },
      position: place('line, span'),
    });
    const first = (Array.isArray(answer) ? answer[0] : answer) as lsp.Location;
    assert.ok(first);
    assert.equal(first.uri, uri);
    assert.equal(first.range.start.line, place('let line').line);
  }),
);

test('formatting gives what gexp fmt gives', { skip }, () =>
  withServer(async (session) => {
    const untidy = text.replace('let line = 32B', 'let   line=32B').replace('  repeat 3', 'repeat   3');
    await session.open(uri, untidy);
    const edits = await session.connection.sendRequest(lsp.DocumentFormattingRequest.type, {
      textDocument: { uri },
      options: { tabSize: 2, insertSpaces: true },
    });
    assert.ok(edits && edits.length > 0);
    const lines = untidy.split('\n');
    const offset = (at: lsp.Position) => lines.slice(0, at.line).reduce((sum, line) => sum + line.length + 1, 0) + at.character;
    let made = untidy;
    for (const edit of [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start))) {
      made = made.slice(0, offset(edit.range.start)) + edit.newText + made.slice(offset(edit.range.end));
    }
    // `gexp fmt` puts an empty line above a stage.
    assert.equal(made.replace(/\n\n/g, '\n'), text);
  }),
);

test('a document that does not parse gets its diagnostics, and no edit', { skip }, () =>
  withServer(async (session) => {
    const found = await session.open(uri, 'gexp 1\nexperiment e\nlet = 4\n');
    assert.ok(found.some((d) => String(d.code).startsWith('E01')));
    const edits = await session.connection
      .sendRequest(lsp.DocumentFormattingRequest.type, { textDocument: { uri }, options: { tabSize: 2, insertSpaces: true } })
      .catch(() => null);
    assert.deepEqual(edits ?? [], []);
  }),
);
