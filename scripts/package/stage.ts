import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../paths.ts';
import { bundlerPackage, enginePackage, type Platform, sqlEnginePackage } from '../platforms.mjs';
import { copyRuntime, readManifest } from './runtime.ts';

const files = ['README.md', 'CHANGELOG.md', 'LICENSE', '.vscodeignore', 'docs', 'media', 'snippets'];
/** Manifest fields for the repository only; for example, `imports` refers to sources that are not shipped. */
const ours = new Set(['scripts', 'dependencies', 'devDependencies', 'overrides', 'imports', 'private']);
/** VS Code's TypeScript searches for plugins only in the top-level node_modules. */
const plugin = { name: 'lance-catalog-typescript', folder: inRoot('extension/typescriptPlugin') };

/**
 * Creates the folder with the content of one VSIX. The packages are in dist/node_modules, where the bundles find them
 * first. The packager adds all packages that `npm list` finds in the top-level node_modules. So that folder contains
 * only the plugin's package, which just loads a bundle.
 * @param options.engine folder of the native package; undefined creates the package for REST catalogs only
 * @param options.bundler folder of the bundler's program, which TypeScript functions need
 * @param options.sqlEngine folder of the native package of the SQL engine; undefined creates a package without SQL
 */
export function stage(
  folder: string,
  options: {
    platform: Platform | undefined;
    engine: string | undefined;
    bundler: string | undefined;
    sqlEngine: string | undefined;
    notices: string;
  },
): void {
  const { platform, engine, bundler, sqlEngine, notices } = options;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of files) cpSync(inRoot(name), join(folder, name), { recursive: true });
  for (const name of readdirSync(inRoot('dist'))) {
    // Skip source maps, which `npm run watch` writes to this folder.
    if (!name.startsWith('.') && !name.endsWith('.map'))
      cpSync(inRoot('dist', name), join(folder, 'dist', name), { recursive: true });
  }
  const modules = join(folder, 'dist/node_modules');
  copyRuntime(modules, platform);
  const natives = platform
    ? ([
        [enginePackage(platform), engine],
        [bundlerPackage(platform), bundler],
        [sqlEnginePackage(platform), sqlEngine],
      ] as const)
    : [];
  for (const [name, source] of natives)
    if (name !== null && source !== undefined)
      cpSync(source, join(modules, name), { recursive: true, filter: (path) => !path.endsWith('README.md') });
  const top = join(folder, 'node_modules', plugin.name);
  mkdirSync(top, { recursive: true });
  for (const file of ['package.json', 'index.cjs']) cpSync(join(plugin.folder, file), join(top, file));
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), notices);
  const manifest: unknown = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
  if (typeof manifest !== 'object' || manifest === null) throw new Error('package.json is not an object.');
  const shipped = Object.fromEntries(Object.entries(manifest).filter(([key]) => !ours.has(key)));
  const dependencies = { [plugin.name]: readManifest(plugin.folder).version };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...shipped, dependencies }, null, 2)}\n`);
}
