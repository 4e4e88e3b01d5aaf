/**
 * The host layer: runs test/host/*.test.ts inside a real VS Code extension host.
 *
 * node test/harness/runInHost.ts [--grep TEXT] [--limit SECONDS] [--folder DIR] [--windows N] [FILE …]
 *
 * - The suites are mocha `tdd` files that import `vscode`. They are bundled here, so they can be plain TypeScript with
 * any imports. `dist/` must be built before (node scripts/build.ts).
 * - The extension under test is this repository. Other extensions for the tests (a stand-in of the Jupyter extension)
 * are folders with a package.json in test/fixtures/extensions/; all of them are installed.
 * - The opened folder is a new empty one, or the one of --folder.
 * - Results are NDJSON lines (reporter.ts), because exit codes are unreliable: a crashed extension host exits with 0.
 * - After a failure test-results/host has a screenshot and the logs of host, browser and server, for each window.
 * - VSCODE_EXECUTABLE=path runs the same suites in that desktop VS Code; without it codeShim.mjs stands in for `code`.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { runTests } from '@vscode/test-electron';
import { inRoot } from '../../scripts/paths.ts';
import { onInterrupt } from '../../scripts/processes.ts';
import { bundleHostTests } from './bundleHost.ts';
import { fileEmitter } from './reporter.ts';
import { ResultsFile } from './results.ts';
import { tempFolder } from './temp.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    grep: { type: 'string' },
    limit: { type: 'string', default: '300' },
    folder: { type: 'string' },
    results: { type: 'string' },
    windows: { type: 'string' },
  },
});

// On a signal, this process removes its folders. Its child processes get the same signal, because they are in its
// process group.
onInterrupt(async () => {});
const artifacts = inRoot('test-results/host');
// Empty the folder only without `--results`: the runner of all layers empties the folder itself and has open files in
// it.
if (values.results === undefined) rmSync(artifacts, { recursive: true, force: true });
mkdirSync(artifacts, { recursive: true });
const results = new ResultsFile(values.results ?? join(artifacts, 'results.ndjson'), console.log);

/**
 * Two windows share the files, because one window leaves half of two processors idle. Only one window opens if some
 * tests are selected. A desktop VS Code also gets one window, because a second instance would pass its work to the
 * first.
 */
const isOne =
  positionals.length > 0 ||
  values.grep !== undefined ||
  values.folder !== undefined ||
  process.env['VSCODE_EXECUTABLE'] !== undefined;
const count = Number(values.windows ?? (isOne ? 1 : Math.min(2, availableParallelism())));
const extensions = [inRoot(), ...foldersIn(inRoot('test/fixtures/extensions'))];
const tests = await bundleHostTests(positionals.map((file) => relative(inRoot('test/host'), file)));
const taken = tempFolder();
const windows = Array.from({ length: count }, (_, index) => index + 1);
const follow = setInterval(() => results.read(), 200);
const ends = await Promise.all(windows.map(runWindow));
results.read();
if (ends.every(({ hasEnded }) => hasEnded))
  fileEmitter(results.path)({ event: 'end', failures: results.tally().failed });
clearInterval(follow);
results.read();
const crash = ends.find(({ crash: why }) => why !== undefined)?.crash;
const problem = results.problem();
const { passed, failed, skipped } = results.tally();
console.log(`host: ${passed} passed, ${failed} failed, ${skipped} skipped`);
if (problem !== undefined) console.error(`The host tests did not finish: ${problem}`);
else if (crash !== undefined && failed === 0) console.error(`The tests passed but VS Code did not end well: ${crash}`);
process.exit(problem === undefined && crash === undefined && failed === 0 ? 0 : 1);

/**
 * Opens one window for the remaining files, and forwards its reports except its end, because other windows may still
 * run.
 */
async function runWindow(window: number): Promise<{ hasEnded: boolean; crash: string | undefined }> {
  const evidence = count === 1 ? artifacts : join(artifacts, `window-${window}`);
  mkdirSync(evidence, { recursive: true });
  const emit = fileEmitter(results.path, window);
  const own = new ResultsFile(join(evidence, 'window.ndjson'), () => {});
  let told = 0;
  const tell = (): void => {
    own.read();
    for (const event of own.events.slice(told)) if (event.event !== 'end') emit(event);
    told = own.events.length;
  };
  const telling = setInterval(tell, 200);
  const why = await runTests({
    vscodeExecutablePath: process.env['VSCODE_EXECUTABLE'] ?? join(import.meta.dirname, 'codeShim.mjs'),
    extensionDevelopmentPath: extensions,
    extensionTestsPath: tests,
    launchArgs: [values.folder ?? tempFolder()],
    extensionTestsEnv: {
      LANCE_TEST_RESULTS: own.path,
      LANCE_TEST_TAKEN: taken,
      LANCE_TEST_LIMIT: values.limit,
      LANCE_TEST_ARTIFACTS: evidence,
      LANCE_TEST_CATALOG: inRoot('.sample/tests'),
      ...(values.grep !== undefined && { LANCE_TEST_GREP: values.grep }),
    },
  }).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  clearInterval(telling);
  tell();
  const hasEnded = own.events.some(({ event }) => event === 'end');
  const last = own.running === undefined ? '' : `; it stopped in "${own.running}"`;
  if (!hasEnded) emit({ event: 'error', error: `window ${window} reported no end${last}` });
  return { hasEnded, crash: why };
}

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(path, entry.name));
  } catch {
    return [];
  }
}
