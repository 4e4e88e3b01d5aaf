import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inRoot } from '../../scripts/paths.ts';
import { python } from '../harness/needs/python.ts';
import { tempFolder } from '../harness/temp.ts';
import { cliEntry, command, type Ran } from './support.ts';

type Cell = { source: string; tags?: string[] };
type Output = { output_type: string; text?: string[]; data?: Record<string, string[]>; traceback?: string[] };
type Saved = {
  cells: { source: string[]; outputs: Output[]; execution_count: number | null; metadata: Record<string, unknown> }[];
  metadata: Record<string, Record<string, unknown>>;
};

const notebookOf = (cells: readonly (Cell | string)[], metadata: object = {}): string =>
  JSON.stringify({
    cells: cells.map((cell) => {
      const { source, tags = [] } = typeof cell === 'string' ? { source: cell } : cell;
      return { cell_type: 'code', source, metadata: { tags }, outputs: [], execution_count: null };
    }),
    metadata,
    nbformat: 4,
    nbformat_minor: 4,
  });

function write(cells: readonly (Cell | string)[], metadata?: object): string {
  const path = join(tempFolder(), 'some.ipynb');
  writeFileSync(path, notebookOf(cells, metadata));
  return path;
}

const cli = (...args: string[]): Promise<Ran> =>
  command(process.execPath, [cliEntry, 'run', ...args], { seconds: 100 });
const read = (path: string): Saved => JSON.parse(readFileSync(path, 'utf8')) as Saved;
const textsOf = (cell: Saved['cells'][number] | undefined): string[] =>
  (cell?.outputs ?? []).map(({ text, data, traceback }) => (text ?? data?.['text/plain'] ?? traceback ?? []).join(''));

