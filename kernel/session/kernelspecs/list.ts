import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isRecord } from '#shared/records.ts';
import { knownFolders } from './place.ts';
import { forget, remembered } from './remembered.ts';
import { isOurs, launcherOf, optionOf, readSpec, type SpecFile } from './spec.ts';

/** A kernelspec that there is here. */
export type FoundSpec = SpecFile & { name: string; folder: string; isOurs: boolean };

/** All kernelspecs where Jupyter looks for them here, and those of ours that were put elsewhere. */
export async function findSpecs(): Promise<FoundSpec[]> {
  const known = await Promise.all(knownFolders().map(specFolders));
  const made = await remembered('kernelspecs');
  const folders = new Set([...known.flat(), ...made]);
  const found: FoundSpec[] = [];
  for (const folder of folders) {
    const spec = await readSpec(folder);
    // Removed by Jupyter, for instance.
    if (spec) found.push({ ...spec, name: basename(folder), folder, isOurs: isOurs(spec) });
    else await forget('kernelspecs', folder).catch(() => undefined);
  }
  return found.toSorted((a, b) => a.name.localeCompare(b.name) || a.folder.localeCompare(b.folder));
}

async function specFolders(kernels: string): Promise<string[]> {
  const names = await readdir(kernels).catch(() => []);
  return names.map((name) => join(kernels, name));
}

/** What a kernelspec starts, or why it does not. */
export type SpecState =
  | { works: true; version: string; installation: string; node: string; nodeVersion: string }
  | { works: false; why: string };

const limitMs = 20_000;

/** Asks the launcher of one of our kernelspecs what it would start. */
export async function stateOf({ argv }: FoundSpec): Promise<SpecState> {
  const [program = '', ...rest] = argv;
  const args = [...rest.slice(0, launcherOf(rest) + 1), '--which'];
  try {
    const { stdout } = await promisify(execFile)(program, args, { timeout: limitMs, windowsHide: true });
    const said: unknown = JSON.parse(stdout);
    if (!isRecord(said)) throw new Error('The launcher said nothing.');
    const { entry, version, node, nodeVersion } = said;
    const installation = dirname(dirname(String(entry)));
    return {
      works: true,
      version: String(version),
      installation,
      node: String(node),
      nodeVersion: String(nodeVersion),
    };
  } catch (error) {
    return { works: false, why: reasonOf(error, program) };
  }
}

function reasonOf(error: unknown, program: string): string {
  const { code, stderr } = Object(error) as { code?: unknown; stderr?: unknown };
  if (code === 'ENOENT') return `"${program}" is not there any more. Run "lance-catalog kernel install" again.`;
  const said = typeof stderr === 'string' ? stderr.trim() : '';
  // Of a program that breaks down, the sentence is among lines of its stack; the launcher's own is a line alone.
  const [first = ''] = said.split('\n').filter((line) => line.trim() !== '');
  return first || 'Its launcher does not answer. Run "lance-catalog kernel install" again.';
}

/** What a kernelspec sets. */
export const settingsOf = ({ argv }: SpecFile): { catalog: string | undefined; typeCheck: string | undefined } => ({
  catalog: optionOf(argv, 'catalog'),
  typeCheck: optionOf(argv, 'type-check'),
});
