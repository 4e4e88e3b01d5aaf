import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '#shared/records.ts';

/** What is of interest in a kernelspec's `kernel.json`. */
export type SpecFile = { argv: string[]; displayName: string };

/** Whether there is a kernelspec in a folder, readable or not. */
export const hasSpecFile = (folder: string): boolean => existsSync(join(folder, 'kernel.json'));

/** The kernelspec in a folder; undefined where there is none that can be read. */
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

/** Whether it is one of ours: it starts our launcher, whoever has written it. */
export const isOurs = ({ argv }: SpecFile): boolean => launcherOf(argv) >= 0;

/** The script that comes before the command of Node, where there is a shell. */
export const shellLauncher = 'launcher.sh';

/** The command of Node: what the shell's script is given. */
export function nodeCommand(argv: readonly string[]): readonly string[] {
  return argv[1]?.endsWith(`/${shellLauncher}`) ? argv.slice(2) : argv;
}

/** Where in the command our launcher stands, -1 where it does not. */
export const launcherOf = (argv: readonly string[]): number =>
  argv.findIndex((each) => /[\\/]lance-catalog[\\/]kernel[\\/]launcher\.cjs$/.test(each));

/** The value of an option that the kernel is started with. */
export function optionOf(argv: readonly string[], name: string): string | undefined {
  const start = `--${name}=`;
  return argv.find((each) => each.startsWith(start))?.slice(start.length);
}
