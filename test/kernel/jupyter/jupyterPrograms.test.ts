import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command, type Ran } from '../support.ts';
import { installedKernel } from './jupyterHome.ts';

type Saved = { cells: { source: string[]; outputs: { text?: string[]; data?: Record<string, unknown> }[] }[] };

const codeCell = (source: string, tags: string[] = []) => ({
  cell_type: 'code',
  id: `cell-${source.length}`,
  source,
  metadata: { tags },
  outputs: [],
  execution_count: null,
});
const notebook = {
  cells: [
    codeCell("let limit = 10; let who = 'nobody'; const later: boolean = false;", ['parameters']),
    codeCell('console.log(`${who} wants ${limit}`); arrow.tableFromArrays({ price: [2.5] })'),
  ],
  metadata: {
    kernelspec: { name: 'lance-typescript', display_name: 'TypeScript', language: 'typescript' },
    language_info: { name: 'typescript' },
  },
  nbformat: 4,
  nbformat_minor: 5,
};

suite("Jupyter's programs", function () {
  this.timeout(300_000);
  let env: Record<string, string>;
  let folder: string;

  suiteSetup(async () => {
    ({ env } = await installedKernel());
    folder = tempFolder();
    writeFileSync(join(folder, 'some.ipynb'), JSON.stringify(notebook));
  });

  /** Runs a Python program of the tests by its file, because `python -m` would add the folder to the import path. */
  const program = (name: string, ...args: string[]): Promise<Ran> =>
    command(join(dirname(python()), name), args, {
      env: { ...env, PATH: `${dirname(python())}:${process.env['PATH']}` },
      cwd: folder,
      seconds: 200,
    });
  const textsOf = (file: string): string[] =>
    (JSON.parse(readFileSync(join(folder, file), 'utf8')) as Saved).cells.flatMap(({ outputs }) =>
      outputs.flatMap(({ text }) => text ?? []),
    );

  test('list the kernel with its folder', async () => {
    const { code, stdout, stderr } = await program('jupyter', 'kernelspec', 'list', '--json');
    assert.equal(code, 0, stderr);
    const { kernelspecs } = JSON.parse(stdout) as { kernelspecs: Record<string, { spec: Record<string, unknown> }> };
    const { display_name: name, language, interrupt_mode: mode } = kernelspecs['lance-typescript']?.spec ?? {};
    assert.deepEqual([name, language, mode], ['TypeScript (Lance Catalog)', 'typescript', 'message']);
  });

  test('nbconvert runs a notebook and makes a page of it, with coloured code and tables', async () => {
    const { code, stderr } = await program('jupyter', 'nbconvert', '--execute', '--to', 'html', 'some.ipynb');
    assert.equal(code, 0, stderr);
    const page = readFileSync(join(folder, 'some.html'), 'utf8');
    assert.match(page, /nobody wants 10/);
    assert.match(page, /<span class="kd">let<\/span>/);
    assert.match(page, /<th[^>]*>[^<]*price/);
  });

  test('nbconvert runs a notebook and makes a notebook of it', async () => {
    const args = ['nbconvert', '--execute', '--to', 'notebook', '--output', 'converted.ipynb', 'some.ipynb'];
    const { code, stderr } = await program('jupyter', ...args);
    assert.equal(code, 0, stderr);
    assert.deepEqual(textsOf('converted.ipynb'), ['nobody wants 10\n']);
  });

  test('jupyter run runs a file on the catalog, and by the mode, of a kernelspec', async () => {
    const catalog = tempFolder();
    const options = ['--name', 'lenient', '--catalog', catalog, '--type-check', 'off'];
    const installed = await command(process.execPath, [cliEntry, 'kernel', 'install', ...options], { env });
    assert.equal(installed.code, 0, installed.stderr);
    writeFileSync(join(folder, 'script.ts'), "const n: number = 'six';\nawait 0;\nconsole.log(n, db.location);\n");
    const { code, stdout, stderr } = await program('jupyter', 'run', '--kernel=lenient', 'script.ts');
    assert.deepEqual([code, stdout], [0, `six ${catalog}\n`], stderr);
  });

  test('papermill runs a notebook, and its plain parameters in the words of a language that it knows', async () => {
    const words = ['--language', '.net-csharp', '-p', 'limit', '5', '-p', 'who', 'Ada', '-p', 'later', 'True'];
    const { code, stderr } = await program('papermill', '--no-progress-bar', 'some.ipynb', 'milled.ipynb', ...words);
    assert.equal(code, 0, stderr);
    assert.deepEqual(textsOf('milled.ipynb'), ['Ada wants 5\n']);
  });

  test('papermill has no words for parameters of this language, so README names lance-catalog run', async () => {
    const { code, stderr } = await program(
      'papermill',
      '--prepare-only',
      'some.ipynb',
      'none.ipynb',
      '-p',
      'limit',
      '5',
    );
    assert.notEqual(code, 0);
    assert.match(stderr, /No parameter translator functions specified for .*language 'typescript'/);
  });

  test('the console takes several lines, interrupts, asks, and ends by "exit"', async () => {
    const { code, stdout, stderr } = await program('python', inRoot('test/kernel/python/console.py'));
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), {
      result: true,
      interrupted: true,
      answered: true,
      problem: true,
      exit: 0,
    });
  });
});
