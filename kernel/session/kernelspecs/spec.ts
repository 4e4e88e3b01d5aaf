import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '#shared/records.ts';

export type SpecFile = { argv: string[]; displayName: string };

/** Whether a folder contains a kernelspec, readable or not. */
export const hasSpecFile = (folder: string): boolean => existsSync(join(folder, 'kernel.json'));

/** Reads the kernelspec in a folder; returns undefined if it is missing or unreadable. */
export async function readSpec(folder: string): Promise<SpecFile | undefined> {
  try {
    const file: unknown = JSON.parse(await readFile(join(folder, 'kernel.json'), 'utf8'));
    if (!isRecord(file) || !Array.isArray(file['argv'])) return undefined;
    const argv = file['argv'].map(String);
    return { argv, displayName: typeof file['display_name'] === 'string' ? file['display_name'] : '' };
  } catch {
    return undefined;
  }
}

/** Whether a kernelspec starts our launcher, even if another program wrote the kernelspec. */
export const isOurs = ({ argv }: SpecFile): boolean => launcherOf(argv) >= 0;

/** The script that precedes the Node command, on systems with a shell. */
export const shellLauncher = 'launcher.sh';

/** Returns the Node command, without the shell script in front. */
export function nodeCommand(argv: readonly string[]): readonly string[] {
  return argv[1]?.endsWith(`/${shellLauncher}`) ? argv.slice(2) : argv;
}

/** Returns the index of our launcher in the command, or -1. */
export const launcherOf = (argv: readonly string[]): number =>
  argv.findIndex((each) => /[\\/]lance-catalog[\\/]kernel[\\/]launcher\.cjs$/.test(each));

export function optionOf(argv: readonly string[], name: string): string | undefined {
  const start = `--${name}=`;
  return argv.find((each) => each.startsWith(start))?.slice(start.length);
}
