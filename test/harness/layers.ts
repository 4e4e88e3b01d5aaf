import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, sep } from 'node:path';
import { checks } from '../../scripts/check.ts';
import { inRoot } from '../../scripts/paths.ts';
import { endGroup, trackProcessGroup } from '../../scripts/processes.ts';
import { inOwnNetwork } from './ownNetwork.ts';
import { type FileTime, ResultsFile, type Tally } from './results.ts';

export type Options = {
  readonly grep?: string | undefined;
  /** Absolute paths of test files. If a layer has files in this list, it runs only these. */
  readonly files: readonly string[];
  readonly coverage: boolean;
  readonly verbose: boolean;
  readonly say: (line: string) => void;
};

/** The layers of tests in order, each with its time limit in seconds. */
export const layers = {
  lint: 300,
  unit: 600,
  contract: 1500,
  kernel: 1500,
  host: 1200,
  ui: 1500,
  cluster: 1800,
} as const;
export type Layer = keyof typeof layers;
export const layerNames: readonly Layer[] = ['lint', 'unit', 'contract', 'kernel', 'host', 'ui', 'cluster'];

/** The layers that `npm test` runs. `cluster` must be named, because it first builds parts of Kubernetes. */
export const usualLayers = layerNames.filter((name) => name !== 'cluster');

/**
 * Number of processes that share the files of a layer, if more than one. Tests that wait for servers leave a processor
 * idle. Files of the contract layer wait for object stores and jobs: two of them use two thirds of two processors, so
 * three run at a time. Files of the ui layer wait, too: a window that waits uses a twentieth of a processor, and a
 * window in which a cell runs uses a quarter.
 */
const workersOf: Partial<Record<Layer, number>> = { unit: 2, contract: 3, kernel: 2, ui: 3, cluster: 2 };

/**
 * The slowest files, by the figures at the end of `npm test`. They start first, so that at the end no process runs a
 * slow file while the others are idle.
 */
const longest: Partial<Record<Layer, readonly string[]>> = {
  contract: [
    'upstream/conformance',
    'model/catalogModel',
    'names/nameRaces',
    'tables/writers',
    'tables/tables',
    'backfill/jobProcesses',
    'backfill/retried',
    'engine/s3',
    'tables/versions',
  ],
  kernel: [
    'jupyter/jupyterPrograms',
    'jupyter/jupyterLab',
    'jupyter/longLife',
    'sql/conditions/conditions',
    'interrupt/interruptWork',
    'ends',
    'display/display',
    'cli',
  ],
  ui: ['notebook', 'hiddenTab', 'grid', 'displays', 'window', 'jobs', 'cluster', 'company', 'start', 'debugger'],
  cluster: [
    'ray/rayNewest',
    'ray/rayOldest',
    'ray/kuberayNotebook',
    'ray/rayToken',
    'ray/kuberay',
    'checks/versions',
    'aws/awsFaults',
    'checks/checkCommand',
    'checks/identity',
  ],
};

export type LayerResult = Tally & { readonly files: readonly FileTime[] };

export function isLayer(name: string): name is Layer {
  return Object.hasOwn(layers, name);
}

/** Returns the layer of a test file, given its absolute path. */
export function layerOfFile(file: string): Layer | undefined {
  const [layer = ''] = relative(inRoot('test'), file).split(sep);
  return isLayer(layer) && layer !== 'lint' ? layer : undefined;
}

/** Runs one layer. If the layer can't run or does not finish, this counts as one more failure. */
export async function runLayer(layer: Layer, options: Options): Promise<LayerResult> {
  if (layer === 'lint') return { ...(await runChecks(options)), files: [] };
  const folder = inRoot('test-results', layer);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const results = new ResultsFile(join(folder, 'results.ndjson'), options.say, options.verbose);
  const output = join(folder, 'output.log');
  const ended = await runCommand(programOf(layer, results.path, options), layers[layer], output, results);
  const problem = results.problem() ?? ended;
  const tally = results.tally();
  if (problem !== undefined) {
    tally.failed++;
    options.say(`  FAIL  ${problem}`);
  }
  if (tally.failed > 0) {
    const lines = readFileSync(output, 'utf8').trimEnd().split('\n');
    if (lines.join('') !== '')
      options.say(`  last output (all of it: test-results/${layer}/output.log):\n${lines.slice(-25).join('\n')}`);
  }
  return { ...tally, files: results.files().map((time) => ({ ...time, file: relative(inRoot(), time.file) })) };
}

const script = (name: string): string => join(import.meta.dirname, name);

/**
 * Returns the command of a layer. The layer `cluster` runs in a separate network, because every process that reaches
 * its Ray can run jobs on it.
 */
function programOf(layer: Exclude<Layer, 'lint'>, results: string, options: Options): [program: string, ...string[]] {
  const command = commandOf(layer, results, options);
  return layer === 'cluster' ? inOwnNetwork([process.execPath, ...command]) : [process.execPath, ...command];
}

