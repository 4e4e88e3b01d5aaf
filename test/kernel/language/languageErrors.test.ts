import assert from 'node:assert/strict';
import { cells } from '../cells.ts';
import { errorOf, kernelOfSuite, run, startKernel } from '../support.ts';

suite('An error in a cell', function () {
  this.timeout(60_000);
  const notebook = kernelOfSuite();

  test('of a type names cell, line and column, and shows the line with a caret below', async () => {
    const { outputs } = await run(notebook(), 'const fine = 1;\n\tconst wrong: string = fine;');
    const error = errorOf(outputs);
    const count = /\[(\d+)\]/.exec(error?.traceback[0] ?? '')?.[1];
    assert.deepEqual(error, {
      ename: 'TypeScriptError',
      evalue: "2:8 - Type 'number' is not assignable to type 'string'.",
      traceback: [
        `[${count}]:2:8 - error TS2322: Type 'number' is not assignable to type 'string'.`,
        '2 | \tconst wrong: string = fine;',
        '    \t      ^^^^^',
      ],
    });
  });

  test('is followed by the others, as far as a person reads', async () => {
    const { outputs } = await run(notebook(), Array.from({ length: 30 }, (_, i) => `missing${i};`).join('\n'));
    const error = errorOf(outputs);
    assert.equal(error?.evalue.split('\n').length, 11);
    assert.match(error?.evalue ?? '', /1:1 - Cannot find name 'missing0'[^]*10:1[^]*… and 20 more\.$/);
  });

  cells(
    'of a command as Jupyter has them says how one is written',
    notebook,
    { cell: '!lscpu', error: /Cannot find name 'lscpu'\. To run a shell command, write %sh lscpu\.$/ },
    { cell: '1;\n  !npm install "x y" --save', error: / To run a shell command, write %sh npm\.$/m },
    { cell: '!missing && run()', error: /Cannot find name 'missing'\.$/m },
  );

  cells('on a very long line shows the part that matters', notebook, {
    cell: `const long = '${'x'.repeat(5000)}'; const bad: number = ''; '${'y'.repeat(5000)}'`,
    error: /Type 'string' is not assignable/,
    trace: /^(?!.*x{200})[^]*bad: number[^]*\n *\^\^\^$/,
  });

  cells(
    'is as long as a person reads it, whatever message it has, its end included',
    notebook,
    {
      cell: "const body = '😀'.repeat(1_000_000); const fail = () => { throw new Error(body + ' Try again.') }; fail()",
      error: /^Error: (?:😀)+… 1,990,011 more characters …(?:😀)+ Try again\.$/u,
      trace: /^[^\n]{9000,11000}\n {4}at fail \(\[\d+\]:1:\d+\)\n {4}at \[\d+\]:1:\d+$/,
    },
    { cell: 'throw new Error("short", { cause: new Error(body) })', error: /short/, trace: /^[^]{9000,12000}$/ },
    { cell: 'throw body', error: /^Error: (?:😀)+… 1,990,000 more characters …/u },
  );

  cells('has its place, also in a part of the cell that stands above a magic', notebook, {
    cell: "const failing = () => { throw new RangeError('far') };\n%time 'a longer line than the one above it, for its columns'.length\n\nfailing()",
    out: /^CPU times/,
    error: /^RangeError: far$/,
    trace: /^RangeError: far\n {4}at failing \(\[\d+\]:1:31\)\n {4}at \[\d+\]:4:1$/,
  });

  cells(
    'that comes from where no code of a cell is has the place that waited for it',
    notebook,
    { cell: "const lost = () => Promise.reject(Object.assign(new Error('lost'), { stack: 'Error: lost' }))" },
    {
      cell: 'const given = await Promise.resolve((value: unknown) => value);\n\n  given(await Promise.all([1, await lost()]))',
      error: /^Error: lost$/,
      trace: /^Error: lost\n {4}at \[\d+\]:3:31$/,
    },
    {
      cell: '1;\nconst all = await Promise.all([1, lost()])',
      error: /lost/,
      trace: /^Error: lost\n {4}at \[\d+\]:2:13$/,
    },
    {
      cell: 'await 1;\nthrow await lost().catch((reason) => reason)',
      error: /lost/,
      trace: /^Error: lost$/,
    },
    {
      cell: 'await 1;\n  for await (const n of [1, lost()]) n;',
      error: /lost/,
      trace: /^Error: lost\n {4}at \[\d+\]:2:3$/,
    },
    {
      cell: "await db.openTable('orders')",
      error: /No catalog is chosen/,
      trace: /^CatalogError: [^\n]*\n +at (?:async )?\[\d+\]:1:\d+$/,
    },
  );

  cells('that is thrown has the lines of the cells it came through', notebook, {
    cell: 'function outer() { return inner() }\nfunction inner(): number {\n  return JSON.parse("{bad")\n}\nouter()',
    error: /^SyntaxError: Expected property name/,
    trace: /\n +at inner \(\[\d+\]:3:15\)\n +at outer \(\[\d+\]:1:27\)\n +at \[\d+\]:5:1$/,
  });

  cells(
    'in a function of an earlier cell names that cell',
    notebook,
    { cell: 'const fails = () => {\n  throw new RangeError("too far", { cause: new Error("the root") })\n}' },
    {
      cell: '\nfails()',
      error: /^RangeError: too far$/,
      trace:
        /^RangeError: too far\n +at fails \(\[(\d+)\]:2:9\)\n +at \[\d+\]:2:1\nCaused by Error: the root\n +at fails \(\[\1\]:2:/,
    },
  );

  cells('names variables as they are written', notebook, {
    cell: 'const callee: any = 3; callee()',
    error: /^TypeError: callee is not a function$/,
  });

  cells('made of several shows each of them', notebook, {
    cell: 'throw new AggregateError([new Error("a"), new TypeError("b")], "both")',
    error: /^AggregateError: both$/,
    trace: /one of them: Error: a\n +one of them: TypeError: b/,
  });

  cells('has its lines in error.stack too, for who prints it', notebook, {
    cell: '\nconsole.log(new Error("shown").stack)',
    out: /^Error: shown\n {4}at \[\d+\]:2:13\n$/,
  });

  cells('of a trace is headed by what was traced', notebook, { cell: 'console.trace("here")', err: /^Trace: here\n/ });

  test('is not worse for a stack that code has put something else in', async () => {
    for (const thrown of ['Object.assign(new Error("odd"), { stack: 3 })', '{ message: "plain", stack: "no stack" }']) {
      const { reply } = await run(notebook(), `throw ${thrown}`);
      assert.equal(reply.status, 'error', thrown);
    }
  });
});

suite('The type check of cells', function () {
  this.timeout(60_000);
  const wrong = 'const text: string = 3;\ntext as unknown';

  test('set to warn prints what is wrong and runs the cell', async () => {
    const kernel = await startKernel({ typeCheck: 'warn' });
    try {
      const { outputs } = await run(kernel, wrong);
      assert.deepEqual(
        outputs.flatMap((output) => (output.type === 'stream' ? [output.content.name] : [])),
        ['stderr'],
      );
      assert.match(JSON.stringify(outputs), /\[1\]:1:7 - error TS2322[^]*"text\/plain":"3"/);
    } finally {
      await kernel.shutdown();
    }
  });

  test('set to off says nothing of types, and still of syntax', async () => {
    const kernel = await startKernel({ typeCheck: 'off' });
    try {
      const { outputs } = await run(kernel, wrong);
      assert.deepEqual(
        outputs.map(({ type }) => type).filter((type) => type !== 'status'),
        ['execute_input', 'execute_result'],
      );
      assert.equal(errorOf((await run(kernel, 'let 3x')).outputs)?.ename, 'SyntaxError');
      assert.equal(errorOf((await run(kernel, 'text.length; nowhere')).outputs)?.ename, 'ReferenceError');
    } finally {
      await kernel.shutdown();
    }
  });
});
