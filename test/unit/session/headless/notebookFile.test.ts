import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CellOutputs } from '#session/headless/cellOutputs.ts';
import { checkLanguage, notebookText, parseNotebook } from '#session/headless/notebookFile.ts';
import { checkOutputFile, writeOutputFile } from '#processes/outputFile.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { tempFolder } from '../../../harness/temp.ts';

const file = (fields: object) => JSON.stringify({ metadata: {}, nbformat: 4, nbformat_minor: 5, cells: [], ...fields });

const markdown = (id?: string) => ({
  cell_type: 'markdown',
  metadata: {},
  source: 'x',
  ...(id !== undefined && { id }),
});
const languageOf = (metadata: object) => checkLanguage(parseNotebook(file({ metadata }), 'It'), 'It');

suite('A notebook file', () => {
  test('is written as it was read, with unknown fields', () => {
    const cells = [
      { cell_type: 'markdown', id: 'a', metadata: { x: 1 }, source: ['# One\n', 'two'], attachments: { 'p.png': {} } },
      {
        cell_type: 'code',
        execution_count: 3,
        id: 'b',
        metadata: {},
        outputs: [
          { output_type: 'stream', name: 'stdout', text: ['1\n'] },
          {
            output_type: 'display_data',
            data: { 'text/html': ['<b>\n', '</b>'], 'application/json': { a: 1 } },
            metadata: {},
          },
        ],
        source: ['1'],
      },
    ];
    const text = file({ cells, metadata: { kernelspec: { name: 'x' } }, extra: true });
    assert.deepEqual(JSON.parse(notebookText(parseNotebook(text, 'it'))), JSON.parse(text));
  });

  test("gets ids that are its cells' own, and the version of the format that has them", () => {
    const cells = [markdown(), markdown('same'), markdown('same'), markdown('not fit!')];
    const read = parseNotebook(file({ cells, nbformat_minor: 2 }), 'it');
    assert.equal(read.nbformat_minor, 5);
    const ids = read.cells.map(({ id }) => id);
    assert.equal(new Set(ids).size, 4);
    assert.equal(ids[1], 'same');
    for (const id of ids) assert.match(id, /^[\w-]{1,64}$/);
  });

  test('is read behind the mark that programs of Windows put first', () => {
    assert.deepEqual(parseNotebook(`\uFEFF${file({ extra: 1 })}`, 'it'), parseNotebook(file({ extra: 1 }), 'it'));
  });

  test('that is none is refused with a sentence that says why', () => {
    for (const [text, said] of [
      ['no JSON', /^It is not a notebook: it is not valid JSON\./],
      ['[]', /^It is not a notebook: it has no cells\./],
      [
        file({ nbformat: 3, cells: undefined, worksheets: [] }),
        /^It has notebook format 3, but only format 4 is supported\. Save it in/,
      ],
      [file({ cells: [{ cell_type: 'code', source: [1] }] }), /: cell 1 has no type or no source/],
    ] as const)
      assert.throws(
        () => parseNotebook(text, 'It'),
        (error) => isCatalogError(error, 'InvalidInput') && said.test(error.message),
      );
  });

  test('of another language is refused, one that names none is not', () => {
    assert.equal(languageOf({}), 'typescript');
    assert.equal(languageOf({ kernelspec: { name: 'deno', language: 'typescript' } }), 'typescript');
    assert.equal(languageOf({ language_info: { name: 'TypeScript' } }), 'typescript');
    assert.throws(() => languageOf({ language_info: { name: 'python' } }), /Can't run It: its language is python/);
    assert.throws(() => languageOf({ kernelspec: { language: 'R' } }), /language is R/);
  });

  test('names JavaScript or TypeScript by its metadata, its kernel, or the name of a kernel of tslab', () => {
    assert.equal(languageOf({ language_info: { name: 'javascript' } }), 'javascript');
    assert.equal(languageOf({ kernelspec: { name: 'own', language: 'javascript' } }), 'javascript');
    assert.equal(languageOf({ kernelspec: { name: 'jslab', display_name: 'JavaScript' } }), 'javascript');
    assert.equal(languageOf({ kernelspec: { name: 'tslab', display_name: 'TypeScript' } }), 'typescript');
  });

  test('is saved in one step, behind a link, with the rights that it had', async () => {
    const folder = tempFolder();
    const [real, link] = [join(folder, 'real.ipynb'), join(folder, 'link.ipynb')];
    writeFileSync(real, 'before');
    chmodSync(real, 0o640);
    symlinkSync('real.ipynb', link);
    await writeOutputFile(link, 'after');
    assert.equal(readFileSync(real, 'utf8'), 'after');
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.equal(statSync(real).mode & 0o777, 0o640);
    assert.deepEqual(readdirSync(folder).toSorted(), ['link.ipynb', 'real.ipynb']);
  });

  test('keeps rights that the umask would take from a new file', async () => {
    const shared = join(tempFolder(), 'shared.ipynb');
    writeFileSync(shared, 'before');
    chmodSync(shared, 0o664);
    const umask = process.umask(0o077);
    try {
      await writeOutputFile(shared, 'after');
    } finally {
      process.umask(umask);
    }
    assert.equal(readFileSync(shared, 'utf8'), 'after');
    assert.equal(statSync(shared).mode & 0o777, 0o664);
  });

  test('that goes to a pipe or a device is written there, which stays what it is', async () => {
    const pipe = join(tempFolder(), 'pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    assert.equal(await checkOutputFile(pipe, 'notebook'), false);
    const [read] = await Promise.all([readFile(pipe, 'utf8'), writeOutputFile(pipe, 'all of it')]);
    assert.equal(read, 'all of it');
    assert.ok(lstatSync(pipe).isFIFO());
  });

  test('that can not be saved is reported before the run', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'taken'));
    assert.equal(await checkOutputFile(join(folder, 'new.ipynb'), 'notebook'), true);
    await assert.rejects(
      checkOutputFile(join(folder, 'none', 'new.ipynb'), 'notebook'),
      /the folder ".*none" does not exist or is not writable/,
    );
    await assert.rejects(checkOutputFile(join(folder, 'taken'), 'notebook'), /is a folder/);
    await assert.rejects(writeOutputFile(join(folder, 'taken'), 'x'), /Can't write ".*taken"/);
    assert.deepEqual(readdirSync(folder), ['taken']);
  });
});

