import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The values that determine where the user's folders are; only tests pass other values than those of this process. */
export type UserEnvironment = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
};
export const userEnvironment = (): UserEnvironment => ({
  env: process.env,
  platform: process.platform,
  home: homedir(),
});

/** The product's folder for application data of the user. */
export function dataFolder({ env, platform, home }: UserEnvironment = userEnvironment()): string {
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'lance-catalog');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'lance-catalog');
  return join(absolute(env['XDG_DATA_HOME']) ?? join(home, '.local', 'share'), 'lance-catalog');
}

/** The product's folder for cached data, which can be created again. */
export function cacheFolder({ env, platform, home }: UserEnvironment = userEnvironment()): string {
  if (platform === 'win32')
    return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'lance-catalog', 'cache');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'lance-catalog');
  return join(absolute(env['XDG_CACHE_HOME']) ?? join(home, '.cache'), 'lance-catalog');
}

/**
 * The XDG specification says to ignore empty or relative variables; a relative path would be resolved in the notebook's
 * folder.
 */
const absolute = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;
