import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Binary,
  Bool,
  type DataType,
  Field,
  FixedSizeList,
  Float32,
  Int32,
  Int64,
  List,
  Struct,
  StructRow,
  Table,
  tableFromArrays,
  tableFromIPC,
  tableToIPC,
  TimestampMicrosecond,
  TimestampMillisecond,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { bundleFunction } from '#jobs/definition/bundle.ts';
import { encodeOutput } from '#jobs/definition/outputType.ts';
import { failureIn } from '#jobs/worker/rowFailures.ts';
import { functionWorkerEntry } from '#jobs/worker/functionWorkers.ts';
import { workerLine } from '#jobs/worker/workerOptions.ts';
import type { OnError } from '#shared/jobs/computedFunction.ts';
import { tempFolder } from '../../../harness/temp.ts';

type Run = { code: number | null; table: Table | undefined; stderr: string };
type Work = { code: string; type: DataType; input: Table; takes?: 'row' | 'batch'; onError?: OnError };

/** Runs the real worker over a whole table. */
function run({ code, type, input, takes = 'row', onError = { mode: 'null' } }: Work): Promise<Run> {
  const folder = tempFolder();
  writeFileSync(join(folder, 'f.mjs'), code);
  const inputs = input.schema.fields.map(({ name }) => name);
  const line = workerLine({ module: 'f.mjs', takes, inputs, output: encodeOutput('made', type), onError });
  const child = spawn(process.execPath, [functionWorkerEntry()], { cwd: folder, timeout: 60_000 });
  const out: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => {});
  child.stdin.write(line);
  child.stdin.end(tableToIPC(input, 'stream'));
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (exit) => {
      const bytes = Buffer.concat(out);
      resolve({ code: exit, stderr, table: bytes.length === 0 ? undefined : tableFromIPC(bytes) });
    });
  });
}

const values = ({ table }: Run): unknown[] => Array.from(table?.getChild('value') ?? []);
const errors = ({ table }: Run): unknown[] => Array.from(table?.getChild('error') ?? []);
const texts = (list: readonly (string | null)[]): Table => new Table({ text: vectorFromArray(list, new Utf8()) });