const text = (value: string, name: 'stdout' | 'stderr' = 'stdout'): KernelOutput => ({
  type: 'stream',
  parent: '',
  content: { name, text: value },
});
const shown = (value: string, displayId?: string): KernelOutput => ({
  type: 'display_data',
  parent: '',
  content: { data: { 'text/plain': value }, metadata: {}, ...(displayId !== undefined && { displayId }) },
});
const texts = ({ list }: CellOutputs) =>
  list.map((output) => ('data' in output ? output.data['text/plain'] : 'text' in output ? output.text : output.ename));

const clear = (wait: boolean): KernelOutput => ({ type: 'clear_output', parent: '', content: { wait } });

function gather(...outputs: KernelOutput[]): CellOutputs {
  const cell = new CellOutputs(new Map());
  for (const output of outputs) cell.take(output);
  return cell;
}

suite('Outputs of a cell in a file', () => {
  test('have what is printed in a row as one', () => {
    const cell = gather(text('a'), text('b\n'), text('c', 'stderr'), text('d'), shown('e'), text('f'));
    assert.deepEqual(texts(cell), ['ab\n', 'c', 'd', 'e', 'f']);
  });

  test('are cleared at once, or by what comes next', () => {
    assert.deepEqual(texts(gather(text('a'), clear(false))), []);
    assert.deepEqual(texts(gather(text('a'), clear(true))), ['a']);
    assert.deepEqual(texts(gather(text('a'), clear(true), text('b'))), ['b']);
  });

  test('change where they are shown when another cell changes them', () => {
    const places = new Map();
    const [first, second] = [new CellOutputs(places), new CellOutputs(places)];
    first.take(shown('before', 'place'));
    first.take(shown('else'));
    const content = { data: { 'text/plain': 'after' }, metadata: {}, displayId: 'place' };
    second.take({ type: 'update_display_data', parent: '', content });
    assert.deepEqual([texts(first), texts(second)], [['after', 'else'], []]);
  });
});
