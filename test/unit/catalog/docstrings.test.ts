import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { operations } from '#catalog/contract.ts';
import { inRoot } from '../../../scripts/paths.ts';

/** Returns top-level members of a declaration file without a comment before them. Overloads need only one. */
function undocumented(file: string, declared: RegExp): string[] {
  const lines = readFileSync(inRoot('out/catalog', file), 'utf8').split('\n');
  const documented = new Set<string>();
  const found: string[] = [];
  let isInside = false;
  for (const [at, line] of lines.entries()) {
    if (declared.test(line)) isInside = true;
    if (line.startsWith('}')) isInside = false;
    const name = isInside ? /^ {4}(?:readonly )?(\w+)(?=[?:(<])/.exec(line)?.[1] : undefined;
    if (name === undefined || name === 'constructor') continue;
    if (lines[at - 1]?.trimEnd().endsWith('*/')) documented.add(name);
    else if (!documented.has(name)) found.push(`${file}: ${name}`);
  }
  return found;
}

suite('What people read of the catalog in a cell', () => {
  test('says of every call what it does', () => {
    const files = [
      ['catalog.d.ts', /interface Catalog/],
      ['table/table.d.ts', /interface Table\b|type (CreateIndexOptions|AddOptions|UpdateSpec)/],
      ['table/tagsBranches.d.ts', /interface/],
      ['jobs.d.ts', /interface Jobs|type BackfillColumnOptions/],
      ['query/query.d.ts', /class Query/],
      ['query/querySpec.d.ts', /type (QueryOptions|FullTextOptions)/],
      ['table/mergeInsert.d.ts', /class MergeInsert/],
    ] as const;
    const missing = files.flatMap(([file, declared]) => undocumented(file, declared));
    const plain = new Set(['implementation', 'name', 'namespacePath', 'maxCheckpointSize']);
    assert.deepEqual(
      missing.filter((one) => !plain.has(one.split(': ')[1]!)),
      [],
    );
  });

  test('names operations that the specification has', () => {
    const text = ['catalog', 'table/table', 'table/tagsBranches', 'jobs', 'query/query', 'table/mergeInsert']
      .map((name) => readFileSync(inRoot('out/catalog', `${name}.d.ts`), 'utf8'))
      .join('\n');
    const named = [...text.matchAll(/\("([A-Z]\w+)"/g)]
      .map(([, name]) => name!)
      .filter((name) => !name.endsWith('Request'));
    assert.deepEqual(
      named.filter((name) => !Object.hasOwn(operations, name)),
      [],
    );
    assert.ok(named.length > 40, `${named.length} are named`);
  });
});
