// SPDX-License-Identifier: Apache-2.0
// What is started, apart from how VS Code starts it.

/** The user's settings, as VS Code gives them. */
export interface Settings {
  /** A name looked for in PATH, or a path. */
  path: string;
  /** Empty: gexp chooses. */
  device: string;
}

export type Action = 'run' | 'check' | 'plan';

export interface Command {
  program: string;
  args: string[];
}

/** The program that the settings name; an empty setting is the default. */
export function program(settings: Settings): string {
  return settings.path.trim() || 'gexp';
}

/** The language server, over its standard input and output. */
export function serverCommand(settings: Settings): Command {
  return { program: program(settings), args: ['lsp'] };
}

/** The command of an action on a file. Arguments stay apart: no shell reads them. */
export function fileCommand(action: Action, file: string, settings: Settings): Command {
  const device = settings.device.trim();
  const args = [action, file];
  if (device && action !== 'check') args.push('--device', device);
  return { program: program(settings), args };
}

/** What to tell a user whose server did not start. */
export function startProblem(settings: Settings, reason: string): string {
  const command = `\`${program(settings)} lsp\``;
  return `The language server did not start: ${command}: ${reason}. Set gexp.path to a gexp that has it. Highlighting works without it.`;
}
