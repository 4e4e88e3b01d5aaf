import { cpSync, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { runtimePackages } from '../bundles.ts';
import { inRoot } from '../paths.ts';
import type { Platform } from '../platforms.mjs';

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
};

/** Reads a package's manifest. Fields that are not strings become empty. */
export function readManifest(folder: string): Manifest {
  const json: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const fields = new Map<string, unknown>(typeof json === 'object' && json !== null ? Object.entries(json) : []);
  const text = (name: string): string => {
    const value = fields.get(name);
    return typeof value === 'string' ? value : '';
  };
  const dependencies = fields.get('dependencies');
  const pairs = typeof dependencies === 'object' && dependencies !== null ? Object.entries(dependencies) : [];
  return {
    name: text('name'),
    version: text('version'),
    license: text('license'),
    dependencies: Object.fromEntries(pairs.map(([name, range]) => [name, String(range)])),
  };
}

/** The packages that bundles require, and the declarations for `process` and `Buffer` in cells. */
const shipped = [...runtimePackages, '@types/node'];

/** Dependencies that are not shipped. A second copy of @types/node would declare every global of Node twice. */
const left = new Set(['@types/node', 'node-addon-api']);

/** Returns the folders of the VSIX's packages and their dependencies, resolved as Node does. */
export function runtimeFolders(): string[] {
  const folders = new Set<string>();
  const queue = shipped.map((name) => ({ name, from: inRoot() }));
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const folder = resolve(next.name, next.from);
    if (folders.has(folder)) continue;
    folders.add(folder);
    for (const name of Object.keys(readManifest(folder).dependencies))
      if (!left.has(name)) queue.push({ name, from: folder });
  }
  return [...folders].toSorted();
}

function resolve(name: string, from: string): string {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (at === inRoot() || at === dirname(at))
      throw new Error(`${name}, which ${from} needs, is not installed: run npm install.`);
  }
}

/** Files that are not used at run time. They would double the size of the download. */
const unneeded: Readonly<Record<string, RegExp>> = {
  '@duckdb/node-api': /\.d\.ts$/,
  '@duckdb/node-bindings': /\.d\.ts$/,
  'apache-arrow': /^(?:src|bin)\/|\.min\.js$/,
  flatbuffers: /^(?:mjs|ts)\//,
  'json-with-bigint': /^__tests__\//,
  '@silvia-odwyer/photon-node': /^photon_rs_bg\.js$|\.d\.ts$/,
  '@opentelemetry/api': /^build\/es(?:m|next)\//,
  esbuild: /^(?!package\.json$|LICENSE|lib\/main\.js$)/,
  'parquet-wasm': /^(?:bundler|esm)\/|\.d\.ts$/,
  'cmake-ts': /^(?!package\.json$|LICENSE|build\/loader\.js$)/,
  'typescript-6': /^(?!package\.json$|LICENSE|ThirdParty|lib\/(?:typescript\.js|lib\.[\w.]*d\.ts|typescript\.d\.ts)$)/,
  zeromq: /^(?:src|script|lib\/ts3\.7)\/|CMakeLists|vcpkg|tsbuildinfo$/,
};
const unneededAnywhere = /\.map$|^(?:AGENTS|CONTRIBUTING|CHANGELOG|README)\.md$|(?:^|\/)node_modules(?:\/|$)/;

/**
 * Copies the packages into `target`, a node_modules folder, without unused files and binaries of other platforms.
 * @param platform undefined copies binaries of all platforms
 */
export function copyRuntime(target: string, platform: Platform | undefined): void {
  for (const folder of runtimeFolders()) {
    const name = relative(inRoot('node_modules'), folder).split(sep).join('/');
    cpSync(folder, join(target, name), {
      recursive: true,
      filter: (source) => {
        const path = relative(folder, source).split(sep).join('/');
        return path === '' || !isUnneeded(name, path, source, platform);
      },
    });
  }
}

function isUnneeded(name: string, path: string, source: string, platform: Platform | undefined): boolean {
  if (unneededAnywhere.test(path)) return true;
  // The patterns match files only. Folders stay, because they may contain needed files.
  if (statSync(source).isDirectory()) return false;
  if (name === 'zeromq' && path.startsWith('build/') && path.endsWith('.node')) return !isWanted(path, platform);
  return unneeded[name]?.test(path) ?? false;
}

/**
 * Whether a zeromq binary is for the platform. Its path is
 * `build/<system>/<processor>/node/<libc>-<version>/addon.node`. Binaries without a libc are from older releases.
 */
function isWanted(path: string, platform: Platform | undefined): boolean {
  if (/\/node\/\d+\//.test(path)) return false;
  if (platform === undefined) return true;
  const otherLibc = platform.target.startsWith('alpine') ? 'glibc-' : 'musl-';
  return path.startsWith(`build/${platform.zeromq}/`) && !path.includes(otherLibc);
}
