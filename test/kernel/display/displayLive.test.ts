import assert from 'node:assert/strict';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { arrowStreamMime, type TableOutputMetadata } from '#shared/mime.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { errorOf, printed, resultOf, run, sampleCatalog, startKernel, until } from '../support.ts';

type Shown = Extract<KernelOutput, { type: 'display_data' | 'update_display_data' }>;

const shownOf = (outputs: readonly KernelOutput[]): Shown[] =>
  outputs.filter((output) => output.type === 'display_data' || output.type === 'update_display_data');
const textOf = (shown: Shown | undefined): string => String(shown?.content.data['text/plain']);
const rowsOf = (shown: Shown | undefined) =>
  shown?.content.metadata[arrowStreamMime] as TableOutputMetadata | undefined;

/** Returns code of a generator `batches`, which yields `count` batches of ten rows. */
const source = (count: number) => `
  async function* batches() {
    for (let i = 0; i < ${count}; i++) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      yield arrow.tableFromArrays({ n: Array.from({ length: 10 }, (_, j) => i * 10 + j) }).batches[0];
    }
  }
`;

suite('An output that changes', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;
  suiteSetup(async () => {
    kernel = await startKernel({ catalog: { implementation: 'dir', root: await sampleCatalog() } });
  });
  suiteTeardown(() => kernel.shutdown());

  test('shows record batches as they come, in one place, with the number of rows so far', async () => {
    const { outputs, reply } = await run(kernel, `${source(12)} display(batches());`);
    assert.equal(reply.status, 'ok');
    const shown = shownOf(outputs);
    assert.equal(new Set(shown.map((each) => each.content.displayId)).size, 1);
    assert.deepEqual(
      [...new Set(shown.map((each) => each.type))],
      ['display_data', 'update_display_data'],
      'first shown, then changed',
    );
    assert.match(shown.map(textOf).join('\n'), /\d+ rows in \d+ batch(es)? so far/);
    assert.deepEqual(rowsOf(shown.at(-1)), { total_rows: 120, included_rows: 120 });
  });

  test('keeps the first rows of a stream and counts all of them', async () => {
    const { outputs } = await run(
      kernel,
      `const orders = await db.openTable('orders', ['shop', 'eu']);
       await display(await orders.query().select(['id']).limit(200_000).execute(), { limit: 7 });`,
    );
    assert.deepEqual(rowsOf(shownOf(outputs).at(-1)), { total_rows: 200_000, included_rows: 7 });
  });

  test('fails with what the stream throws, and what had come stays', async () => {
    const { outputs } = await run(
      kernel,
      `${source(2)} async function* broken() { yield* batches(); throw new Error('the line is cut'); } display(broken());`,
    );
    assert.match(errorOf(outputs)?.evalue ?? '', /the line is cut/);
    assert.match(textOf(shownOf(outputs).at(-1)), /20 rows in 2 batches so far/);
  });

  test('reports an item of a stream that is not a record batch', async () => {
    const { outputs } = await run(kernel, `display((async function* () { yield 1; })());`);
    assert.match(
      errorOf(outputs)?.evalue ?? '',
      /record batch as item 0 of the stream, got a value of type number\. Loop over the stream with for await/,
    );
  });

  test('stops reading a stream when its cell is interrupted', async () => {
    const outputs: KernelOutput[] = [];
    const running = kernel.execute(
      `(globalThis as any).left = false;
       async function* endless() {
         try {
           for (;;) {
             await new Promise((resolve) => setTimeout(resolve, 5));
             yield arrow.tableFromArrays({ n: [1] }).batches[0];
           }
         } finally { (globalThis as any).left = true; }
       }
       await display(endless());`,
      (output) => outputs.push(output),
    );
    await until('some rows', () => shownOf(outputs).length > 1);
    await kernel.interrupt();
    assert.equal((await running).status, 'error');
    const after = await run(
      kernel,
      `for (let i = 0; i < 200 && !(globalThis as any).left; i++) await new Promise((r) => setTimeout(r, 20));
       (globalThis as any).left`,
    );
    assert.deepEqual(resultOf(after.outputs), { 'text/plain': 'true' });
  });

  test('is progress over an array, with its share, its speed and what is left', async () => {
    const { outputs } = await run(
      kernel,
      `for (const x of progress([1, 2, 3, 4], { label: 'rows' })) await new Promise((r) => setTimeout(r, 120));`,
    );
    const shown = shownOf(outputs);
    assert.equal(new Set(shown.map((each) => each.content.displayId)).size, 1);
    assert.match(textOf(shown[1]), /^rows: 1 of 4 \(25 %\) · \S+ s · [\d.]+\/s · \S+ s left$/);
    assert.match(textOf(shown.at(-1)), /^rows: 4 of 4 \(100 %\) · \S+ s · [\d.]+\/s$/);
    assert.match(String(shown.at(-1)?.content.data['text/html']), /<progress value="1" max="1">/);
  });

  test('is progress that moves in a loop which never waits, and at most ten times a second', async () => {
    const { outputs } = await run(
      kernel,
      `const begin = performance.now();
       let rounds = 0;
       for (const x of progress((function* () { while (performance.now() - begin < 700) yield 1; })())) rounds++;
       const took = performance.now() - begin;`,
    );
    const took = Number(resultOf((await run(kernel, 'took')).outputs)?.['text/plain']);
    const changes = shownOf(outputs).length;
    assert.ok(changes >= 3, `${changes} changes`);
    // Allow three more than one change per 100 ms, for example at the start and at the end.
    assert.ok(changes <= took / 100 + 3, `${changes} changes in ${took} ms`);
    const rounds = Number(resultOf((await run(kernel, 'rounds')).outputs)?.['text/plain']);
    assert.ok(textOf(shownOf(outputs).at(-1)).startsWith(`${rounds.toLocaleString('en-US')} · `));
  });

  test('is progress over batches of rows, which counts rows', async () => {
    const { outputs } = await run(
      kernel,
      `let seen = 0;
       for await (const batch of progress((await db.openTable('products', ['shop'])).query())) seen += batch.numRows;
       seen`,
    );
    assert.deepEqual(resultOf(outputs), { 'text/plain': '500' });
    assert.match(textOf(shownOf(outputs).at(-1)), /^500 rows · [\d.]+ s · [\d,.]+ rows\/s$/);
  });

  for (const [how, body, ename] of [
    ['is left', 'if (x === 3) break;', undefined],
    ['throws', `if (x === 3) throw new TypeError('no');`, 'TypeError'],
  ] as const) {
    test(`is progress that says where it stopped when the loop ${how}`, async () => {
      const { outputs } = await run(kernel, `for (const x of progress([1, 2, 3, 4])) { ${body} }`);
      assert.equal(errorOf(outputs)?.ename, ename);
      assert.match(textOf(shownOf(outputs).at(-1)), /^stopped at 2 of 4 \(50 %\)/);
    });
  }

  test('is progress that says so when its cell is interrupted', async () => {
    const outputs: KernelOutput[] = [];
    const running = kernel.execute(`for (const x of progress([1, 2])) { while (true) {} }`, (output) =>
      outputs.push(output),
    );
    await until('the first state', () => shownOf(outputs).length > 0);
    await kernel.interrupt();
    assert.equal((await running).status, 'error');
    await until('the last state', () => textOf(shownOf(outputs).at(-1)).startsWith('stopped at 0 of 2'));
  });

  test('keeps its place from a timer after its cell is done, while other cells run', async () => {
    const late: KernelOutput[] = [];
    const listening = kernel.onOrphanOutput((output) => {
      // Ignore other ids, because outputs of earlier, interrupted cells may still arrive.
      if (shownOf([output])[0]?.content.displayId === 'clock') late.push(output);
    });
    const { outputs } = await run(
      kernel,
      `display('early', { id: 'clock' }); setTimeout(() => display('late', { id: 'clock' }), 100);`,
    );
    await run(kernel, '1');
    await until('the late state', () => shownOf(late).length === 1);
    listening.dispose();
    assert.deepEqual(
      shownOf([...outputs, ...late]).map((each) => [each.type, textOf(each), each.content.displayId]),
      [
        ['display_data', "'early'", 'clock'],
        ['update_display_data', "'late'", 'clock'],
      ],
    );
  });

  test('is shown again when its cell runs again', async () => {
    const code = `display('again', { id: 'same' })`;
    for (const time of ['first', 'second']) {
      const { outputs } = await run(kernel, code);
      assert.deepEqual(
        shownOf(outputs).map((each) => each.type),
        ['display_data'],
        time,
      );
    }
  });
});

