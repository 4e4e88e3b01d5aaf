import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inRoot } from '../../../../scripts/paths.ts';
import { tempFolder } from '../../../harness/temp.ts';
import type { Seen } from './outlineReader.ts';

// A declaration file for each way to refer to another file, or to have an effect without being imported.
const odd: Record<string, string> = {
  'package.json': '{"name": "odd", "version": "1.0.0", "types": "./index.d.ts"}',
  'index.d.ts': `/// <reference path="./ambient.d.ts" />
import required = require('./required');
export * from './all';
export { Both, default as Default } from './both';
export type { OnlyType } from './all';
export { required };
export declare const later: import('./later').Later;
export * as inner from './inner';
import './patch';
`,
  'ambient.d.ts': 'declare const oddGlobal: { made: true };\n',
  'required.d.ts':
    'declare function required(text: string): number;\ndeclare namespace required { const version: string; }\nexport = required;\n',
  'all.d.ts': `/** Counts. */
export declare function count(of: readonly unknown[]): number;
export interface OnlyType { name: string }
export declare enum Kind { One = 1, Two = 2 }
/** @deprecated Ask for another. */
export declare const old: string;
`,
  'both.d.ts': `import type { OnlyType } from './all';
/** A class and a namespace. */
export declare class Both<T> implements OnlyType { name: string; static make(): Both<string>; value: T }
export declare namespace Both { type Of<T> = Both<T>; const some: number }
export default Both;
`,
  'later.d.ts': "import { Both } from './both';\nexport interface Later { both: Both.Of<string>; }\n",
  'inner.d.ts': 'export declare const deep: number;\n',
  'patch.d.ts': "declare module './both' { interface Both<T> { patched: T } }\nexport {};\n",
};
const cell = `import * as odd from 'odd';
import * as arrow from 'apache-arrow';
const n: number = odd.count([]) + odd.required('a') + odd.Kind.One + odd.inner.deep;
const text: string = odd.later.both.value + odd.Both.make().patched + oddGlobal.made + odd.required.version;
[n, text, typeof arrow.Table]`;

suite('Outlines of packages', function () {
  this.timeout(120_000);
  const folder = tempFolder();
  const records = join(tempFolder(), 'declarations');
  let whole: Seen;
  let outlined: Seen;

  const read = (where = records, code = cell): Seen =>
    JSON.parse(
      execFileSync(process.execPath, [inRoot('test/unit/session/compiler/outlineReader.ts'), folder, where, code], {
        encoding: 'utf8',
      }),
    ) as Seen;

  suiteSetup(() => {
    for (const [name, text] of Object.entries(odd)) write(`odd/${name}`, text);
    for (const name of ['apache-arrow', 'flatbuffers'])
      cpSync(inRoot('node_modules', name), join(folder, 'node_modules', name), { recursive: true });
    whole = read();
    outlined = read();
  });

  function write(name: string, text: string): void {
    const file = join(folder, 'node_modules', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  test('are made of what was parsed whole, and stand for most of it the next time', () => {
    assert.deepEqual([whole.problems, whole.late], [[], []]);
    assert.ok(whole.files > 100, `${whole.files} files`);
    assert.deepEqual(outlined.problems, []);
    assert.equal(outlined.files, whole.files);
    assert.ok(outlined.late.length > 30, `${outlined.late.length} files were not read`);
    assert.ok(
      !outlined.late.some((file) => /ambient|patch/.test(file)),
      'what adds to others is read in every program',
    );
  });

  test('hide nothing: names, types and documentation', () => {
    const now = new Map(outlined.told);
    assert.ok(whole.told.length > 1000, `${whole.told.length} things`);
    for (const [name, text] of whole.told) assert.equal(now.get(name), text, name);
    assert.equal(outlined.told.length, whole.told.length);
    assert.match(now.get('odd/count') ?? '', /Counts\./);
    assert.match(now.get('odd/old') ?? '', /@deprecated Ask for another\./);
  });

  test('let errors be seen', () => {
    const { problems } = read(records, "import { count, gone } from 'odd';\nconst text: string = count([]);");
    assert.match(problems.join('\n'), /no exported member 'gone'/);
    assert.match(problems.join('\n'), /Type 'number' is not assignable to type 'string'/);
  });

  test('are not used for a file that has changed, in size or in time', () => {
    const all = join(folder, 'node_modules/odd/all.d.ts');
    const { atimeMs, mtimeMs } = statSync(all);
    write(
      'odd/all.d.ts',
      odd['all.d.ts']!.replace('declare function count', 'declare const added: 1;\nexport declare function count'),
    );
    utimesSync(all, atimeMs / 1000, mtimeMs / 1000);
    const longer = read(records, "import { added } from 'odd';\nconst one: 1 = added;");
    assert.deepEqual(longer.problems, []);
    write('odd/all.d.ts', odd['all.d.ts']!.replace('function count', 'function mount'));
    const newer = read(records, "import { mount } from 'odd';\nmount([])");
    assert.deepEqual(newer.problems, []);
    write('odd/all.d.ts', odd['all.d.ts']!);
  });

  test('are made again where their record is damaged, and done without where they can not be kept', () => {
    for (const name of readdirSync(records)) {
      const record = join(records, name);
      writeFileSync(record, readFileSync(record, 'utf8').slice(0, 100));
    }
    assert.deepEqual([read().late, read().late.length > 30], [[], true]);
    for (const name of readdirSync(records)) writeFileSync(join(records, name), '{"index.d.ts": {"size": 1}}');
    assert.deepEqual([read().late, read().late.length > 30], [[], true]);
    const file = join(tempFolder(), 'a file');
    writeFileSync(file, '');
    assert.deepEqual(read(join(file, 'below')).problems, []);
  });
});
