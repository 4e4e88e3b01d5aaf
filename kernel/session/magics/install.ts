import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { stringAt } from '#shared/fields.ts';
import { MagicError, type MagicRun, splitArguments } from './magicTypes.ts';
import { askOr } from './notebookState.ts';
import { runChild } from './shell.ts';

/**
 * Returns the command of npm: the npm of the Node that runs the kernel, else the first on PATH; undefined if there is
 * none.
 */
function findNpm(): [program: string, ...args: string[]] | undefined {
  const bin = dirname(process.execPath);
  const own = [join(bin, script), join(bin, '..', 'lib', script)].find((path) => existsSync(path));
  if (own !== undefined) return [process.execPath, own];
  const name = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter((each) => each !== '')) {
    const path = join(folder, name);
    if (!existsSync(path)) continue;
    // On Windows npm is a batch script in this folder.
    const real = process.platform === 'win32' ? join(folder, script) : realpathSync(path);
    return /\.c?js$/.test(real) ? [process.execPath, real] : [real];
  }
  return undefined;
}

const script = join('node_modules', 'npm', 'bin', 'npm-cli.js');

/** Other package managers, by the lock file that they keep in a project. */
const others: readonly (readonly [file: string, add: string])[] = [
  ['pnpm-lock.yaml', 'pnpm add'],
  ['yarn.lock', 'yarn add'],
  ['bun.lock', 'bun add'],
  ['bun.lockb', 'bun add'],
];

/**
 * Returns the lock file and the command of another package manager whose project npm would damage; undefined if none.
 */
const otherManager = (folder: string): { file: string; add: string } | undefined => {
  const [file, add] = others.find(([each]) => existsSync(join(folder, each))) ?? [];
  return file !== undefined && add !== undefined ? { file, add } : undefined;
};

/** Returns the project of a folder: the nearest ancestor with a package.json, else the folder itself. */
function projectOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at;
    if (dirname(at) === at) return folder;
  }
}

const flags = { '--yes': 'yes', '-y': 'yes', '--dev': 'dev', '-D': 'dev', '--scripts': 'scripts' } as const;
type Flag = (typeof flags)[keyof typeof flags];

const isFlag = (word: string): word is keyof typeof flags => Object.hasOwn(flags, word);

export const install: MagicRun = async ({ rest, signal }, { runner, ask }) => {
  const { packages, given } = argumentsOf(rest);
  const folder = projectOf(process.cwd());
  const other = otherManager(folder);
  if (other) {
    const line = `%sh cd ${JSON.stringify(folder)} && ${other.add} ${packages.join(' ')}`;
    throw new MagicError(
      `"${folder}" contains ${other.file}, so npm would damage the packages installed there. Run ${line}`,
    );
  }
  const npm = findNpm();
  if (!npm)
    throw new MagicError("Can't find npm, neither next to the Node of this kernel nor on PATH. Install Node with npm.");
  const list = packages.join(', ');
  if (!given.has('yes')) await confirm(packages, folder, ask);
  process.stdout.write(`Installing ${list} in ${folder}\n`);
  const [program, ...first] = npm;
  const options = [
    'install',
    '--prefix',
    folder,
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--no-progress',
    // Install scripts do not run by default, because they are code that the user has not reviewed.
    ...(given.has('scripts') ? [] : ['--ignore-scripts']),
    ...(given.has('dev') ? ['--save-dev'] : []),
  ];
  const { before, end } = await inTurn(signal, async () => ({
    before: packages.map((each) => installedVersion(folder, nameOf(each))),
    end: await runChild(program, [...first, ...options, '--', ...packages], { signal, cwd: folder }),
  }));
  // The compiler is refreshed also after a failure, because npm may have installed a part.
  runner.compiler.refresh();
  if (signal.aborted) return;
  if (end.code !== 0) {
    const how =
      end.code === null ? `was terminated by ${end.signal ?? 'a signal'}` : `ended with exit code ${end.code}`;
    throw new MagicError(`npm ${how}, so ${list} may not be installed. See its output above.`);
  }
  packages.forEach((each, index) => report(nameOf(each), before[index], folder));
};

