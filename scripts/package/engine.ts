import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNotServed, npm, quietInstall } from '../npm.mjs';
import { inRoot, toolchain } from '../paths.ts';
import { bundlerPackage, enginePackage, type Platform, sqlEnginePackage } from '../platforms.mjs';
import { readManifest } from './runtime.ts';

/** Folder of a platform's package, or the reason why it is missing. */
type Fetched = { folder: string } | { missing: string };

/** Returns the folder of a platform's native engine package. Downloads the package of another platform. */
export async function fetchEngine(platform: Platform, say: (line: string) => void): Promise<Fetched> {
  const name = enginePackage(platform);
  if (name === null) return { missing: 'upstream builds no engine for it' };
  const version = readManifest(inRoot()).dependencies['@lancedb/lancedb'] ?? '';
  return fetchPackage(platform, { name, version, size: 70 }, say);
}

/** Returns the folder of a platform's package with the SQL engine. */
export function fetchSqlEngine(platform: Platform, say: (line: string) => void): Promise<Fetched> {
  const version = readManifest(inRoot()).dependencies['@duckdb/node-bindings'] ?? '';
  return fetchPackage(platform, { name: sqlEnginePackage(platform), version, size: 25 }, say);
}

/** Returns the folder of a platform's package with esbuild's program, which bundles functions of users. */
export function fetchBundler(platform: Platform, say: (line: string) => void): Promise<Fetched> {
  const version = readManifest(inRoot()).dependencies['esbuild'] ?? '';
  return fetchPackage(platform, { name: bundlerPackage(platform), version, size: 5 }, say);
}

/** @param size megabytes to download, for the message */
async function fetchPackage(
  platform: Platform,
  { name, version, size }: { name: string; version: string; size: number },
  say: (line: string) => void,
): Promise<Fetched> {
  // One folder per package: npm removes packages that it did not install in this call.
  const cache = join(toolchain, 'engines', platform.target, name.replace('/', '+'));
  for (const parent of [inRoot(), cache]) {
    const folder = join(parent, 'node_modules', name);
    if (existsSync(join(folder, 'package.json')) && readManifest(folder).version === version) return { folder };
  }
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{"private":true}\n');
  say(`fetching ${name}@${version} (about ${size} MB to download) …`);
  try {
    // Use `force`, because the package is for another platform.
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
