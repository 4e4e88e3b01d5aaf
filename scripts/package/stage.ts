import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../paths.ts';
import { enginePackage, type Platform } from '../platforms.mjs';
import { copyRuntime } from './runtime.ts';

const files = ['README.md', 'CHANGELOG.md', 'LICENSE', '.vscodeignore', 'media', 'snippets'];
/** What a manifest needs in the repository only. `imports` names sources that are not shipped. */
const ours = new Set(['scripts', 'devDependencies', 'overrides', 'imports', 'private']);

/**
 * Lays out what one VSIX holds. The packages go to dist/node_modules, where the bundles find them first: the packager
 * leaves out a node_modules at the top unless it may run npm over it.
 * @param engine folder of the native package; undefined makes the package for REST catalogs alone
 */
export function stage(
  folder: string,
  options: { platform: Platform | undefined; engine: string | undefined; notices: string },
): void {
  const { platform, engine, notices } = options;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of files) cpSync(inRoot(name), join(folder, name), { recursive: true });
  for (const name of readdirSync(inRoot('dist'))) {
    if (!name.startsWith('.')) cpSync(inRoot('dist', name), join(folder, 'dist', name), { recursive: true });
  }
  const modules = join(folder, 'dist/node_modules');
  copyRuntime(modules, platform);
  const name = platform && enginePackage(platform);
  if (engine !== undefined && name)
    cpSync(engine, join(modules, name), { recursive: true, filter: (path) => !path.endsWith('README.md') });
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), notices);
  const manifest: unknown = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
  if (typeof manifest !== 'object' || manifest === null) throw new Error('package.json is not an object.');
  const shipped = Object.fromEntries(Object.entries(manifest).filter(([key]) => !ours.has(key)));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(shipped, null, 2)}\n`);
}
