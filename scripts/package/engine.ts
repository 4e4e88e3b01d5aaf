import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNotServed, npm, quietInstall } from '../npm.mjs';
import { inRoot, toolchain } from '../paths.ts';
import { bundlerPackage, enginePackage, type Platform } from '../platforms.mjs';
import { readManifest } from './runtime.ts';

/** Folder of a package of a platform, or one sentence why there is none. */
type Fetched = { folder: string } | { missing: string };

/** The folder of a platform's native engine package, fetched by name if it is another platform's. */
export async function fetchEngine(platform: Platform, say: (line: string) => void): Promise<Fetched> {
  const name = enginePackage(platform);
  if (name === null) return { missing: 'upstream builds no engine for it' };
  const version = readManifest(inRoot()).dependencies['@lancedb/lancedb'] ?? '';
  return fetchPackage(platform, { name, version, size: 70 }, say);
}

/** The same of the program that bundles functions. */
export function fetchBundler(platform: Platform, say: (line: string) => void): Promise<Fetched> {
  const version = readManifest(inRoot()).dependencies['esbuild'] ?? '';
  return fetchPackage(platform, { name: bundlerPackage(platform), version, size: 5 }, say);
}

/** @param size megabytes to download, to be told */
async function fetchPackage(
  platform: Platform,
  { name, version, size }: { name: string; version: string; size: number },
  say: (line: string) => void,
): Promise<Fetched> {
  // A folder a package: npm removes what it was not asked for.
  const cache = join(toolchain, 'engines', platform.target, name.replace('/', '+'));
  for (const parent of [inRoot(), cache]) {
    const folder = join(parent, 'node_modules', name);
    if (existsSync(join(folder, 'package.json')) && readManifest(folder).version === version) return { folder };
  }
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{"private":true}\n');
  say(`fetching ${name}@${version} (about ${size} MB to download) …`);
  try {
    // `force` because it is meant for another platform than this one.
    await npm(['install', `${name}@${version}`, '--force', '--prefix', cache, ...quietInstall], {
      cwd: cache,
      quiet: true,
    });
  } catch (error) {
    if (isNotServed(error)) return { missing: `the registry does not serve ${name}@${version}` };
    throw error;
  }
  return { folder: join(cache, 'node_modules', name) };
}
