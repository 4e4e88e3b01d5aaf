import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** How npm is started: that of the Node that runs the kernel, else the first on PATH; undefined when there is none. */
export function findNpm(): [program: string, ...args: string[]] | undefined {
  const bin = dirname(process.execPath);
  const own = [join(bin, script), join(bin, '..', 'lib', script)].find((path) => existsSync(path));
  if (own !== undefined) return [process.execPath, own];
  const name = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter((each) => each !== '')) {
    const path = join(folder, name);
    if (!existsSync(path)) continue;
    // Windows has a script for the command prompt there, and npm itself beside it.
    const real = process.platform === 'win32' ? join(folder, script) : realpathSync(path);
    return /\.c?js$/.test(real) ? [process.execPath, real] : [real];
  }
  return undefined;
}

const script = join('node_modules', 'npm', 'bin', 'npm-cli.js');

/** Package managers besides npm, by the file that each keeps in a project. */
const others: readonly (readonly [file: string, add: string])[] = [
  ['pnpm-lock.yaml', 'pnpm add'],
  ['yarn.lock', 'yarn add'],
  ['bun.lock', 'bun add'],
  ['bun.lockb', 'bun add'],
];

/** What adds packages to a project that npm would damage; undefined where npm may. */
export const otherManager = (folder: string): { file: string; add: string } | undefined => {
  const [file, add] = others.find(([each]) => existsSync(join(folder, each))) ?? [];
  return file !== undefined && add !== undefined ? { file, add } : undefined;
};

/** The project that a folder is in: the nearest one above with a package.json, else the folder itself. */
export function projectOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at;
    if (dirname(at) === at) return folder;
  }
}
