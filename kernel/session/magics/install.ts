import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { isRecord } from '#shared/records.ts';
import { MagicError, type MagicRun, wordsOf } from './magicTypes.ts';
import { askOr } from './notebookState.ts';
import { runChild } from './shell.ts';

/** How npm is started: that of the Node that runs the kernel, else the first on PATH; undefined when there is none. */
function findNpm(): [program: string, ...args: string[]] | undefined {
  const bin = dirname(process.execPath);
  const own = [join(bin, script), join(bin, '..', 'lib', script)].find((path) => existsSync(path));
  if (own !== undefined) return [process.execPath, own];
  const name = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter((each) => each !== '')) {
    const path = join(folder, name);
    if (!existsSync(path)) continue;
    // Windows has a script for the command prompt there, and npm itself beside it.
    const real = process.platform === 'win32' ? join(folder, script) : realpathSync(path);
    return /\.c?js$/.test(real) ? [process.execPath, real] : [real];
  }
  return undefined;
}

const script = join('node_modules', 'npm', 'bin', 'npm-cli.js');

/** Package managers besides npm, by the file that each keeps in a project. */
const others: readonly (readonly [file: string, add: string])[] = [
  ['pnpm-lock.yaml', 'pnpm add'],
  ['yarn.lock', 'yarn add'],
  ['bun.lock', 'bun add'],
  ['bun.lockb', 'bun add'],
];

/** What adds packages to a project that npm would damage; undefined where npm may. */
const otherManager = (folder: string): { file: string; add: string } | undefined => {
  const [file, add] = others.find(([each]) => existsSync(join(folder, each))) ?? [];
  return file !== undefined && add !== undefined ? { file, add } : undefined;
};

/** The project that a folder is in: the nearest one above with a package.json, else the folder itself. */
function projectOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at;
    if (dirname(at) === at) return folder;
  }
}

const flags = { '--yes': 'yes', '-y': 'yes', '--dev': 'dev', '-D': 'dev', '--scripts': 'scripts' } as const;
type Flag = (typeof flags)[keyof typeof flags];

const isFlag = (word: string): word is keyof typeof flags => Object.hasOwn(flags, word);

/** `%install` */
export const install: MagicRun = async ({ rest, signal }, { runner, ask }) => {
  const { packages, given } = argumentsOf(rest);
  const folder = projectOf(process.cwd());
  const other = otherManager(folder);
  if (other) {
    const line = `%sh cd ${JSON.stringify(folder)} && ${other.add} ${packages.join(' ')}`;
    throw new MagicError(`${folder} has a ${other.file}, so npm would damage what is installed there. Write ${line}`);
  }
  const npm = findNpm();
  if (!npm)
    throw new MagicError('There is no npm, neither beside the Node of this kernel nor on PATH. Install Node with it.');
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
    // What a package runs when it is installed is code that nobody has looked at.
    ...(given.has('scripts') ? [] : ['--ignore-scripts']),
    ...(given.has('dev') ? ['--save-dev'] : []),
  ];
  const { before, end } = await inTurn(signal, async () => ({
    before: packages.map((each) => installedVersion(folder, nameOf(each))),
    end: await runChild(program, [...first, ...options, '--', ...packages], { signal, cwd: folder }),
  }));
  // It may have got half way.
  runner.compiler.refresh();
  if (signal.aborted) return;
  if (end.code !== 0) {
    const how = end.code === null ? `was ended by ${end.signal ?? 'a signal'}` : `ended with exit code ${end.code}`;
    throw new MagicError(`npm ${how}, so ${list} may not be installed. Its own words are above.`);
  }
  packages.forEach((each, index) => report(nameOf(each), before[index], folder));
};

let turn: Promise<unknown> = Promise.resolve();

/** Waits for the npm of a cell in another subshell: of two at once in a folder, one writes over the other's package.json. */
function inTurn<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  const mine = turn.then(run);
  // One that is interrupted may have been cut off, and never settle.
  const stopped = new Promise((stop) => signal.addEventListener('abort', stop, { once: true }));
  turn = Promise.race([mine, stopped]).catch(() => {});
  return mine;
}

function argumentsOf(rest: string): { packages: string[]; given: ReadonlySet<Flag> } {
  const words = wordsOf(rest);
  const strange = words.find((word) => word.startsWith('-') && !isFlag(word));
  if (strange !== undefined)
    throw new MagicError(
      `There is no option ${strange}. There are --yes, --dev and --scripts (lets packages run theirs).`,
    );
  const packages = words.filter((word) => !word.startsWith('-')).map((word) => (isPath(word) ? resolve(word) : word));
  if (packages.length === 0) throw new MagicError('Name a package: %install d3-array@3.');
  return { packages, given: new Set(words.filter(isFlag).map((word) => flags[word])) };
}

// Else npm takes it from the project's folder, which may be another.
const isPath = (word: string): boolean => /^\.{0,2}[\\/]/.test(word);

/** What is to be installed, each with where npm takes it from, as far as its name does not say so. */
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
  const question = `Install ${withSources(packages)} into ${join(folder, 'node_modules')}, and note it in package.json there? [y/N] `;
  const answer = await askOr(ask(question), `%install --yes ${packages.join(' ')} installs unasked.`);
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new MagicError('Nothing was installed, as the answer was not yes.');
}

function report(name: string | undefined, before: string | undefined, folder: string): void {
  const now = installedVersion(folder, name);
  if (name === undefined || now === undefined) return;
  const isOther = before !== undefined && before !== now;
  const remark = isOther ? ` instead of ${before}, which cells keep that imported it until the kernel restarts` : '';
  process.stdout.write(`${name} ${now} can be imported${remark}.\n`);
}

/** The package that something to install is of; undefined for files and addresses. */
const nameOf = (specifier: string): string | undefined =>
  /^((?:@[\w.~-]+\/)?[\w~-][\w.~-]*)(?:@[^/]*|@npm:.*)?$/.exec(specifier)?.[1];

function installedVersion(folder: string, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  try {
    const text = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
    const manifest: unknown = JSON.parse(text);
    const version = isRecord(manifest) ? manifest['version'] : undefined;
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
