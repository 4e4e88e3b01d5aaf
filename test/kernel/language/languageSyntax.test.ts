import { cells } from '../cells.ts';
import { kernelOfSuite } from '../support.ts';

suite('The syntax of cells', function () {
  this.timeout(60_000);
  const notebook = kernelOfSuite();

  cells(
    'has await anywhere at the top level',
    notebook,
    { cell: '(await 3) + 1', value: '4' },
    { cell: 'if (true) { await 1; console.log("in") }', out: 'in\n' },
    { cell: 'const { a = await 2 } = {} as { a?: number }; class B { static x = 1 }; a', value: '2' },
    { cell: '`${await 5}`', value: "'5'" },
    { cell: 'for await (const x of (async function* () { yield 1; yield 2 })()) console.log(x)', out: '1\n2\n' },
    { cell: 'const f = async () => { await 1; return 2 }; await f()', value: '2' },
  );

  cells(
    'disposes of using and await using at the end of the cell, the last first',
    notebook,
    {
      cell: `using first = { [Symbol.dispose]() { console.log('first gone') } };
await using second = { async [Symbol.asyncDispose]() { console.log('second gone') } };
console.log('body');
'value'`,
      out: 'body\nsecond gone\nfirst gone\n',
      value: "'value'",
    },
    { cell: 'typeof first', value: "'object'" },
    {
      cell: `using third = { [Symbol.dispose]() { console.log('third gone') } };\nthrow new Error('thrown')`,
      out: 'third gone\n',
      error: /thrown/,
    },
  );

  cells('knows the library of the newest ECMAScript', notebook, {
    cell: `[[3, 1].toSorted(), [1, 2].findLast((x) => x < 2), typeof Promise.withResolvers, new Set([1]).union(new Set([2])).size]`,
    value: "[ [ 1, 3 ], 1, 'function', 2 ]",
  });

  cells('has standard decorators', notebook, {
    cell: `function log(value: Function, context: ClassMethodDecoratorContext) { console.log(this === undefined, String(context.name)); return value as any }
class Service { @log run() { return 1 } }
new Service().run()`,
    out: 'true run\n',
    value: '1',
  });

  cells(
    'takes JSX, and says what it needs where there is no React',
    notebook,
    { cell: 'const element = <p>hi</p>', error: /Run %install react/ },
    { cell: 'const cast = <number><unknown>3; const id = <T,>(x: T) => x; id(cast)', value: '3' },
  );

  cells(
    'takes a cell of comments, one of nothing, a byte order mark and Windows line ends',
    notebook,
    { cell: '// nothing here' },
    { cell: '/* nor\n here */' },
    { cell: '' },
    { cell: '\uFEFF1 + 1', value: '2' },
    { cell: 'const crlf = 1;\r\nconst more: string = 2', error: /2:7 - Type 'number'/ },
    { cell: `'${'x'.repeat(20_000)}'.length`, value: '20000' },
  );

  cells(
    'refuses return, a second let of the same name, and what is no syntax',
    notebook,
    { cell: 'return 5', error: /^TypeScriptError: 1:1 - A 'return' statement/ },
    { cell: 'let twice = 1; let twice = 2', error: /1:5 - Cannot redeclare block-scoped variable 'twice'/ },
    { cell: 'let 3x', error: /^SyntaxError: / },
  );

  cells(
    'is strict, as that of any module',
    notebook,
    { cell: 'Object.freeze({ a: 1 } as any).a = 2', error: /^TypeError: Cannot assign to read only property/ },
    { cell: 'this === undefined', value: 'true' },
  );

  cells('has names beyond ASCII', notebook, {
    cell: 'const größe = 1, 名前 = "n", $ = 2, _x = 3; [größe, 名前, $, _x]',
    value: "[ 1, 'n', 2, 3 ]",
  });
});
