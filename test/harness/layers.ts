import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checks } from '../../scripts/check.ts';
import { inRoot } from '../../scripts/paths.ts';
import { endGroup, ownGroup } from '../../scripts/processes.ts';
import { ResultsFile, type Tally } from './results.ts';

export type Options = {
  readonly grep?: string | undefined;
  readonly coverage: boolean;
  readonly verbose: boolean;
  readonly say: (line: string) => void;
};

/** The layers of `npm test` in their order, each with the time it may take in seconds. */
export const layers = { lint: 120, unit: 240, contract: 600, kernel: 300, host: 300, ui: 420 } as const;
export type Layer = keyof typeof layers;
export const layerNames: readonly Layer[] = ['lint', 'unit', 'contract', 'kernel', 'host', 'ui'];

export function isLayer(name: string): name is Layer {
  return Object.hasOwn(layers, name);
}

/** Runs one layer. A layer that cannot run, or does not reach its end, has one failure more. */
export async function runLayer(layer: Layer, options: Options): Promise<Tally> {
  if (layer === 'lint') return runChecks(options);
  const folder = inRoot('test-results', layer);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const results = new ResultsFile(join(folder, 'results.ndjson'), options.say, options.verbose);
  const output = join(folder, 'output.log');
  const ended = await runCommand(commandOf(layer, results.path, options), layers[layer], output, results);
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
  return tally;
}

const script = (name: string): string => join(import.meta.dirname, name);

function commandOf(layer: Exclude<Layer, 'lint'>, results: string, { grep, coverage }: Options): string[] {
  const filter = grep === undefined ? [] : ['--grep', grep];
  if (layer === 'host') return [script('runInHost.ts'), '--results', results, ...filter];
  const files = readdirSync(inRoot('test', layer), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.tsx?$/.test(name))
    .toSorted()
    .map((name) => inRoot('test', layer, name));
  const run = [script('mochaMain.ts'), '--results', results, ...filter, ...files];
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

/** Follows a layer's process until it ends or its time is over. @returns what was wrong with its end, else undefined */
async function runCommand(
  command: readonly string[],
  limit: number,
  output: string,
  results: ResultsFile,
): Promise<string | undefined> {
  const log = openSync(output, 'w');
  const child = spawn(process.execPath, command, { cwd: inRoot(), stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  ownGroup(child);
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
  // Failed tests explain a bad exit code; without one it is a failure of its own.
  return late ?? (results.tally().failed > 0 ? undefined : ended);
}

function runChecks({ say }: Options): Tally {
  const tally = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, tool, args } of checks) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [inRoot('node_modules', tool), ...args], {
      cwd: inRoot(),
      encoding: 'utf8',
      timeout: layers.lint * 1000,
    });
    tally[status === 0 ? 'passed' : 'failed']++;
    if (status !== 0) say(`  FAIL  ${name}\n${stdout}${stderr}`);
  }
  return tally;
}
