import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { command, errorOf, run, startKernel } from '../../kernel/support.ts';
import { type ServeProcess, startServe } from '../serve/serveProcess.ts';
import { type PageName, pageDifferences, pageNames } from './pageDifferences.ts';

// Programs like those of LanceDB's documentation run in one process with LanceDB's package, and as cells of a notebook
// that does not have the package: on a directory, and in strict cells on our server. The only line that differs on a
// server is the one that connects. `npm run check` compiles the pages with the types of the package.

type Readings = ReadonlyMap<string, unknown>;
type Side = 'dir' | 'serve';

const pageFile = (page: PageName): string => inRoot('test/contract/lancedb/pages', `${page}.ts`);
const readReadings = (file: string): Readings => new Map(JSON.parse(readFileSync(file, 'utf8')) as [string, unknown][]);

const key = 'key-of-the-pages';
const connecting = /^const db = await lancedb\.connect.*$/gm;

/** Returns the text of a page, changed to connect to a database of our server. */
function onServer(text: string, address: string, database: string): string {
  assert.equal(text.match(connecting)?.length, 1, 'A page connects in one line.');
  const config = JSON.stringify({ uri: address, apiKey: key, database });
  return text.replace(connecting, `const db = await lancedb.connectNamespace('rest', ${config});`);
}

suite("Pages of LanceDB's documentation as cells", function () {
  this.timeout(60_000);
  const theirs = new Map<PageName, Readings>();
  const loose = tempFolder();
  const strict = tempFolder();
  let kernel: KernelProcess;
  let server: ServeProcess;

  suiteSetup(async () => {
    writeFileSync(join(strict, 'tsconfig.json'), '{ "compilerOptions": { "strict": true } }');
    const databases = pageNames.map((page) => [page, join(strict, page)] as const);
    for (const [, root] of databases) mkdirSync(root);
    const folder = tempFolder();
    const program = inRoot('test/contract/lancedb/runPagesInPackage.ts');
    const inPackage = command(process.execPath, [program, folder, ...pageNames.map(pageFile)]);
    [kernel, server] = await Promise.all([
      startKernel({ cwd: loose }),
      startServe(
        ['--api-key-env', 'PAGES_KEY', ...databases.flatMap(([name, root]) => ['--database', `${name}=${root}`])],
        { env: { PAGES_KEY: key } },
      ),
    ]);
    const { code, stderr } = await inPackage;
    assert.equal(code, 0, stderr);
    for (const [index, page] of pageNames.entries()) theirs.set(page, readReadings(join(folder, `${index}.json`)));
  });
  suiteTeardown(async () => {
    await Promise.all([kernel?.shutdown(), server?.stop()]);
  });

  /** Runs a page as a cell and returns what it read. */
  async function runCells(folder: string, root: string, text: string): Promise<Readings> {
    const file = join(tempFolder(), 'readings.json');
    const values = inRoot('test/contract/lancedb/pageValues.ts');
    const [before, after] = [
      `process.chdir(${JSON.stringify(folder)});
const pageUri: string = ${JSON.stringify(root)};
const pageResults: Record<string, unknown>[] = [];`,
      `import { writeReadings } from ${JSON.stringify(values)};
writeReadings(${JSON.stringify(file)}, pageResults);`,
    ];
    for (const cell of [before, text, after]) {
      const { outputs } = await run(kernel, cell);
      assert.equal(errorOf(outputs)?.traceback.join('\n'), undefined);
    }
    return readReadings(file);
  }

  /** Asserts that a page read what it reads with the package, except for the listed differences. */
  function compare(page: PageName, side: Side, ours: Readings): void {
    const expected = new Map(theirs.get(page));
    for (const { on, name, inPackage, here } of pageDifferences[page] ?? []) {
      if (!on.includes(side)) continue;
      assert.deepEqual(expected.get(name), inPackage, `The package reads another value for "${name}" than listed.`);
      assert.notDeepEqual(here, inPackage);
      expected.set(name, here);
    }
    assert.deepEqual(Object.fromEntries(ours), Object.fromEntries(expected));
  }

  for (const page of pageNames) {
    test(`${page} reads the same in a directory`, async () => {
      const root = join(loose, page);
      mkdirSync(root);
      compare(page, 'dir', await runCells(loose, root, readFileSync(pageFile(page), 'utf8')));
    });

    test(`${page} reads the same on our server, in strict cells`, async () => {
      const text = onServer(readFileSync(pageFile(page), 'utf8'), server.address, page);
      compare(page, 'serve', await runCells(strict, join(strict, page), text));
    });
  }
});
