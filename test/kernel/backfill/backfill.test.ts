import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { jobOutputMime, readJobOutput } from '#shared/jobs/jobOutput.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { tempFolder } from '../../harness/temp.ts';
import { errorOf, resultOf, run, startKernel, until, valueOf } from '../support.ts';

type Shown = Extract<KernelOutput, { type: 'display_data' | 'update_display_data' }>;

const shownOf = (outputs: readonly KernelOutput[]): Shown[] =>
  outputs.filter((output) => output.type === 'display_data' || output.type === 'update_display_data');
const textOf = (shown: Shown | undefined): string => String(shown?.content.data['text/plain']);
const lastText = (outputs: readonly KernelOutput[]): string => textOf(shownOf(outputs).at(-1));

const rows = 400;

/** A function that takes 200 ms for each row, so that the test can act before the job ends. */
const slow = `import { udf } from 'lance-catalog';
export default udf({ name: 'slow', input: ['id'], output: 'int32' }, async ({ id }) => {
  await new Promise((resolve) => setTimeout(resolve, 200));
  return Number(id);
});`;
const words = `import { udf } from 'lance-catalog';
export default udf({ name: 'words', input: ['caption'], output: 'int32' }, ({ caption }) => caption.split(' ').length);`;

suite('Backfills in a notebook', function () {
  this.timeout(180_000);
  const folder = tempFolder();
  const questions: string[] = [];
  let answer: string | null = 'n';
  let kernel: KernelProcess;

  const start = (state: string): Promise<KernelProcess> =>
    startKernel({
      cwd: folder,
      catalog: { implementation: 'dir', root: join(folder, 'data') },
      env: { XDG_DATA_HOME: join(folder, state) },
      ask: async ({ prompt }) => {
        questions.push(prompt);
        return answer;
      },
    });

  suiteSetup(async () => {
    for (const name of ['data', 'state', 'other']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'slow.ts'), slow);
    writeFileSync(join(folder, 'words.ts'), words);
    kernel = await start('state');
    const { outputs } = await run(
      kernel,
      `await db.createTable('products', Array.from({ length: ${rows} }, (_, id) => ({ id, caption: 'a mug ' + id })));
const table = await db.openTable('products');`,
    );
    assert.equal(errorOf(outputs), undefined);
  });
  suiteTeardown(() => kernel.shutdown());

  test('are planned without changing the table', async () => {
    const { outputs } = await run(kernel, "await table.planBackfill('size', { function: { sql: 'length(caption)' } })");
    assert.equal(errorOf(outputs), undefined, errorOf(outputs)?.evalue);
    assert.match(String(resultOf(outputs)?.['text/plain']), /^Backfill of size\n[^]*rows +400 rows of 400 to compute/);
    assert.match(String(resultOf(outputs)?.['text/html']), /<td[^>]*>rows<\/td>/);
    assert.equal(await valueOf(kernel, '(await table.schema()).names.join()'), "'id,caption'");
  });

  test('know their options, and refuse others by name', async () => {
    const { outputs } = await run(kernel, "await table.backfill('id', { wher: 'id < 10' } as object)");
    assert.match(errorOf(outputs)?.evalue ?? '', /^backfill has no option "wher"\. Known options: /);
  });

  test('say how a cell gives the function that they lack, at their line of it and at none of ours', async () => {
    for (const call of ['backfill', 'planBackfill', 'tryBackfill']) {
      const { outputs } = await run(kernel, `1;\nawait table.${call}('none')`);
      const { evalue, traceback } = errorOf(outputs) ?? {};
      assert.match(
        evalue ?? '',
        / set its function: \{ function: udf\(\{ … \}, \(row\) => …\) \}, \{ function: \{ sql/,
      );
      assert.match(traceback?.join('\n') ?? '', /^JobError: [^\n]*\n(?: {4}at (?:async )?\[\d+\]:2:\d+\n?)+$/);
    }
  });

  test('are tried on one fragment, and give its rows before and after', async () => {
    const code = "const trial = await table.tryBackfill('words', { function: { file: './words.ts' } });";
    const { outputs } = await run(kernel, code);
    assert.equal(errorOf(outputs), undefined, errorOf(outputs)?.evalue);
    assert.equal(await valueOf(kernel, "trial.after.getChild('words').get(0)"), '3');
    assert.equal(await valueOf(kernel, '(await table.schema()).names.join()'), "'id,caption'");
  });

  test('show one output that fills in, and give what was done', async () => {
    const code = "const done = await table.backfill('words', { function: { file: './words.ts' } });\ndone.rows";
    const { outputs } = await run(kernel, code);
    assert.equal(errorOf(outputs), undefined, errorOf(outputs)?.evalue);
    assert.equal(String(resultOf(outputs)?.['text/plain']), String(rows));
    const shown = shownOf(outputs);
    assert.equal(new Set(shown.map(({ content }) => content.displayId)).size, 1);
    assert.match(textOf(shown.at(-1)), /^products\.words: 400 rows in .*\nJob bf-/);
    assert.match(String(shown.at(-1)?.content.data['text/html']), /<progress value="1\.0000" max="1">/);
    const job = readJobOutput(shown.at(-1)?.content.data[jobOutputMime]);
    assert.deepEqual([job?.state, job?.rows.done, job?.column], ['succeeded', rows, 'words']);
    assert.equal(Object.keys(shown.at(-1)?.content.data ?? {})[0], jobOutputMime, 'the richest form goes first');
    assert.equal(await valueOf(kernel, "await table.countRows('words = 3')"), String(rows));
  });

  test('take a function of the cell, and keep it on the column', async () => {
    const define =
      "const shout = udf({ name: 'shout', input: ['caption'], output: 'string' }, ({ caption }) => caption.toUpperCase());";
    const { outputs } = await run(kernel, `${define}\nawait table.backfill('shout', { function: shout });`);
    assert.equal(errorOf(outputs), undefined, errorOf(outputs)?.evalue);
    assert.equal(await valueOf(kernel, "await table.countRows('shout = upper(caption)')"), String(rows));
    assert.equal(await valueOf(kernel, "(await table.planBackfill('shout')).function.name"), "'shout'");
  });

  test('need no function the next time', async () => {
    assert.equal(await valueOf(kernel, "(await table.backfill('words', { where: 'id < 10' })).rows"), '10');
  });

  test('go on when their cell is interrupted, and are joined by running it again', async () => {
    const code = "await table.backfill('slow', { function: { file: './slow.ts' }, checkpointSize: 16 })";
    const outputs: KernelOutput[] = [];
    const running = kernel.execute(code, (output) => outputs.push(output));
    await until('the job to run', () => /running/.test(lastText(outputs)));
    await kernel.interrupt();
    await running;
    assert.match(lastText(outputs), /continues without this cell/);
    const [id = ''] = /bf-[0-9a-z]+/.exec(lastText(outputs)) ?? [];
    const again = await run(kernel, code);
    assert.equal(errorOf(again.outputs), undefined, errorOf(again.outputs)?.evalue);
    assert.ok(lastText(again.outputs).includes(id), lastText(again.outputs));
    assert.equal(await valueOf(kernel, "await table.countRows('slow = id')"), String(rows));
  });

  test('go on while other cells run, tell how far they are, and are cancelled', async () => {
    const late: KernelOutput[] = [];
    kernel.onOrphanOutput((output) => late.push(output));
    const begun = await run(kernel, "const job = table.backfill('slow', { where: 'id >= 0' });\nawait job.id");
    assert.match(String(resultOf(begun.outputs)?.['text/plain']), /bf-/);
    assert.equal(await valueOf(kernel, "['starting', 'queued', 'running'].includes((await job.view()).state)"), 'true');
    const { outputs } = await run(kernel, 'await job.cancel();\nawait job');
    assert.match(String(errorOf(outputs)?.evalue), /was cancelled/);
  });

  test('say what is wrong with what they were given', async () => {
    for (const [code, said] of [
      ["await table.backfill('x', { function: { shell: 'rm' } as never })", /is not a valid column function/],
      ["await table.backfill('x')", /no column "x".* set its function/],
      ["await table.backfill('shout', { where: 'idd < 3' })", /has no column "idd"/],
      ["await table.backfill('shout', { runner: 'foo' as never })", /no runner "foo"\. Use auto, local, local-python/],
      ["await (await db.openTable('products', { version: 1 })).backfill('words')", /opened at a version/],
    ] as const) {
      const { outputs } = await run(kernel, code);
      assert.match(String(errorOf(outputs)?.evalue), said);
    }
  });

  test('ask before a function that somebody put on the table runs, and not again', async () => {
    const stranger = await start('other');
    try {
      const code = "(await (await db.openTable('products')).backfill('words', { where: 'id < 5' })).rows";
      const refused = await run(stranger, code);
      assert.match(String(errorOf(refused.outputs)?.evalue), /is not accepted.*allowStoredCode: \['[0-9a-f]{64}'\]/);
      const shown = refused.outputs.map((output) => (output.type === 'display_data' ? output.content.data : {}));
      assert.ok(shown.some((data) => /caption\.split[^]*does not run/.test(String(data['text/plain']))));
      assert.ok(shown.some((data) => /^<pre[^]*caption\.split/.test(String(data['text/html']))));
      assert.match(String(questions.at(-1)), /^Run the function shown in the output.*\[y\/N\] $/);
      answer = 'y';
      assert.equal(await valueOf(stranger, code), '5');
      const asked = questions.length;
      assert.equal(await valueOf(stranger, code), '5');
      assert.equal(questions.length, asked);
    } finally {
      await stranger.shutdown();
    }
  });
});
