// SPDX-License-Identifier: Apache-2.0
// The extension: starts `gexp lsp` for open files, and runs files in the terminal panel.
import * as vscode from 'vscode';
import { LanguageClient, TransportKind } from 'vscode-languageclient/node';
import { Action, Settings, fileCommand, serverCommand, startProblem } from './commands';

let client: LanguageClient | undefined;

function settings(): Settings {
  const configuration = vscode.workspace.getConfiguration('gexp');
  return { path: configuration.get('path', 'gexp'), device: configuration.get('device', '') };
}

async function startServer(): Promise<void> {
  const { program, args } = serverCommand(settings());
  client = new LanguageClient(
    'gexp',
    'gexp',
    { command: program, args, transport: TransportKind.stdio },
    { documentSelector: [{ language: 'gexp' }] },
  );
  try {
    await client.start();
  } catch (error) {
    void vscode.window.showWarningMessage(startProblem(settings(), error instanceof Error ? error.message : String(error)));
  }
}

async function stopServer(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.needsStop()) await running.stop();
}

async function restartServer(): Promise<void> {
  await stopServer();
  await startServer();
}

/** Runs a command of gexp on the file of the editor, as it is on the screen: saved first. */
async function runOnFile(action: Action): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== 'gexp') return;
  if (document.isUntitled || !(await document.save())) {
    void vscode.window.showWarningMessage('gexp reads files: save this one first.');
    return;
  }
  const { program, args } = fileCommand(action, document.uri.fsPath, settings());
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  const task = new vscode.Task(
    { type: 'gexp', action },
    folder ?? vscode.TaskScope.Workspace,
    `${action} ${vscode.workspace.asRelativePath(document.uri)}`,
    'gexp',
    new vscode.ProcessExecution(program, args, folder ? { cwd: folder.uri.fsPath } : undefined),
    ['$gexp'],
  );
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Shared, clear: true };
  await vscode.tasks.executeTask(task);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand('gexp.runFile', () => runOnFile('run')),
    vscode.commands.registerCommand('gexp.checkFile', () => runOnFile('check')),
    vscode.commands.registerCommand('gexp.planFile', () => runOnFile('plan')),
    vscode.commands.registerCommand('gexp.restartServer', restartServer),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('gexp.path')) void restartServer();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void restartServer()),
  );
  await startServer();
}

export async function deactivate(): Promise<void> {
  await stopServer();
}
