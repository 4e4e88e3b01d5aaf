import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** What decides where a person's folders are; given by tests alone. */
export type Surroundings = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
};
export const surroundings = (): Surroundings => ({ env: process.env, platform: process.platform, home: homedir() });

/** Our own folder among a person's application data. */
export function dataFolder({ env, platform, home }: Surroundings = surroundings()): string {
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'lance-catalog');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'lance-catalog');
  return join(absolute(env['XDG_DATA_HOME']) ?? join(home, '.local', 'share'), 'lance-catalog');
}

/** Our own folder among what a person's programs can make again. */
export function cacheFolder({ env, platform, home }: Surroundings = surroundings()): string {
  if (platform === 'win32')
    return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'lance-catalog', 'cache');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'lance-catalog');
  return join(absolute(env['XDG_CACHE_HOME']) ?? join(home, '.cache'), 'lance-catalog');
}

/** The XDG specification has variables that are empty or relative ignored; they would be folders of the notebook's. */
const absolute = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;
