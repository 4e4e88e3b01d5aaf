/**
 * The host layer: runs test/host/*.test.ts inside a real VS Code extension host.
 *
 *   node test/harness/runInHost.ts [--grep TEXT] [--limit SECONDS] [--folder DIR]
 *
 * - The suites are mocha `tdd` files that import `vscode`; they are bundled here, so write plain TypeScript and import
 *   what you need. `dist/` must be built before (node scripts/build.ts).
 * - The extension under test is this repository; other extensions the tests need (a stand-in of the Jupyter extension)
 *   are folders with a package.json in test/fixtures/extensions/, all of them are installed.
 * - The opened folder is a new empty one unless --folder names one.
 * - Results travel as NDJSON (reporter.ts) because exit codes lie: a dead extension host exits with 0.
 * - After a failure test-results/host holds a screenshot and the logs of host, browser and server.
 * - VSCODE_EXECUTABLE=path runs the same suites in that desktop VS Code; without it codeShim.mjs stands in for `code`.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runTests } from '@vscode/test-electron';
import { inRoot } from '../../scripts/paths.ts';
import { bundleHostTests } from './bundleHost.ts';
import { ResultsFile } from './results.ts';
import { tempFolder } from './temp.ts';

const { values } = parseArgs({
  options: {
    grep: { type: 'string' },
    limit: { type: 'string', default: '300' },
    folder: { type: 'string' },
    results: { type: 'string' },
  },
});

const artifacts = inRoot('test-results/host');
// The runner of all layers empties the folder itself and has its files open in there.
if (values.results === undefined) rmSync(artifacts, { recursive: true, force: true });
mkdirSync(artifacts, { recursive: true });
const results = new ResultsFile(values.results ?? join(artifacts, 'results.ndjson'), console.log);

const extensions = inRoot('test/fixtures/extensions');
const folder = values.folder ?? tempFolder();
const follow = setInterval(() => results.read(), 200);
const crash = await runTests({
  vscodeExecutablePath: process.env['VSCODE_EXECUTABLE'] ?? join(import.meta.dirname, 'codeShim.mjs'),
  extensionDevelopmentPath: [inRoot(), ...foldersIn(extensions)],
  extensionTestsPath: await bundleHostTests(),
  launchArgs: [folder],
  extensionTestsEnv: {
    LANCE_TEST_RESULTS: results.path,
    LANCE_TEST_LIMIT: values.limit,
    LANCE_TEST_ARTIFACTS: artifacts,
    LANCE_TEST_CATALOG: inRoot('.sample/catalog'),
    ...(values.grep !== undefined && { LANCE_TEST_GREP: values.grep }),
  },
}).then(
  () => undefined,
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
);
clearInterval(follow);
results.read();
const problem = results.problem();
const { passed, failed, skipped } = results.tally();
console.log(`host: ${passed} passed, ${failed} failed, ${skipped} skipped`);
if (problem !== undefined) console.error(`The host tests did not finish: ${problem}`);
else if (crash !== undefined && failed === 0) console.error(`The tests passed but VS Code did not end well: ${crash}`);
process.exit(problem === undefined && crash === undefined && failed === 0 ? 0 : 1);

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(path, entry.name));
  } catch {
    return [];
  }
}
