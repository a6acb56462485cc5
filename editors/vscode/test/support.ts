// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The extension's folder, from `out/test`. */
export const extensionFolder = resolve(__dirname, '../..');
export const repository = resolve(extensionFolder, '../..');

export function read(...path: string[]): string {
  return readFileSync(join(...path), 'utf8');
}

export const words: Record<string, string[]> = JSON.parse(read(extensionFolder, '../words.json'));

/** Every .gexp file under a folder of the repository. */
export function specs(folder: string): string[] {
  const names = readdirSync(join(repository, folder), { recursive: true }) as string[];
  return names
    .filter((name) => name.endsWith('.gexp'))
    .sort()
    .map((name) => join(repository, folder, name));
}

/** GEXP_BINARY, which the test's caller sets; undefined where it is not set. */
export const gexp = process.env['GEXP_BINARY'];

/** Why tests of the language server are skipped; false where there is one. */
export function withoutServer(): string | false {
  if (!gexp) return 'GEXP_BINARY does not name the gexp program';
  const help = spawnSync(gexp, ['--help'], { encoding: 'utf8' });
  return /^\s+lsp\b/m.test(help.stdout) ? false : `${gexp} has no command lsp`;
}
