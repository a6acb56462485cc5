// SPDX-License-Identifier: Apache-2.0
// The extension without VS Code: what it declares, what it starts, and that its snippets are right.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileCommand, serverCommand, startProblem } from '../src/commands';
import { extensionFolder, gexp, read } from './support';

const manifest = JSON.parse(read(extensionFolder, 'package.json'));

test('commands keep arguments apart, and name the device where one is set', () => {
  const settings = { path: ' /opt/g exp ', device: 'sim:gtx780' };
  assert.deepEqual(fileCommand('run', '/a b/c.gexp', settings), {
    program: '/opt/g exp',
    args: ['run', '/a b/c.gexp', '--device', 'sim:gtx780'],
  });
  assert.deepEqual(fileCommand('check', 'c.gexp', settings).args, ['check', 'c.gexp']);
  assert.deepEqual(fileCommand('run', 'c.gexp', { path: '', device: '' }), { program: 'gexp', args: ['run', 'c.gexp'] });
  assert.deepEqual(serverCommand({ path: 'gexp', device: 'x' }), { program: 'gexp', args: ['lsp'] });
  assert.match(startProblem(settings, 'no such file'), /\/opt\/g exp lsp.*no such file.*gexp\.path/);
});

test('what the manifest names is there', () => {
  const { languages, grammars, snippets } = manifest.contributes;
  for (const path of [
    languages[0].configuration,
    ...grammars.map((g: { path: string }) => g.path),
    snippets[0].path,
    manifest.main,
  ]) {
    assert.ok(existsSync(join(extensionFolder, path)), path);
  }
  assert.match('gexp 1\nexperiment x', new RegExp(languages[0].firstLine));
});

test('the lock file names no host', () => {
  const lock = JSON.parse(read(extensionFolder, 'package-lock.json'));
  for (const [name, entry] of Object.entries<{ resolved?: string; integrity?: string }>(lock.packages)) {
    assert.equal(entry.resolved, undefined, name);
    assert.ok(name === '' || entry.integrity, `${name} has no digest`);
  }
});

/** Runs the extension against stand-ins for VS Code and its client; gives what they were asked for. */
async function activated(files: { languageId: string; path: string; saves: boolean }[], serverFails = false) {
  const asked = {
    registered: new Map<string, () => Promise<void>>(),
    tasks: [] as unknown[],
    warnings: [] as string[],
    servers: [] as unknown[],
    stopped: 0,
  };
  const file = files[0];
  const vscode = {
    window: {
      activeTextEditor: file && {
        document: { languageId: file.languageId, isUntitled: false, save: async () => file.saves, uri: { fsPath: file.path } },
      },
      showWarningMessage: async (text: string) => void asked.warnings.push(text),
    },
    workspace: {
      getConfiguration: () => ({ get: (key: string) => ({ path: '/bin/gexp', device: 'sim:gtx780' })[key] }),
      getWorkspaceFolder: () => ({ uri: { fsPath: '/folder' } }),
      asRelativePath: () => 'a.gexp',
      onDidChangeConfiguration: () => ({}),
      onDidGrantWorkspaceTrust: () => ({}),
    },
    commands: { registerCommand: (name: string, run: () => Promise<void>) => asked.registered.set(name, run) },
    tasks: { executeTask: async (task: unknown) => void asked.tasks.push(task) },
    TaskScope: { Workspace: 2 },
    TaskRevealKind: { Always: 1 },
    TaskPanelKind: { Shared: 1 },
    Task: class {
      constructor(
        _definition: unknown,
        _scope: unknown,
        public name: string,
        _source: string,
        public execution: unknown,
        public matchers: string[],
      ) {}
    },
    ProcessExecution: class {
      constructor(
        public process: string,
        public args: string[],
        public options: unknown,
      ) {}
    },
  };
  class LanguageClient {
    constructor(
      _id: string,
      _name: string,
      server: unknown,
      public options: { documentSelector: unknown },
    ) {
      asked.servers.push(server);
    }
    async start() {
      if (serverFails) throw new Error('ENOENT');
    }
    needsStop() {
      return true;
    }
    async stop() {
      ++asked.stopped;
    }
  }
  const loader = Module as unknown as { _load: (name: string, ...rest: unknown[]) => unknown };
  const load = loader._load;
  loader._load = (name, ...rest) =>
    name === 'vscode'
      ? vscode
      : name === 'vscode-languageclient/node'
        ? { LanguageClient, TransportKind: { stdio: 0 } }
        : load(name, ...rest);
  try {
    const path = require.resolve('../src/extension');
    delete require.cache[path];
    const extension = require(path);
    await extension.activate({ subscriptions: [] });
    return { asked, extension };
  } finally {
    loader._load = load;
  }
}

