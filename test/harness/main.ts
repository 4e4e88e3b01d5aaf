import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { snapshotVariable } from '#processes/startSnapshot.ts';
import { buildAll, isStale } from '../../scripts/build.ts';
import { inRoot } from '../../scripts/paths.ts';
import { onInterrupt } from '../../scripts/processes.ts';
import { makeSample } from '../../scripts/sample.ts';
import {
  endLayers,
  isLayer,
  type Layer,
  layerNames,
  layerOfFile,
  type LayerResult,
  runLayer,
  usualLayers,
} from './layers.ts';
import { makeKernelSnapshot } from './kernelSnapshot.ts';
import type { Need } from './needs/installing.ts';
import { missing, needsOf, report } from './needs/needs.ts';
import type { FileTime } from './results.ts';
import { tempFolder } from './temp.ts';

const help = `npm test -- [layer …] [file …] [options]
  layers      ${layerNames.join(', ')}; without one all but cluster
  files       test files to run alone, such as test/unit/bundles.test.ts
  --doctor    say what is missing on this machine, and run nothing
  --grep TEXT run the tests whose title holds TEXT
  --coverage  coverage of the layers that run in plain Node, into coverage/
  --verbose   print passed tests as well
The tests are for Linux.`;

/**
 * `npm test`: installs what its layers need, runs them, and prints a line of counts at the end. Returns the exit code.
 */
export async function main(args: readonly string[]): Promise<number> {
  const options = readArguments(args);
  if (typeof options === 'string') {
    console.error(options);
    return 2;
  }
  if (options.help) {
    console.log(help);
    return 0;
  }
  const needs = missing(options.layers.flatMap((layer) => [...needsOf[layer]]));
  const lines = report(needs);
  if (lines.length > 0) console.log(['Missing on this machine:', ...lines].join('\n'));
  if (options.doctor) {
    if (lines.length === 0) console.log('Nothing is missing on this machine.');
    return lines.length === 0 ? 0 : 1;
  }
  onInterrupt(endLayers);
  // Otherwise each test's folder would get a start-up snapshot. Tests of kernels and windows that share one snapshot
  // turn snapshots on again (kernelSnapshot.ts).
  process.env[snapshotVariable] ??= 'off';
  // Cache compiled code, because our programs start hundreds of times and most of a start is compilation. Not for
  // coverage, because the cache would distort it.
  if (!options.coverage) process.env['NODE_COMPILE_CACHE'] ??= tempFolder('lance-compiled-');
  const total = { passed: 0, failed: 0, skipped: 0 };
  const times: FileTime[] = [];
  const obstacles = new Map<Layer, string>();
  const begun = Date.now();
  await installAndBuild(options.layers, needs, obstacles);
  const run = async (layer: Layer): Promise<{ result: LayerResult; ms: number }> => {
    const started = Date.now();
    const result = await runLayer(layer, { ...options, say: console.log });
    return { result, ms: Date.now() - started };
  };
  // Start the lint layer now, because the next steps leave a processor idle.
  const lint = options.layers.includes('lint') ? run('lint') : undefined;
  await makeFixtures(options.layers, obstacles);
  console.log(`prepared in ${seconds(Date.now() - begun)}`);
  for (const layer of options.layers) {
    const obstacle = obstacles.get(layer);
    if (obstacle !== undefined) {
      console.log(`  FAIL  ${layer} cannot run: ${obstacle}`);
      total.failed++;
      continue;
    }
    const { result, ms } = await (layer === 'lint' && lint ? lint : run(layer));
    const { passed, failed, skipped } = result;
    console.log(`${layer}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds(ms)}`);
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
    times.push(...result.files);
  }
  const slowest = times.toSorted((a, b) => b.ms - a.ms).slice(0, 5);
  if (slowest.length > 0)
    console.log(
      [
        'slowest files, and the time of a processor that they took:',
        ...slowest.map(({ file, ms, cpu }) => `  ${seconds(ms)} (${seconds(cpu)}) ${file}`),
      ].join('\n'),
    );
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed === 0 ? 0 : 1;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

type Obstacles = Map<Layer, string>;

/** Runs a step. If it fails, its layers get an obstacle. */
async function attempt(affected: readonly Layer[], obstacles: Obstacles, work: () => Promise<void>): Promise<void> {
  if (affected.length === 0) return;
  try {
    await work();
  } catch (error) {
    for (const layer of affected) obstacles.set(layer, error instanceof Error ? error.message : String(error));
  }
}

/** Installs what is missing, and builds what has changed. */
async function installAndBuild(layers: readonly Layer[], needs: readonly Need[], obstacles: Obstacles): Promise<void> {
  for (const need of needs) {
    const users = layers.filter((layer) => needsOf[layer].includes(need));
    console.log(`installing ${need.title} …`);
    await attempt(users, obstacles, () => need.install(console.log));
  }
  await attempt(running(layers), obstacles, async () => {
    if (isStale() && (await buildAll(console.log)) > 0) throw new Error('the build failed');
  });
}

/** Creates shared fixtures once: the sample and the installed extension. */
async function makeFixtures(layers: readonly Layer[], obstacles: Obstacles): Promise<void> {
  const onSample = running(layers).filter((layer) => layer !== 'unit' && layer !== 'cluster');
  await attempt(onSample, obstacles, () => makeSample(inRoot('.sample/tests')));
  const withKernels = running(layers).filter((layer) => layer === 'kernel' || layer === 'host');
  await attempt(withKernels, obstacles, () => makeKernelSnapshot());
  const inWindow = running(layers).filter((layer) => layer === 'ui' && !obstacles.has(layer));
  await attempt(inWindow, obstacles, async () => {
    const { installedDist, installedExtensions, installedVariable } = await import('./window.ts');
    process.env[installedVariable] = await installedExtensions();
    await makeKernelSnapshot(await installedDist());
  });
}

const running = (layers: readonly Layer[]): Layer[] => layers.filter((layer) => layer !== 'lint');

/** @throws the error of an unknown option, for which boot.mjs prints a message */
function readArguments(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      doctor: { type: 'boolean', default: false },
      grep: { type: 'string' },
      coverage: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const files = positionals.filter((name) => /\.test\.tsx?$/.test(name)).map((name) => resolve(name));
  for (const file of files) {
    if (layerOfFile(file) === undefined || !existsSync(file)) return `There is no test file "${file}".`;
  }
  const unknown = positionals.find((name) => !isLayer(name) && !files.includes(resolve(name)));
  if (unknown !== undefined) return `"${unknown}" is no layer of the tests; there are: ${layerNames.join(', ')}.`;
  const named = new Set<string | undefined>([...positionals, ...files.map((file) => layerOfFile(file))]);
  const layers = positionals.length === 0 ? usualLayers : layerNames.filter((name) => named.has(name));
  return { ...values, layers, files };
}