function commandOf(
  layer: Exclude<Layer, 'lint'>,
  results: string,
  { grep, coverage, files: given }: Options,
): string[] {
  const filter = grep === undefined ? [] : ['--grep', grep];
  const alone = given.filter((file) => layerOfFile(file) === layer);
  if (layer === 'host') {
    // Set a limit that is shorter than that of the layer, so that the content of the window is still saved.
    return [script('runInHost.ts'), '--results', results, '--limit', String(layers.host - 30), ...filter, ...alone];
  }
  const all = readdirSync(inRoot('test', layer), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.tsx?$/.test(name))
    .toSorted((a, b) => rank(layer, a) - rank(layer, b) || (a < b ? -1 : 1))
    .map((name) => inRoot('test', layer, name));
  const files = alone.length > 0 ? alone : all;
  checkLongest(layer, all);
  const workers = Math.min(workersOf[layer] ?? 1, availableParallelism() + 1);
  const run = [script('mochaMain.ts'), '--results', results, '--workers', String(workers), ...filter, ...files];
  if (!coverage || layer === 'ui') return run;
  const sources = ['kernel', 'extension', 'webviews'].flatMap((folder) => ['--include', `${folder}/**`]);
  const c8 = [
    '--all',
    '--src',
    '.',
    ...sources,
    '--reporter',
    'text',
    '--reporter',
    'html',
    '--reports-dir',
    inRoot('coverage'),
  ];
  return [inRoot('node_modules/c8/bin/c8.js'), ...c8, process.execPath, ...run];
}

/** Returns the rank of a file in the order of its layer; unlisted files are last. */
function rank(layer: Layer, file: string): number {
  const names = longest[layer] ?? [];
  const index = names.findIndex((name) => file.startsWith(`${name}.test.`));
  return index < 0 ? names.length : index;
}

/** Fails for a listed file that does not exist, because a moved file would silently lose its rank. */
function checkLongest(layer: Layer, files: readonly string[]): void {
  const gone = (longest[layer] ?? []).filter((name) => !files.some((file) => file.includes(`/${layer}/${name}.test.`)));
  if (gone.length > 0) throw new Error(`No test file of "${layer}" is called ${gone.join(', ')}: correct "longest".`);
}

const running = new Set<ChildProcess>();
let isEnding = false;

/**
 * Ends the running layer with a signal, so that its processes end the servers and windows of their tests and remove
 * their folders. If the processes were killed, servers, windows and folders would be left.
 */
export async function endLayers(): Promise<void> {
  isEnding = true;
  await Promise.all([...running].map((child) => endGroup(child, 10_000)));
}

/** Follows a layer's process until its end or its time limit. @returns the problem of its end, else undefined */
async function runCommand(
  [program, ...args]: readonly [program: string, ...args: string[]],
  limit: number,
  output: string,
  results: ResultsFile,
): Promise<string | undefined> {
  const log = openSync(output, 'w');
  const child = spawn(program, args, { cwd: inRoot(), stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  trackProcessGroup(child);
  running.add(child);
  const follow = setInterval(() => results.read(), 200);
  let late: string | undefined;
  const timer = setTimeout(() => {
    late = `the limit of ${limit} s is over${results.running === undefined ? '' : ` during "${results.running}"`}`;
    void endGroup(child);
  }, limit * 1000);
  const ended = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? undefined : `the process ended with ${code ?? signal}`));
  });
  clearTimeout(timer);
  clearInterval(follow);
  results.read();
  await endGroup(child);
  running.delete(child);
  // If `npm test` is ending, never resolve: report nothing about the cancelled layer and start no other layer.
  if (isEnding) await new Promise(() => {});
  // Failed tests explain a bad exit code. Without failed tests, the exit code is a separate failure.
  return late ?? (results.tally().failed > 0 ? undefined : ended);
}

/** Runs all checks at the same time, because each keeps one processor busy most of the time. */
async function runChecks({ say }: Options): Promise<Tally> {
  const tally = { passed: 0, failed: 0, skipped: 0 };
  const run = async ({ name, script: file, args }: (typeof checks)[number]): Promise<void> => {
    const child = spawn(process.execPath, [inRoot(file), ...args], {
      cwd: inRoot(),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    trackProcessGroup(child);
    running.add(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    const timer = setTimeout(() => {
      said += `\nIts time of ${layers.lint} s was over.`;
      void endGroup(child);
    }, layers.lint * 1000);
    const code = await new Promise<unknown>((resolve) => child.once('error', resolve).once('close', resolve));
    clearTimeout(timer);
    running.delete(child);
    tally[code === 0 ? 'passed' : 'failed']++;
    if (code !== 0) say(`  FAIL  ${name}\n${code instanceof Error ? code.message : said}`);
  };
  await Promise.all(checks.map(run));
  return tally;
}