const round = (i: number): string => `stdout out ${i}\nstderr err ${i}\nshown ${i}\nstdout partial ${i}\n`;

suite('The console of a cell', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;
  suiteSetup(async () => {
    kernel = await startKernel();
  });
  suiteTeardown(() => kernel.shutdown());

  test('has its groups, tables, counts and assertions as in Node', async () => {
    const { outputs } = await run(
      kernel,
      `console.group('outer');
       console.log('in\\nside');
       console.group();
       console.table([{ id: 1, name: 'mug' }, { id: 20, name: 'ü' }]);
       console.groupEnd();
       console.groupEnd();
       console.count('n'); console.count('n'); console.countReset('n'); console.count('n');
       console.dir({ a: { b: { c: {} } } }, { depth: 0 });
       console.assert(true, 'unseen');`,
    );
    assert.deepEqual(printed(outputs).split('\n'), [
      'outer',
      '  in',
      '  side',
      '    ┌─────────┬────┬───────┐',
      '    │ (index) │ id │ name  │',
      '    ├─────────┼────┼───────┤',
      `    │ 0       │ 1  │ 'mug' │`,
      `    │ 1       │ 20 │ 'ü'   │`,
      '    └─────────┴────┴───────┘',
      'n: 1',
      'n: 2',
      'n: 1',
      '{ a: [Object] }',
      '',
    ]);
  });

  test('keeps the order of its two streams and of what is shown between', async () => {
    const { outputs } = await run(
      kernel,
      `for (let i = 0; i < 50; i++) {
         console.log('out', i);
         console.error('err', i);
         display(i);
         process.stdout.write('part');
         process.stdout.write('ial ' + i + '\\n');
       }`,
    );
    const lines = outputs
      .filter((output) => output.type === 'stream' || output.type === 'display_data')
      .map((output) =>
        output.type === 'stream'
          ? `${output.content.name} ${output.content.text}`
          : `shown ${String(output.content.data['text/plain'])}\n`,
      )
      .join('');
    // Consecutive texts of one stream are joined to one message.
    const expected = Array.from({ length: 50 }, (_, i) => round(i))
      .join('')
      .replaceAll(/(partial \d+\n)stdout /g, '$1');
    assert.equal(lines, expected);
  });

  test('measures, warns and asserts to the right streams', async () => {
    const { outputs } = await run(
      kernel,
      `console.time('t'); console.timeLog('t', 'half'); console.timeEnd('t');
       console.warn('careful'); console.assert(1 > 2, 'wrong %d', 7); console.error('%s!', 'bad'); console.debug('quiet');`,
    );
    assert.match(printed(outputs), /^t: [\d.]+m?s half\nt: [\d.]+m?s\nquiet\n$/);
    assert.equal(printed(outputs, 'stderr'), 'careful\nAssertion failed: wrong 7\nbad!\n');
  });

  test('says where it was traced', async () => {
    const { outputs } = await run(kernel, `function inner() { console.trace('here'); }\ninner();`);
    assert.match(printed(outputs, 'stderr'), /^Trace: here\n\s+at inner .*:1:\d+/);
  });

  test('takes text in the encodings that Node takes', async () => {
    const { outputs } = await run(
      kernel,
      `process.stdout.write('6869', 'hex'); process.stdout.write(new Uint8Array([0xc3])); process.stdout.write(new Uint8Array([0xbc]));`,
    );
    assert.equal(printed(outputs), 'hiü');
  });
});
