import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { magicNames, usagesOf } from '#session/magics/magicNames.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cells } from '../cells.ts';
import { printed, run, startKernel, until } from '../support.ts';

suite('Magics', function () {
  this.timeout(60_000);
  const folder = realpathSync(tempFolder());
  let kernel: KernelProcess;
  let answer: string | null = null;
  suiteSetup(async () => {
    const env = { MAGIC_PLAIN: 'shown', MAGIC_API_KEY: 'not-to-be-seen' };
    kernel = await startKernel({ cwd: folder, env, ask: async () => answer });
  });
  suiteTeardown(() => kernel.shutdown());
  const notebook = () => kernel;

  cells(
    '%help lists all magics, and says how one is written',
    notebook,
    { cell: '%help', out: /%time code, %%time +Run code[^]*%reset \[-f\] +Delete/ },
    // Every line fits into an output of usual width, the text is short enough not to be folded, and no sentence is cut.
    { cell: '%help', out: /^(?:.{0,100}\n){20,30}$/ },
    {
      cell: '%help',
      out: /%env \[NAME[^\n]*\n +List, show,[^]* --ask prompts\s+for a value that the notebook must not contain\.\n%cd/,
    },
    { cell: '%help timeit', out: /^%timeit \[-n loops\] \[-r runs\] code\n%%timeit/ },
    { cell: '%help tmie', error: /^MagicError: %help: There is no magic %tmie\. Did you mean %time\?$/ },
  );

  cells(
    'that do not exist are refused with the nearest name, and code behind them does not run',
    notebook,
    {
      cell: '%tiem f()\nconsole.log("ran")',
      error: /^MagicError: %tiem: There is no magic %tiem\. Did you mean %time\?$/,
    },
    { cell: '%zzzzzz', error: /Run %help for a list\./ },
    { cell: '%%pwd', error: /^MagicError: %%pwd: Use %pwd\.$/ },
    { cell: 'const a0 = 1\n%%time\na0', error: /%%time: It must be on the first line/ },
  );

  cells(
    'stand among code, which runs around them in order',
    notebook,
    { cell: 'let step = 1\nconsole.log(step)\n%who\nstep = 2;\nstep', out: /^1\n(?:.*\n)*step +number\n/, value: '2' },
    { cell: 'const wrong = 1\n%pwd\n  nope()', out: /^.+\n$/, error: /3:3 - Cannot find name 'nope'/ },
  );

  cells(
    'are none within code that goes on, nor where a remainder is meant',
    notebook,
    { cell: 'let time = 7, pw = 4\nconst text = `\n%time\n`; text', value: "'\\n%time\\n'" },
    { cell: 'const rest = (time\n%pwd)', error: /Cannot find name 'pwd'/ },
    { cell: 'const remainder = time\n%pw\nremainder', value: '3' },
  );

  cells(
    '%time runs code once, keeps what it declares, and shows its value',
    notebook,
    { cell: '%time let timed = await Promise.resolve(20) + 1', out: /^CPU times: user .*, total .*\nWall time: .*\n$/ },
    { cell: '%time timed * 2', out: /Wall time: [\d.]+ (?:ns|µs|ms|s)\n$/, value: '42' },
    { cell: '%time [\n  timed,\n  2,\n]\ntimed', out: /Wall/, value: '21' },
    { cell: '%%time\nlet a1 = 1\na1 + 1', out: /Wall/, value: '2' },
    { cell: '%time timed.nope', error: /1:13 - Property 'nope'/ },
    { cell: '\n%time null!', out: /Wall/ },
    { cell: '%time throw new RangeError("late")', out: /Wall/, error: /^RangeError: late$/, trace: /\[\d+\]:1:13/ },
    { cell: '%time', error: /%time: There is no code: write it after %time/ },
  );

  cells(
    '%timeit runs code many times and says how long one takes',
    notebook,
    { cell: 'let calls = 0; const call = () => { calls++ }' },
    {
      cell: '%timeit -n 10 -r 3 call()',
      out: /^[\d.]+ (?:ns|µs|ms) ± .* per loop, best .* \(mean ± std\. dev\. of 3 runs, 10 loops each\)\n$/,
    },
    { cell: 'calls', value: '31' },
    { cell: '%timeit -r 1 Math.sqrt(2)', out: /of 1 run, 1[0,]+ loops each/ },
    { cell: '%%timeit -n 2 -r 2\nconst inner = await Promise.resolve(1)\ncall()', out: /of 2 runs, 2 loops each/ },
    { cell: 'inner', error: /Cannot find name 'inner'/ },
    { cell: '%timeit nope()', error: /1:9 - Cannot find name 'nope'/ },
    { cell: '%%timeit\nnope()', error: /2:1 - Cannot find name 'nope'/ },
    { cell: '%timeit -x 3 call()', error: /%timeit: Unknown option -x\./ },
    { cell: '%timeit -n many call()', error: /%timeit: Expected a number after -n, for example %timeit -n 100/ },
  );

  test('%timeit ends when it is interrupted, and so does what it loops over', async () => {
    await run(kernel, 'let rounds = 0');
    const outputs: string[] = [];
    const running = kernel.execute(
      'console.log("begun")\n%timeit rounds++; await new Promise((done) => setTimeout(done, 1))',
      (output) => {
        if (output.type === 'stream') outputs.push(output.content.text);
      },
    );
    await until('the loop to begin', () => outputs.length > 0);
    await kernel.interrupt();
    assert.equal((await running).status, 'error');
    const before = await valueAfterAWhile();
    assert.equal(await valueAfterAWhile(), before);
  });

  async function valueAfterAWhile(): Promise<string> {
    return printed(
      (await run(kernel, 'await new Promise((done) => setTimeout(done, 30)); console.log(rounds)')).outputs,
    );
  }

  cells(
    '%who and %whos list the variables that cells made',
    notebook,
    { cell: '%reset -f', out: 'All variables are deleted.\n' },
    { cell: '%who', out: 'The notebook has no variables yet.\n' },
    { cell: 'const list = [1, 2]; let word = "text"; import { join } from "node:path"' },
    { cell: '%who', out: /^join +function\nlist +Array\nword +string\n$/ },
    {
      cell: '%whos',
      out: /^Name +Type +Size +Value\n----.*\n.*\nlist +Array +2 elements +\[ 1, 2 \]\nword +string +4 characters +"text"\n$/,
    },
  );

  cells(
    '%reset -f forgets variables and their types, and keeps what is preloaded',
    notebook,
    { cell: 'const gone = 1; const db = 5' },
    { cell: '%reset -f', out: 'All variables are deleted.\n' },
    { cell: 'gone', error: /Cannot find name 'gone'/ },
    { cell: 'typeof db.listTables', value: "'function'" },
    { cell: '%reset now', error: /%reset: Write %reset, or %reset -f/ },
  );

  test('%reset asks, and keeps everything unless the answer is yes', async () => {
    await run(kernel, 'let precious = 1');
    assert.match(await answered('%reset', 'n'), /All variables are kept/);
    assert.equal(printed((await run(kernel, 'console.log(precious)')).outputs), '1\n');
    assert.match(await answered('%reset', 'yes'), /All variables are deleted/);
    assert.equal((await run(kernel, 'precious')).reply.status, 'error');
  });

  cells('%reset without an answer is refused, and says what to write', notebook, {
    cell: '%reset',
    error: /^MagicError: %reset: .*Use %reset -f to skip it\.$/,
  });

  /** Returns the output of a cell that prompts once. */
  async function answered(cell: string, value: string): Promise<string> {
    answer = value;
    const { outputs } = await run(kernel, cell);
    answer = null;
    return printed(outputs);
  }

  cells(
    '%env lists, shows, sets and unsets variables, and shows no secret',
    notebook,
    { cell: '%env MAGIC_PLAIN', out: 'MAGIC_PLAIN=shown\n' },
    { cell: '%env =3', error: /%env: "=3" is not a valid name of an environment variable/ },
    { cell: '%env', out: /^(?=[^]*MAGIC_PLAIN=shown\n)(?=[^]*MAGIC_API_KEY=•+ )(?![^]*not-to-be-seen)/ },
    { cell: '%env MAGIC_API_KEY', out: /^MAGIC_API_KEY=•+ \(hidden/ },
    { cell: '%env MAGIC_URL=postgres://me:word@host/a b' },
    { cell: '%env MAGIC_URL', out: /^MAGIC_URL=•+ / },
    { cell: 'process.env.MAGIC_URL', value: "'postgres://me:word@host/a b'" },
    { cell: '%env -u MAGIC_URL' },
    { cell: 'process.env.MAGIC_URL' },
    { cell: '%env MAGIC_URL', error: /%env: The environment variable MAGIC_URL is not set/ },
    { cell: '%env a b', error: /%env: Write %env, %env NAME/ },
  );

  test('%env --ask takes a value that the notebook does not see', async () => {
    assert.equal(await answered('%env --ask MAGIC_SECRET', 'hush'), '');
    assert.equal(printed((await run(kernel, 'console.log(process.env.MAGIC_SECRET)')).outputs), 'hush\n');
  });

  cells(
    '%cd goes elsewhere, cells import from there, and %cd - goes back',
    notebook,
    {
      cell: `import { mkdirSync, writeFileSync } from 'node:fs'; mkdirSync('a sub'); writeFileSync('a sub/near.ts', 'export const near: number = 12')`,
    },
    { cell: '%cd a sub', out: `${join(folder, 'a sub')}\n` },
    { cell: 'import { near } from "./near.ts"; near + 1', value: '13' },
    { cell: '%cd ..', out: `${folder}\n` },
    { cell: '%cd -', out: `${join(folder, 'a sub')}\n` },
    { cell: '%cd "../a sub/.."', out: `${folder}\n` },
    {
      cell: '%cd nowhere',
      error: /%cd: Can't change to ".*nowhere": it does not exist/,
      trace: /^MagicError: %cd: Can't [^\n]*$/,
    },
    { cell: '%cd "a sub/near.ts"', error: /near\.ts": it is a file/ },
    { cell: '%pwd', out: `${folder}\n` },
  );

  cells(
    '%pwd says when the folder is gone, and %cd leaves it',
    notebook,
    { cell: 'mkdirSync("gone"); process.chdir("gone"); import { rmdirSync } from "node:fs"; rmdirSync("../gone")' },
    { cell: '%pwd', error: /%pwd: The working directory was deleted\. Change to another folder with %cd/ },
    { cell: `%cd ${folder}`, out: `${folder}\n` },
  );

  cells(
    '%check sets what a type error does',
    notebook,
    { cell: '%check', out: /^error: / },
    { cell: '%check off', out: /^off: / },
    { cell: 'const loose: string = 3; loose', value: '3' },
    { cell: '%check warn', out: /^warn: / },
    { cell: 'const warned: string = 4; warned', value: '4', err: /Type 'number' is not assignable/ },
    { cell: '%check error', out: /^error: / },
    { cell: 'const strict: string = 5', error: /Type 'number'/ },
    { cell: '%check strict', error: /%check: Expected error, warn or off, got "strict"/ },
  );

  test('%save writes cells to a file of TypeScript, and replaces none unasked', async () => {
    const into = join(folder, 'saved');
    mkdirSync(into);
    const count = async (cell: string): Promise<number> => {
      const { reply } = await run(kernel, cell);
      assert.ok('executionCount' in reply);
      return reply.executionCount;
    };
    const first = await count('const kept = 1;');
    await count('const left = 2;');
    const third = await count('%time kept\nkept + 1;');
    const file = join(into, 'cells.ts');
    await run(kernel, 'const umask = process.umask(0o002);');
    const { outputs } = await run(kernel, `%save ${join(into, 'cells')} ${first},${third}-${third}`);
    assert.equal(printed(outputs), `2 cells are saved in ${file}\n`);
    assert.equal(
      readFileSync(file, 'utf8'),
      `// [${first}]\nconst kept = 1;\n\n// [${third}]\n// %time kept\nkept + 1;\n`,
    );
    assert.equal(statSync(file).mode & 0o777, 0o644);
    await run(kernel, 'process.umask(umask);');
    writeFileSync(file, 'mine');
    const again = await run(kernel, `%save ${file} ${first}`);
    assert.match(
      'evalue' in again.reply ? again.reply.evalue : '',
      /^%save: The file ".*" already exists\. Use %save -f to replace it/,
    );
    assert.equal(readFileSync(file, 'utf8'), 'mine');
    await run(kernel, `%save -f ${file} ${first}`);
    assert.equal(readFileSync(file, 'utf8'), `// [${first}]\nconst kept = 1;\n`);
    await run(kernel, `%save ${join(into, 'all.ts')}`);
    assert.match(readFileSync(join(into, 'all.ts'), 'utf8'), /const left = 2;/);
    assert.deepEqual(readdirSync(into).toSorted(), ['all.ts', 'cells.ts']);
  });

  cells(
    '%save says what is wrong with its cells',
    notebook,
    { cell: '%save', error: /%save: Name the file/ },
    { cell: '%save /', error: /%save: "\/" is a folder\. Name a file in it, for example %save \/cells\.ts/ },
    { cell: `%save ${tmpdir()}`, error: /" is a folder\. Name a file in it/ },
    { cell: '%save /dev/null/it.ts', error: /%save: The folder "\/dev\/null" does not exist\. Create it/ },
    {
      cell: '%save /proc/it.ts',
      error: /Can't write ".*it\.ts": E\w+: [^,']*\. Fix this, or choose another file\.$/,
    },
    {
      cell: '%save /none/of/it.ts',
      error: /%save: The folder "\/none\/of" does not exist\. Create it, or choose another file\.$/,
    },
    { cell: '%save x.ts 99999', error: /No executed cell has the number 99999/ },
    { cell: '%save x.ts 3-1', error: /The range "3-1" ends before it starts\. Write the smaller number first\./ },
    { cell: '%save x.ts one', error: /Expected cell numbers, for example 2 4-6, got "one"\./ },
  );

  cells(
    '?name and name? say of what type a name is and what is written about it',
    notebook,
    { cell: '/** Adds one. */\nfunction plus(x: number) { return x + 1 }' },
    { cell: '?plus', out: /function plus\(x: number\): number[^]*Adds one\./ },
    { cell: 'db.openTable?', out: /openTable/ },
    { cell: 'plus??', out: /function plus/ },
    { cell: '%time?', out: /^%time code\n%%time\n/ },
    { cell: 'nothingLikeIt?', error: /"nothingLikeIt" does not exist in this notebook/ },
  );

  test('that %help lists have a test each', () => {
    const files = readdirSync(import.meta.dirname).filter((name) => /^magics.*\.test\.ts$/.test(name));
    const texts = files.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join('\n');
    const titles = [...texts.matchAll(/\b(?:cells|test)\(\s*'(.*?)',/g)].map(([, title]) => title).join('\n');
    const missing = magicNames.flatMap(usagesOf).filter((usage) => {
      const [written = ''] = usage.split(' ');
      return !new RegExp(`(?<!%)${written}\\b`).test(written.startsWith('%%') ? texts : titles);
    });
    assert.deepEqual(missing, []);
  });

  test('complete behind % at the start of a line', async () => {
    const found = await kernel.complete('let x = 1\n%ti', 13);
    assert.deepEqual(
      found.matches.map(({ text }) => text),
      ['%time', '%timeit'],
    );
    assert.deepEqual([found.cursorStart, found.cursorEnd], [10, 13]);
    const first = await kernel.complete('%%ti', 4);
    assert.deepEqual(
      first.matches.map(({ text }) => text),
      ['%%time', '%%timeit'],
    );
  });
});
