import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isRecord } from '#shared/records.ts';
import { dataFolder } from '#processes/userFolders.ts';
import { inRoot } from '../paths.ts';

// The browser window of `npm start` has its own data folder, so that its jobs and accepted functions don't appear in the
// user's VS Code. Commands on the sample use that folder too, so that a terminal and the window show the same jobs.

// Tests set LANCE_CATALOG_WINDOW, so that they don't use the sample of the user's window.
const windowFolder = process.env['LANCE_CATALOG_WINDOW'] ?? inRoot('.sample');

/** Paths of the sample; git-ignored, safe to delete. */
export const sample = {
  catalog: inRoot('.sample/catalog'),
  folder: join(windowFolder, 'notebooks'),
  notebook: join(windowFolder, 'notebooks/tour.ipynb'),
  queries: join(windowFolder, 'notebooks/customers.sql'),
  profile: join(windowFolder, 'window'),
} as const;

const fileName = 'data.json';

/** The variables that determine the data folder. On macOS, the data folder is always in the home folder. */
const names = ['HOME', 'XDG_DATA_HOME'] as const;

/** Records the environment of the window in its folder; `undefined` if the window has the user's data folder. */
export function recordWindowData(profile: string, env: NodeJS.ProcessEnv | undefined): void {
  const file = join(profile, fileName);
  if (!env) return rmSync(file, { force: true });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(names.map((name) => [name, env[name]])))}\n`);
}

type Command = {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Folder that relative paths start from. */
  readonly cwd: string;
  /** The sample catalog, and the folder of its window; for tests. */
  readonly place?: Pick<typeof sample, 'catalog' | 'profile'>;
  readonly platform?: NodeJS.Platform;
};

/**
 * Returns the environment for a command, and what to tell the user. A command that names the sample catalog gets the
 * data folder of the window. All other commands have the user's data folder.
 */
export function commandEnvironment({ args, env, cwd, place = sample, platform = process.platform }: Command): {
  readonly env: NodeJS.ProcessEnv;
  readonly hint: string | undefined;
} {
  const recorded = readWindowData(place.profile);
  if (!recorded) return { env, hint: undefined };
  const [name] = platform === 'darwin' ? (['HOME'] as const) : (['XDG_DATA_HOME'] as const);
  const windowEnv = { ...env, [name]: recorded[name] };
  const named = catalogNamed(args) ?? env['LANCE_CATALOG'];
  if (named !== undefined && isSamePlace(resolve(cwd, named), place.catalog))
    return { env: windowEnv, hint: undefined };
  const jobs = join(dataFolder({ env: windowEnv, platform, home: windowEnv['HOME'] ?? '' }), 'jobs');
  const isListing = args[0] === 'jobs' && named === undefined;
  if (!isListing || !hasJobs(jobs)) return { env, hint: undefined };
  return {
    env,
    hint: 'The sample window has its own jobs. To list them: LANCE_CATALOG=.sample/catalog npm run lance-catalog -- jobs',
  };
}

/** Returns the value of `--catalog`, if the command has one. */
function catalogNamed(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === '--catalog' || arg.startsWith('--catalog='));
  if (at < 0) return undefined;
  return args[at] === '--catalog' ? args[at + 1] : args[at]?.slice('--catalog='.length);
}

const realPath = (path: string): string => (existsSync(path) ? realpathSync(path) : resolve(path));
const isSamePlace = (one: string, other: string): boolean => realPath(one) === realPath(other);

const hasJobs = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).some((name) => !name.startsWith('.'));

function readWindowData(profile: string): Readonly<Record<(typeof names)[number], string>> | undefined {
  try {
    const data: unknown = JSON.parse(readFileSync(join(profile, fileName), 'utf8'));
    if (!isRecord(data)) return undefined;
    const [home, dataHome] = names.map((name) => data[name]);
    return typeof home === 'string' && typeof dataHome === 'string'
      ? { HOME: home, XDG_DATA_HOME: dataHome }
      : undefined;
  } catch {
    return undefined;
  }
}
