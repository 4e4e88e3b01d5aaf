import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNotServed, npm, quietInstall } from '../npm.mjs';
import { inRoot, toolchain } from '../paths.ts';
import { enginePackage, type Platform } from '../platforms.mjs';
import { readManifest } from './runtime.ts';

/**
 * The folder of a platform's native engine package, fetched by name if it is another platform's.
 * @returns the folder, or one sentence why there is none
 */
export async function fetchEngine(
  platform: Platform,
  say: (line: string) => void,
): Promise<{ folder: string } | { missing: string }> {
  const name = enginePackage(platform);
  if (name === null) return { missing: 'upstream builds no engine for it' };
  const version = readManifest(inRoot()).dependencies['@lancedb/lancedb'] ?? '';
  const cache = join(toolchain, 'engines', platform.target);
  for (const parent of [inRoot(), cache]) {
    const folder = join(parent, 'node_modules', name);
    if (existsSync(join(folder, 'package.json')) && readManifest(folder).version === version) return { folder };
  }
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{"private":true}\n');
  say(`fetching ${name}@${version} (about 70 MB to download) …`);
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
