import assert from 'node:assert/strict';
import { type RecordBatch, Schema, type Table, vectorFromArray } from '#arrow';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import { allPages } from '#catalog/listPages.ts';
import { Query } from '#catalog/query/query.ts';
import type { QueryRunner, QuerySpec } from '#catalog/query/querySpec.ts';
import { isCatalogError } from '#shared/errors.ts';

const table: Table = inferRows([{ id: 1 }, { id: 2 }]);

// oxlint-disable-next-line typescript/require-await
async function* inTurn(batches: readonly RecordBatch[]): AsyncGenerator<RecordBatch> {
  yield* batches;
}

function recorded(): { query: Query; asked: QuerySpec[] } {
  const asked: QuerySpec[] = [];
  const runner: QueryRunner = {
    run: (spec) => {
      asked.push(spec);
      return Promise.resolve({ schema: table.schema, batches: inTurn(table.batches) });
    },
    explainPlan: () => Promise.resolve('a plan'),
    analyzePlan: () => Promise.resolve('what it took'),
  };
  return { query: new Query(runner), asked };
}

suite('a query', () => {
  test('is narrowed by steps that leave the one before as it was', () => {
    const { query } = recorded();
    const narrow = query.where('a > 1').where('b < 2').select('a').limit(5).offset(2);
    assert.deepEqual(narrow.spec, { filter: '(a > 1) AND (b < 2)', columns: ['a'], limit: 5, offset: 2 });
    assert.deepEqual(query.spec, {});
  });

  test('refuses a vector that is none, and names the position', () => {
    const { query } = recorded();
    const refuses = (vector: unknown, ...words: string[]): void => {
      assert.throws(
        () => query.nearestTo(vector as number[]),
        (error) => isCatalogError(error, 'InvalidInput') && words.every((word) => error.message.includes(word)),
      );
    };
    refuses('abc', 'a string');
    refuses(undefined, 'undefined');
    refuses(7, 'a number');
    refuses([], 'empty');
    refuses([1, Number.NaN], 'NaN', 'position 1');
    refuses([1, 2, Infinity], 'Infinity', 'position 2');
    refuses(['1'], 'a string', 'position 0');
    refuses([0, null], 'null', 'position 1');
    refuses(BigInt64Array.of(1n), 'a bigint', 'position 0');
    assert.deepEqual(query.nearestTo(Float32Array.of(1, 0.5)).spec.vector, { values: [1, 0.5] });
    assert.deepEqual(query.nearestTo(vectorFromArray([1, 2.5]) as unknown as number[]).spec.vector, {
      values: [1, 2.5],
    });
  });

  test('refuses an empty filter', () => {
    const { query } = recorded();
    for (const filter of ['', ' \n']) {
      assert.throws(
        () => query.where(filter),
        (error) => isCatalogError(error, 'InvalidInput') && error.message.startsWith('The filter is empty.'),
      );
    }
  });

  test('asks nothing until it is read, and again each time', async () => {
    const { query, asked } = recorded();
    const limited = query.limit(2);
    assert.equal(asked.length, 0);
    assert.deepEqual(await limited.toArray(), [{ id: 1 }, { id: 2 }]);
    let rows = 0;
    for await (const batch of limited) rows += batch.numRows;
    assert.equal(rows, 2);
    assert.deepEqual(asked, [{ limit: 2 }, { limit: 2 }]);
  });

  test('takes any array of numbers as a vector', () => {
    const { query } = recorded();
    const spec = query.nearestTo(Float32Array.of(1, 2), { column: 'v', distanceType: 'cosine' }).spec;
    assert.deepEqual(spec, { vector: { values: [1, 2], column: 'v', distanceType: 'cosine' } });
  });

  test('refuses a limit or offset that counts nothing', () => {
    const { query } = recorded();
    for (const rows of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3' as never]) {
      assert.throws(
        () => query.limit(rows),
        (error: unknown) => isCatalogError(error, 'InvalidInput'),
      );
      assert.throws(
        () => query.offset(rows),
        (error: unknown) => isCatalogError(error, 'InvalidInput'),
      );
    }
  });

  test('refuses options that it does not know and those that make no sense', () => {
    const { query } = recorded();
    const wrong: readonly (() => unknown)[] = [
      () => query.nearestTo([1], { colum: 'v' } as object),
      () => query.nearestTo([1], { distanceType: 'manhattan' as 'l2' }),
      () => query.nearestTo([1], { nprobes: 0 }),
      () => query.nearestTo([1], { refineFactor: 1.5 }),
      () => query.nearestTo([1], { ef: '7' as never }),
      () => query.nearestTo([1], { lowerBound: Number.NaN }),
      () => query.nearestTo([1], { column: '' }),
      () => query.fullTextSearch('red', { column: 'name' } as object),
      () => query.fullTextSearch('red', { columns: [] }),
      () => query.fullTextSearch(' '),
      () => query.select([]),
      () => query.select(['a', 7 as never]),
      () => query.select({}),
      () => query.select({ a: '' }),
      () => query.orderBy([]),
      () => query.orderBy({ column: 'a', desc: true } as never),
      () => query.orderBy(''),
    ];
    for (const call of wrong) assert.throws(call, (error) => isCatalogError(error, 'InvalidInput'), String(call));
  });

  test('keeps what it is narrowed by as it was said', () => {
    const { query } = recorded();
    assert.deepEqual(query.orderBy(['a', { column: 'b', descending: true }]).spec.orderBy, [
      { column: 'a' },
      { column: 'b', descending: true },
    ]);
    assert.deepEqual(query.select(['a']).select({ b: 'a + 1' }).spec, { columnAliases: { b: 'a + 1' } });
    assert.deepEqual(query.select({ b: 'a + 1' }).select('a').spec, { columns: ['a'] });
    assert.deepEqual(query.fullTextSearch('red', { columns: ['name'] }).spec.fullText, {
      query: 'red',
      columns: ['name'],
    });
  });

  test('without batches is a table with the schema', async () => {
    const empty = new Query({
      run: () => Promise.resolve({ schema: table.schema, batches: inTurn([]) }),
      explainPlan: () => Promise.resolve('a plan'),
      analyzePlan: () => Promise.resolve('what it took'),
    });
    const found = await empty.toArrow();
    assert.equal(found.numRows, 0);
    assert.ok(found.schema instanceof Schema);
    assert.equal(String(found.schema), String(table.schema));
  });
});

