import { parseArgs } from 'node:util';
import { snapshotVariable } from '#client/startSnapshot.ts';
import { buildAll, isStale } from '../../scripts/build.ts';
import { inRoot } from '../../scripts/paths.ts';
import { onInterrupt } from '../../scripts/processes.ts';
import { makeSample } from '../../scripts/sample.ts';
import { isLayer, layerNames, runLayer, usualLayers, type Layer } from './layers.ts';
import type { Need } from './installing.ts';
import { missing, needsOf, report } from './needs.ts';
import type { FileTime } from './results.ts';

const help = `npm test -- [layer …] [options]
  layers      ${layerNames.join(', ')}; without one all but cluster
  --doctor    say what is missing on this machine, and run nothing
  --grep TEXT run the tests whose title holds TEXT
  --coverage  coverage of the layers that run in plain Node, into coverage/
  --verbose   print passed tests as well
The tests are for Linux.`;

/** `npm test`: installs what its layers need, runs them, and ends with one line of counts. Returns the exit code. */
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
  onInterrupt(async () => {});
  // Each test's folder would have a start-up snapshot of its own made. The test of snapshots switches them on.
  process.env[snapshotVariable] ??= 'off';
  const total = { passed: 0, failed: 0, skipped: 0 };
  const files: FileTime[] = [];
  const prepared = await prepare(options.layers, needs);
  for (const layer of options.layers) {
    const started = Date.now();
    const obstacle = prepared.get(layer);
    const result =
      obstacle === undefined
        ? await runLayer(layer, { ...options, say: console.log })
        : { passed: 0, failed: 1, skipped: 0, files: [] };
    if (obstacle !== undefined) console.log(`  FAIL  ${layer} cannot run: ${obstacle}`);
    const { passed, failed, skipped } = result;
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    console.log(`${layer}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds} s`);
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
    files.push(...result.files);
  }
  const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, 5);
  if (slowest.length > 0)
    console.log(
      ['slowest files:', ...slowest.map(({ file, ms }) => `  ${(ms / 1000).toFixed(1)} s ${file}`)].join('\n'),
    );
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed === 0 ? 0 : 1;
}

/** Installs, builds and makes the sample. @returns for each layer that cannot run the reason */
async function prepare(layers: readonly Layer[], needs: readonly Need[]): Promise<Map<Layer, string>> {
  const obstacles = new Map<Layer, string>();
  const attempt = async (affected: readonly Layer[], work: () => Promise<void>): Promise<void> => {
    if (affected.length === 0) return;
    try {
      await work();
    } catch (error) {
      for (const layer of affected) obstacles.set(layer, error instanceof Error ? error.message : String(error));
    }
  };
  const started = Date.now();
  for (const need of needs) {
    const users = layers.filter((layer) => needsOf[layer].includes(need));
    console.log(`installing ${need.title} …`);
    await attempt(users, () => need.install(console.log));
  }
  const running = layers.filter((layer) => layer !== 'lint');
  await attempt(running, async () => {
    if (isStale() && (await buildAll(console.log)) > 0) throw new Error('the build failed');
  });
  const onSample = running.filter((layer) => layer !== 'unit' && layer !== 'cluster');
  await attempt(onSample, () => makeSample(inRoot('.sample/catalog')));
  // Before its files begin, which several processes share.
  const inWindow = running.filter((layer) => layer === 'ui' && !obstacles.has(layer));
  await attempt(inWindow, async () => void (await (await import('./window.ts')).packagedExtension()));
  console.log(`prepared in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  return obstacles;
}

/** @throws the error of an unknown option, which boot.mjs words */
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
  const unknown = positionals.find((name) => !isLayer(name));
  if (unknown !== undefined) return `"${unknown}" is no layer of the tests; there are: ${layerNames.join(', ')}.`;
  const layers = positionals.length === 0 ? usualLayers : layerNames.filter((name) => positionals.includes(name));
  return { ...values, layers };
}