test('it registers the commands that the manifest names, and starts the server', async () => {
  const { asked, extension } = await activated([]);
  const named = manifest.contributes.commands.map((command: { command: string }) => command.command);
  assert.deepEqual([...asked.registered.keys()].sort(), [...named].sort());
  assert.deepEqual(asked.servers, [{ command: '/bin/gexp', args: ['lsp'], transport: 0 }]);
  await asked.registered.get('gexp.restartServer')!();
  assert.equal(asked.servers.length, 2);
  assert.equal(asked.stopped, 1);
  await extension.deactivate();
  assert.equal(asked.stopped, 2);
});

test('a server that does not start is a warning, and commands work all the same', async () => {
  const { asked } = await activated([{ languageId: 'gexp', path: '/folder/a.gexp', saves: true }], true);
  assert.equal(asked.warnings.length, 1);
  assert.match(asked.warnings[0], /ENOENT/);
  await asked.registered.get('gexp.checkFile')!();
  const task = asked.tasks[0] as { execution: { process: string; args: string[]; options: { cwd: string } }; matchers: string[] };
  assert.deepEqual(
    { ...task.execution },
    { process: '/bin/gexp', args: ['check', '/folder/a.gexp'], options: { cwd: '/folder' } },
  );
  assert.deepEqual(task.matchers, ['$gexp']);
});

test('a file of another language is left alone, and so is one that was not saved', async () => {
  const other = await activated([{ languageId: 'c', path: '/a.c', saves: true }]);
  await other.asked.registered.get('gexp.runFile')!();
  const unsaved = await activated([{ languageId: 'gexp', path: '/a.gexp', saves: false }]);
  await unsaved.asked.registered.get('gexp.runFile')!();
  assert.deepEqual([other.asked.tasks.length, unsaved.asked.tasks.length, unsaved.asked.warnings.length], [0, 0, 1]);
});

const withoutGexp = gexp ? false : 'GEXP_BINARY does not name the gexp program';

/** A snippet as it stands when all of its places are left as they are. */
function filled(body: string | string[]): string {
  const text = Array.isArray(body) ? body.join('\n') : body;
  const values = new Map<string, string>();
  const first = text
    .replace(/\$\{(\d+)\|([^,|]*)[^|]*\|\}/g, (_, place, value) => (values.set(place, value), value))
    .replace(/\$\{(\d+):([^}]*)\}/g, (_, place, value) => (values.set(place, value), value));
  return first.replace(/\$\{(\d+)\}|\$(\d+)/g, (_, a, b) => values.get(a ?? b) ?? '');
}

test('snippets, as they stand, are right', { skip: withoutGexp }, () => {
  const snippets: Record<string, { body: string | string[] }> = JSON.parse(read(extensionFolder, 'snippets/gexp.json'));
  const file = [
    'gexp 1',
    'experiment x',
    'memory A: u32[64KiB] in global',
    '$param',
    'stage s {',
    '$sweep',
    'pattern ring = uniform(stride: 32B, span: n)',
    'launch grid 1 block 1',
    '$warm',
    '$timed',
    'repeat 3..20',
    '$find',
    '}',
    '$expect',
  ].join('\n');
  const folder = mkdtempSync(join(tmpdir(), 'gexp-snippets-'));
  const check = (name: string, text: string) => {
    const path = join(folder, 'snippet.gexp');
    writeFileSync(path, text);
    const result = spawnSync(gexp!, ['check', path], { encoding: 'utf8' });
    assert.equal(result.status, 0, `${name}:\n${text}\n${result.stdout}${result.stderr}`);
  };
  try {
    check('file', filled(snippets.file.body));
    check('stage', `gexp 1\nexperiment x\nmemory A: u32[64KiB] in global\n${filled(snippets.stage.body)}`);
    // The others in one file, with the names that they go by.
    const rest = Object.keys(snippets).filter((name) => !['file', 'stage'].includes(name));
    assert.deepEqual(
      rest.filter((name) => !file.includes(`$${name}`)),
      [],
    );
    const text = file
      .replace(/\$([a-z]+)/g, (_, name) => filled(snippets[name].body))
      .replace('experiment x', 'experiment x')
      .replace('stage s', 'stage capacity');
    check('the others', text);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the problem matcher reads what gexp says', { skip: withoutGexp }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'gexp-matcher-'));
  try {
    const path = join(folder, 'wrong.gexp');
    writeFileSync(path, 'gexp 1\nexperiment x\nlet load = 4\n');
    const said = spawnSync(gexp!, ['check', path], { encoding: 'utf8' });
    const pattern = manifest.contributes.problemMatchers[0].pattern;
    const matches = (said.stdout + said.stderr)
      .split('\n')
      .map((line) => new RegExp(pattern.regexp).exec(line))
      .filter((match) => match !== null);
    assert.equal(matches.length, 1, said.stdout + said.stderr);
    const match = matches[0]!;
    assert.deepEqual(
      [match[pattern.file], match[pattern.line], match[pattern.column], match[pattern.severity], match[pattern.code]],
      [path, '3', '5', 'error', 'E0107'],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