suite('a list in pages', () => {
  test('is read to its end', async () => {
    const pages: Record<string, { names: string[]; pageToken?: string }> = {
      first: { names: ['a', 'b'], pageToken: 'x' },
      x: { names: [], pageToken: 'y' },
      y: { names: ['c'] },
    };
    assert.deepEqual(await allPages((token) => Promise.resolve(pages[token ?? 'first']!)), ['a', 'b', 'c']);
  });

  test('that goes in circles is an error, not a hang', async () => {
    await assert.rejects(
      allPages(() => Promise.resolve({ names: ['a'], pageToken: 'x' })),
      (error: unknown) => isCatalogError(error, 'Internal'),
    );
  });

  test('that always goes on, with the same names, without any, or with new ones, is an error too', async () => {
    for (const [names, problem, most] of [
      [() => ['a'], /without new entries/, 2],
      [() => [], /without new entries/, 1000],
      [(page: number) => [`name-${page}`], /more than 10000 pages/, 10_000],
    ] as const) {
      let pages = 0;
      await assert.rejects(
        allPages(() => {
          if (pages > 20_000) throw new Error('The list does not end.');
          return Promise.resolve({ names: names(pages), pageToken: `token-${pages++}` });
        }),
        (error: unknown) => isCatalogError(error, 'Internal') && problem.test(error.message),
      );
      assert.equal(pages, most);
    }
  });

  test('takes one whole condition as a filter', () => {
    const { query } = recorded();
    for (const part of ['1=1) OR (1=1', '(id = 1', 'id = 1)', "name = 'x", '`id = 1']) {
      assert.throws(
        () => query.where(part),
        (error: unknown) => isCatalogError(error, 'InvalidInput'),
        part,
      );
    }
    for (const whole of ["name = ')'", '(id = 1) -- :)', "name = 'it''s ('", 'id IN ((1), 2) /* ( */', '`a)` = 1']) {
      assert.ok(query.where(whole), whole);
    }
  });
});