let turn: Promise<unknown> = Promise.resolve();

/**
 * Runs one npm process at a time. Cells of different subshells may install at the same time, and two npm processes
 * would overwrite each other's package.json.
 */
function inTurn<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  const mine = turn.then(run);
  // Waits only until the interrupt, because the promise of an interrupted cell may never settle.
  const stopped = new Promise((stop) => signal.addEventListener('abort', stop, { once: true }));
  turn = Promise.race([mine, stopped]).catch(() => {});
  return mine;
}

function argumentsOf(rest: string): { packages: string[]; given: ReadonlySet<Flag> } {
  const words = splitArguments(rest);
  const strange = words.find((word) => word.startsWith('-') && !isFlag(word));
  if (strange !== undefined)
    throw new MagicError(
      `Unknown option ${strange}. Use --yes, --dev or --scripts (allows install scripts of packages).`,
    );
  const packages = words.filter((word) => !word.startsWith('-')).map((word) => (isPath(word) ? resolve(word) : word));
  if (packages.length === 0) throw new MagicError('Name a package: %install d3-array@3.');
  return { packages, given: new Set(words.filter(isFlag).map((word) => flags[word])) };
}

// Relative paths are made absolute: npm would resolve them in the project folder, and that may differ from the working
// directory.
const isPath = (word: string): boolean => /^\.{0,2}[\\/]/.test(word);

/** Returns the packages with their sources, unless a name already states the source. */
function withSources(packages: readonly string[]): string {
  const groups = new Map<string, string[]>();
  for (const each of packages) groups.set(sourceOf(each), [...(groups.get(sourceOf(each)) ?? []), each]);
  return [...groups].map(([source, list]) => `${list.join(', ')}${source && ` from ${source}`}`).join(' and ');
}

function sourceOf(written: string): 'npm' | 'this machine' | 'GitHub' | '' {
  const what = written.replace(/^@?[^@]+@(?!npm:)/, '');
  if (/^(?:file:|~?[\\/]|[a-z]:[\\/]|\.{1,2}(?:[\\/]|$))/i.test(what)) return 'this machine';
  if (/^[^:]+\.(?:tgz|tar|tar\.gz)$/i.test(what)) return 'this machine';
  if (/^(?:github:|[\w-]+\/)[\w./-]+(?:#.*)?$/.test(what)) return 'GitHub';
  return nameOf(written) === undefined || /^[\w+]+:/.test(what) ? '' : 'npm';
}

async function confirm(
  packages: readonly string[],
  folder: string,
  ask: (prompt: string) => Promise<string>,
): Promise<void> {
  const question = `Install ${withSources(packages)} into ${join(folder, 'node_modules')} and add it to package.json? [y/N] `;
  const answer = await askOr(ask(question), `Use %install --yes ${packages.join(' ')} to skip it.`);
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new MagicError('Nothing was installed: the answer was not yes.');
}

function report(name: string | undefined, before: string | undefined, folder: string): void {
  const now = installedVersion(folder, name);
  if (name === undefined || now === undefined) return;
  const isOther = before !== undefined && before !== now;
  const remark = isOther
    ? ` instead of ${before}; cells that have imported ${before} keep it until the kernel restarts`
    : '';
  process.stdout.write(`${name} ${now} can be imported${remark}.\n`);
}

/** Returns the package name in an npm specifier; undefined for files and URLs. */
const nameOf = (specifier: string): string | undefined =>
  /^((?:@[\w.~-]+\/)?[\w~-][\w.~-]*)(?:@[^/]*|@npm:.*)?$/.exec(specifier)?.[1];

function installedVersion(folder: string, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  try {
    const text = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
    return stringAt(JSON.parse(text), 'version');
  } catch {
    return undefined;
  }
}