suite('A worker of a TypeScript function', function () {
  this.timeout(120_000);

  test('gives a value for every row, nulls and letters of all alphabets as they are', async () => {
    const input = texts(['mug', null, 'Übergröße', '', '杯子']);
    const code = 'export default ({ text }) => text === null ? null : text.length;';
    const done = await run({ code, type: new Int32(), input });
    assert.deepEqual(values(done), [3, null, 9, 0, 2]);
    assert.deepEqual(errors(done), [null, null, null, null, null]);
    assert.equal(done.code, 0, done.stderr);
  });

  test('gives texts that are not ASCII back byte for byte', async () => {
    const list = ['plain', 'é', '🍵 tea', 'plain again'];
    const done = await run({ code: 'export default (row) => row.text;', type: new Utf8(), input: texts(list) });
    assert.deepEqual(values(done), list);
  });

  test('says of a value that does not fit the column what it is and what was wanted', async () => {
    const code = 'export default ({ text }) => text === "b" ? "two" : 1;';
    const done = await run({ code, type: new Int32(), input: texts(['a', 'b']) });
    assert.deepEqual(values(done), [1, null]);
    assert.match(String(errors(done)[1]), /"made" is a string/);
  });

  test('refuses a number that the column would change', async () => {
    const done = await run({ code: 'export default () => 2 ** 31;', type: new Int32(), input: texts(['a']) });
    assert.deepEqual(values(done), [null]);
    assert.match(String(errors(done)[0]), /2147483648/);
  });

  test('goes on after a row that throws where errors are null', async () => {
    const code =
      'export default ({ text }) => { if (text === "b") throw new RangeError("no b"); return text.length; };';
    const done = await run({ code, type: new Int32(), input: texts(['a', 'b', 'c']) });
    assert.deepEqual(values(done), [1, null, 1]);
    assert.deepEqual(errors(done), [null, 'RangeError: no b', null]);
  });

  test('leaves rows behind one that throws where an error ends the job', async () => {
    const code = 'export default ({ text }) => { if (text === "b") throw new Error("no b"); return text.length; };';
    const done = await run({ code, type: new Int32(), input: texts(['a', 'b', 'c']), onError: { mode: 'fail' } });
    assert.deepEqual(values(done), [1, null, null]);
    assert.deepEqual(errors(done), [null, 'no b', '']);
  });

  test('tries a row again that throws, as often as requested', async () => {
    const code = 'let n = 0; export default () => { if (++n < 3) throw new Error("busy"); return n; };';
    const onError = { mode: 'retry', attempts: 2 } as const;
    const done = await run({ code, type: new Int32(), input: texts(['a']), onError });
    assert.deepEqual([values(done), errors(done)], [[3], [null]]);
  });

  test('ends with the last error once the attempts are used up', async () => {
    const code = 'let n = 0; export default () => { throw new Error("busy " + ++n); };';
    const onError = { mode: 'retry', attempts: 1 } as const;
    assert.deepEqual(errors(await run({ code, type: new Int32(), input: texts(['a']), onError })), ['busy 2']);
  });

  for (const takes of ['row', 'batch'] as const) {
    test(`waits a random time before it tries a ${takes} again`, async () => {
      const code = `let draws = 0, calls = 0; Math.random = () => { draws++; return 0; };
        export default () => { if (++calls < 3) throw new Error("busy"); return ${takes === 'row' ? 'draws' : '[draws]'}; };`;
      const onError = { mode: 'retry', attempts: 2 } as const;
      assert.deepEqual(values(await run({ code, type: new Int32(), input: texts(['a']), takes, onError })), [2]);
    });
  }

  test('runs rows of an asynchronous function together, and keeps their order', async () => {
    // Every row waits until four rows run, so the test would hang if they ran one by one.
    const code = `let running = 0, open; const four = new Promise((resolve) => { open = resolve; });
      export default async ({ n }) => { if (++running === 4) open(); await four; return n * 2; };`;
    const input = tableFromArrays({ n: Int32Array.of(1, 2, 3, 4, 5, 6) });
    assert.deepEqual(values(await run({ code, type: new Int32(), input })), [2, 4, 6, 8, 10, 12]);
  });

  test('keeps what the function prints out of its answers', async () => {
    const code = `import { stdout } from 'node:process';
      console.log('loaded');
      export default () => { console.info('one'); stdout.write('two\\n'); process.stdout.write('three\\n'); return 1; };`;
    const done = await run({ code, type: new Int32(), input: texts(['a']) });
    assert.deepEqual(values(done), [1]);
    assert.deepEqual(done.stderr.trim().split('\n'), ['loaded', 'one', 'two', 'three']);
  });

  test('ends with words and a code of its own when the function does not load', async () => {
    const done = await run({ code: 'throw new Error("no model");', type: new Int32(), input: texts(['a']) });
    assert.equal(done.code, 3);
    const message = "The function can't be loaded: no model";
    assert.deepEqual(failureIn(done.stderr), { kind: 'FunctionInvalid', message });
  });

  test('gives a function of batches the batch, and takes a typed array for the column', async () => {
    const code = 'export default (batch) => Int32Array.from(batch.getChild("n"), (n) => n + 1);';
    const input = tableFromArrays({ n: Int32Array.of(1, 2) });
    assert.deepEqual(values(await run({ code, type: new Int32(), input, takes: 'batch' })), [2, 3]);
  });

  test('takes a vector that the function was given for the column', async () => {
    const input = texts(['a', null, 'c']);
    const code = 'export default (batch) => batch.getChild("text");';
    assert.deepEqual(values(await run({ code, type: new Utf8(), input, takes: 'batch' })), ['a', null, 'c']);
  });

  test('says it when a function of batches gives too few values', async () => {
    const done = await run({
      code: 'export default () => [1];',
      type: new Int32(),
      input: texts(['a', 'b']),
      takes: 'batch',
    });
    assert.match(String(errors(done)[1]), /returned 1 values for a batch of 2 rows/);
  });

  test('takes an Error among the values of a batch as that of its row', async () => {
    const code = 'export default () => [1, new Error("bad"), 3];';
    const done = await run({ code, type: new Int32(), input: texts(['a', 'b', 'c']), takes: 'batch' });
    assert.deepEqual(
      [values(done), errors(done)],
      [
        [1, null, 3],
        [null, 'bad', null],
      ],
    );
  });

  test('computes vectors, and refuses one of another length', async () => {
    const type = new FixedSizeList(2, new Field('item', new Float32(), true));
    const code = 'export default ({ text }) => text === "bad" ? [1] : new Float32Array([0.5, text.length]);';
    const done = await run({ code, type, input: texts(['abc', 'bad']) });
    const [first, second] = values(done) as [Iterable<number>, unknown];
    assert.deepEqual([Array.from(first), second], [[0.5, 3], null]);
    assert.match(String(errors(done)[1]), /has 1 elements/);
  });

  test('computes whole numbers of 64 bits, truths, times and structs', async () => {
    const time = new Date('2026-01-02T03:04:05.678Z');
    const cases: [DataType, string, unknown][] = [
      [new Int64(), '2n ** 60n', 2n ** 60n],
      [new Bool(), 'text === "a"', true],
      [new TimestampMicrosecond(), `new Date(${time.getTime()})`, time.getTime()],
      [new Struct([new Field('x', new Int32(), true)]), '({ x: 7 })', { x: 7 }],
    ];
    for (const [type, expression, expected] of cases) {
      const done = await run({ code: `export default ({ text }) => ${expression};`, type, input: texts(['a']) });
      const [found] = values(done);
      const value = found instanceof StructRow ? found.toJSON() : found;
      assert.deepEqual(value, expected, `${expression}: ${String(errors(done)[0])}`);
    }
  });

  test('gives rows whose columns have any name', async () => {
    const input = new Table({
      __proto__x: vectorFromArray([1], new Int32()),
      'a "b"': vectorFromArray([2], new Int32()),
    });
    const code = 'export default (row) => JSON.stringify(row);';
    assert.deepEqual(values(await run({ code, type: new Utf8(), input })), ['{"__proto__x":1,"a \\"b\\"":2}']);
  });

  test('gives rows as JavaScript has them, whatever Arrow stores', async () => {
    const vector = new FixedSizeList(2, new Field('item', new Float32(), true));
    const list = new List(new Field('item', new Utf8(), true));
    const struct = new Struct([new Field('x', new Int32(), true)]);
    const time = new Date('2026-01-02T03:04:05.678Z');
    const input = new Table({
      whole: vectorFromArray([2n ** 60n], new Int64()),
      vector: vectorFromArray([[0.5, 2]], vector),
      words: vectorFromArray([['a', null]], list),
      place: vectorFromArray([{ x: 7 }], struct),
      time: vectorFromArray([time], new TimestampMillisecond()),
      truth: vectorFromArray([true], new Bool()),
      nothing: vectorFromArray([null], new Int32()),
      bytes: vectorFromArray([Uint8Array.of(1, 2)], new Binary()),
    });
    const code = `export default (row) => [typeof row.whole, row.whole, row.vector.constructor.name, [...row.vector], JSON.stringify(row.words),
      JSON.stringify(row.place), row.time.toISOString(), row.truth, row.nothing, row.bytes.constructor.name, row.bytes.length].join('; ');`;
    const done = await run({ code, type: new Utf8(), input });
    const expected = `bigint; ${2n ** 60n}; Float32Array; 0.5,2; ["a",null]; {"x":7}; ${time.toISOString()}; true; ; Uint8Array; 2`;
    assert.deepEqual(values(done), [expected], String(errors(done)[0]));
  });

  test('takes a vector that another copy of apache-arrow has made, as the bundle of a function has one', async () => {
    const contents = `import { Int32, vectorFromArray } from 'apache-arrow';
      export default (batch) => vectorFromArray([batch.numRows, null], new Int32());`;
    const code = bundleFunction({ contents, folder: tempFolder(), name: 'f' });
    const done = await run({ code, type: new Int32(), input: texts(['a', 'b']), takes: 'batch' });
    assert.deepEqual(
      [values(done), errors(done)],
      [
        [2, null],
        [null, null],
      ],
    );
  });

  test('answers a batch without rows with one without rows', async () => {
    const done = await run({ code: 'export default () => 1;', type: new Int32(), input: texts([]) });
    assert.equal(done.code, 0, done.stderr);
    assert.equal(done.table?.numRows, 0);
  });

  test('ends, and leaves nothing behind, if its results are no longer read', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'f.mjs'), 'setInterval(() => {}, 1000); export default () => 1;');
    const output = encodeOutput('made', new Int32());
    const options = { module: 'f.mjs', takes: 'row', inputs: ['text'], output, onError: { mode: 'null' } } as const;
    const child = spawn(process.execPath, [functionWorkerEntry()], { cwd: folder });
    child.stdin.on('error', () => {});
    child.stdin.write(workerLine(options));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.stdout.destroy();
    child.stdin.write(tableToIPC(texts(['a']), 'stream'));
    assert.equal(await new Promise((resolve) => child.once('exit', resolve)), 4);
  });
});