suite('lance-catalog run', function () {
  this.timeout(120_000);

  test('saves what the cells gave, with parameters, as a notebook that Jupyter takes for a good one', async () => {
    const notebook = write([
      { source: 'let limit = 10; let isLate = false; const shout = () => `limit ${limit}`', tags: ['parameters'] },
      '  \n',
      "display('before', { id: 'place' }); console.log('one'); console.log('two'); shout()",
      {
        source: "setTimeout(() => { console.log('late'); isLate = true }, 20); throw new Error('allowed')",
        tags: ['raises-exception'],
      },
      { source: 'never(', tags: ['skip-execution'] },
      "while (!isLate) await new Promise((go) => setTimeout(go, 5)); display('after', { id: 'place' }); [limit, names]",
    ]);
    const target = join(dirname(notebook), 'out.ipynb');
    const { code, stdout, stderr } = await cli(notebook, '-p', 'limit=5', '-p', 'names=["a"]', '-o', target);
    assert.deepEqual([code, stdout], [0, ''], stderr);
    assert.match(stderr, /^No cell tagged "parameters" declares names\. Check the names/);
    assert.match(stderr, /^\[2\/5\] \d+\.\d s {2}\/\/ Parameters$/m);
    assert.match(stderr, /^\[4\/5\] failed after \d+\.\d s {2}setTimeout/m);
    const { cells, metadata } = read(target);
    assert.deepEqual(cells[1]?.source, ['// Parameters\n', 'limit = 5;\n', 'let names = ["a"];']);
    assert.deepEqual(
      cells.map(({ execution_count: count }) => count),
      [1, 2, null, 3, 4, null, 5],
    );
    assert.deepEqual(textsOf(cells[3]), ["'after'", 'one\ntwo\n', "'limit 5'"]);
    assert.match(textsOf(cells[4])[0] ?? '', /allowed/);
    assert.equal(textsOf(cells[4])[1], 'late\n');
    assert.deepEqual(textsOf(cells.at(-1)), ["[ 5, [ 'a' ] ]"]);
    assert.deepEqual(Object.keys(cells[3]?.metadata['execution'] ?? {}), [
      'iopub.status.busy',
      'iopub.execute_input',
      'shell.execute_reply',
    ]);
    assert.deepEqual(
      [metadata['kernelspec']?.['name'], metadata['language_info']?.['name']],
      ['lance-typescript', 'typescript'],
    );
    assert.deepEqual(readdirSync(dirname(notebook)).toSorted(), ['out.ipynb', 'some.ipynb']);
    const check = 'import nbformat, sys; nbformat.validate(nbformat.read(sys.argv[1], as_version=4))';
    const checked = await command(python(), ['-W', 'error', '-c', check, target]);
    assert.deepEqual([checked.code, checked.stderr], [0, '']);
  });

  test('saves a run that fails, in place of the notebook too, and shows the cell with line and caret', async () => {
    const notebook = write([
      'const x = 1',
      'const y = 2;\nfail(y);\nfunction fail(n: number) {\n  throw new RangeError("broken " + n);\n}',
      '"never"',
    ]);
    const { code, stdout, stderr } = await cli(notebook, '-o', notebook);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^Cell 2 of .*some\.ipynb failed\.$/m);
    assert.match(stderr, /^> 4 \| {3}throw new RangeError\("broken " \+ n\);\n {4}\| {9}\^\n {2}5 \| }$/m);
    assert.match(stderr, /^RangeError: broken 2$/m);
    const { cells } = read(notebook);
    assert.deepEqual(
      cells.map(({ outputs, execution_count: count }) => [outputs.length, count]),
      [
        [0, 1],
        [1, 2],
        [0, null],
      ],
    );
  });

  test('takes a notebook from stdin and gives it to stdout, and goes on behind errors if told so', async () => {
    const child = spawn(process.execPath, [cliEntry, 'run', '-', '-o', '-', '--allow-errors', '--type-check', 'off'], {
      cwd: tempFolder(),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.end(notebookOf(['throw new Error("first")', 'const n: number = "text"; n']));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, stderr);
    const { cells } = JSON.parse(stdout) as Saved;
    assert.deepEqual(textsOf(cells[1]), ["'text'"]);
    assert.match(textsOf(cells[0])[0] ?? '', /first/);
  });

  test('takes a parameter as text where text is declared, and says of one that does not fit which it is', async () => {
    const notebook = write([
      {
        source:
          'let zip = "a"; const from: string = "b"; let n = 3, many: {\n  a: number;\n}, on = false, none: string[]',
        tags: ['parameters'],
      },
      '[zip, from]',
    ]);
    const [good, bad] = await Promise.all([
      cli(notebook, '-p', 'zip=0123', '-p', 'from=1.10'),
      cli(notebook, '-p', 'zip=5', '-p', 'many=7', '-p', 'n=soon', '-p', 'on=1', '-p', 'none=[1]'),
    ]);
    assert.equal(good.code, 0, good.stderr);
    assert.match(good.stdout, /\[ '0123', '1\.10' \]/);
    assert.equal(bad.code, 1, bad.stdout);
    assert.match(
      bad.stderr,
      /^Cell 2 of .* failed\.\n-p many=7 is a number, but "many" is declared as \{ a: number; \}\. Write a value of this type in JSON\.\n-p n=soon is a string, but "n" is declared as number\. Write for instance -p n=10\.\n-p on=1 is a number, but "on" is declared as boolean\. Write for instance -p on=true\.\n-p none=\[1\] is an array, but "none" is declared as string\[\]\. Write for instance -p 'none=\["a", "b"\]'\.\n/,
    );
  });

  test('stops a cell that takes too long, whatever it does', async () => {
    const notebook = write(['while (true) {}', '"never"']);
    const target = join(dirname(notebook), 'out.ipynb');
    const { code, stderr } = await cli(notebook, '--timeout', '1', '-o', target);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^Cell 1 of .* failed\.\nThe cell took longer than 1 s and was stopped\.\n\n {2}1 \| while/m);
    const [stopped, behind] = read(target).cells;
    assert.equal(textsOf(stopped).at(-1), 'The cell took longer than 1 s and was stopped.\n');
    assert.deepEqual(behind?.outputs, []);
  });

  test('saves what there is at Ctrl-C, and when the kernel ends', async () => {
    const interrupted = write([
      '"done"',
      'process.kill(process.ppid, "SIGINT"); await new Promise(() => {})',
      '"never"',
    ]);
    const ended = write(['"done"', 'process.kill(process.pid, "SIGKILL"); await new Promise(() => {})', '"never"']);
    const [first, second] = await Promise.all([
      cli(interrupted, '-o', interrupted),
      cli(ended, '-o', ended, '--allow-errors'),
    ]);
    assert.equal(first.code, 130, first.stderr);
    assert.equal(second.code, 1, second.stderr);
    assert.match(second.stderr, /^Cell 2 of .* failed\.[^]*SIGKILL/m);
    assert.doesNotMatch(second.stderr, /Run the cell again/);
    for (const path of [interrupted, ended]) {
      const { cells } = read(path);
      assert.deepEqual(textsOf(cells[0]), ["'done'"], path);
      assert.equal(cells[1]?.outputs.at(-1)?.output_type, 'error', path);
      assert.deepEqual(cells[2]?.outputs, [], path);
    }
  });

  test('ends silently if its output is no longer read', async () => {
    const child = spawn(process.execPath, [cliEntry, 'run', write(["for (;;) console.log('x'.repeat(1000))"])]);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdout.once('data', () => child.stdout.destroy());
    const [code] = (await once(child, 'close')) as [number | null];
    assert.deepEqual([code, stderr], [141, '']);
  });

  const changing = `import { newDisplay } from 'tslab';
    const place = newDisplay();
    for (const state of ['queued', 'queued', 'half', 'all\\nin 2 lines']) {
      place.text(state);
      await new Promise((go) => setTimeout(go, 150));
    }
    console.log('printed');
    for (const each of progress([1, 2, 3])) void each;
    display('fixed');
    'the result'`;

  test('prints only the last state of a display outside of a terminal, and saves only that', async () => {
    const notebook = write([changing]);
    const target = join(dirname(notebook), 'out.ipynb');
    const [printed, saved] = await Promise.all([cli(notebook), cli(notebook, '-o', target)]);
    assert.deepEqual([printed.code, saved.code], [0, 0], printed.stderr + saved.stderr);
    assert.match(
      printed.stdout,
      /^\[1\] import .*\n {4}printed\n {4}'fixed'\n {4}all\n {4}in 2 lines\n {4}.*3 of 3.*\n {4}'the result'\n$/,
    );
    const [first, second, third] = textsOf(read(target).cells[0]);
    assert.deepEqual([first, second], ['all\nin 2 lines', 'printed\n']);
    assert.match(third ?? '', /3 of 3/);
    assert.equal(read(target).cells[0]?.outputs.length, 5);
  });

  test('rewrites a line of a terminal while a display changes', async () => {
    const terminal = [inRoot('test/kernel/python/terminal.py'), '80', 'never', ''];
    const run = [process.execPath, cliEntry, 'run', write([changing])];
    const { code, stdout } = await command(python(), [...terminal, ...run], { seconds: 100 });
    assert.equal(code, 0, stdout);
    const line = '\r\u001b[2K    ';
    assert.ok(
      stdout.includes(`${line}queued${line}queued${line}half${line}all\r\u001b[2K    printed\n`),
      JSON.stringify(stdout),
    );
    assert.ok(stdout.endsWith("    'the result'\n"), JSON.stringify(stdout));
    assert.equal(stdout.split('in 2 lines').length, 2);
  });

  test('refuses what it can not run before it starts anything', async () => {
    const foreign = write(['1'], { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } });
    const before = readFileSync(foreign, 'utf8');
    const [language, folder, parameter, seconds, mode] = await Promise.all([
      cli(foreign, '-o', foreign),
      cli(write(['1']), '-o', join(tempFolder(), 'none/out.ipynb')),
      cli(write(['1']), '-p', 'limit'),
      cli(write(['1']), '--timeout', 'soon'),
      cli(write(['1']), '--type-check', 'perhaps'),
    ]);
    assert.match(
      language.stderr,
      /^Can't run ".*some\.ipynb": its language is python, not TypeScript or JavaScript\. /,
    );
    assert.equal(readFileSync(foreign, 'utf8'), before);
    assert.match(folder.stderr, /^Can't write ".*none\/out\.ipynb": the folder ".*none" does not exist/);
    assert.match(parameter.stderr, /^The parameter "limit" has no value\. Write name=value/);
    assert.match(seconds.stderr, /^Expected more than 0 and at most 2147483 seconds for --timeout, got "soon"\./);
    assert.match(mode.stderr, /^Expected one of error, warn, off for --type-check, got "perhaps"\./);
    const codes = [language, folder, parameter, seconds, mode].map(({ code }) => code);
    assert.deepEqual(codes, [1, 1, 2, 2, 2]);
    for (const { stderr } of [language, folder, parameter, seconds, mode])
      assert.equal(stderr.trim().split('\n').length, 1);
  });
});
