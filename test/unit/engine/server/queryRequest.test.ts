import assert from 'node:assert/strict';
import { querySpec, versionOf } from '#engine/server/queryRequest.ts';
import { type CatalogErrorKind, isCatalogError } from '#shared/errors.ts';

const rejected = (body: Record<string, unknown>, kind: CatalogErrorKind, word: string): void => {
  assert.throws(
    () => querySpec(body),
    (error: unknown) => isCatalogError(error, kind) && error.message.includes(word),
    `${JSON.stringify(body)} is not refused as ${kind} with "${word}"`,
  );
};

const probes = (given: Record<string, unknown>): unknown => {
  const { values: _, ...rest } = querySpec({ k: 1, vector: { single_vector: [1] }, ...given }).vector!;
  return rest;
};

suite('the body of a query', () => {
  test('is converted to a query of a table', () => {
    const spec = querySpec({
      k: 5,
      vector: { single_vector: [1, 2] },
      vector_column: 'v',
      distance_type: 'Cosine',
      nprobes: 3,
      refine_factor: 2,
      ef: 40,
      bypass_vector_index: true,
      lower_bound: 0.5,
      upper_bound: 1.5,
      filter: 'id > 1',
      columns: { column_names: ['id'] },
      offset: 2,
      prefilter: false,
      fast_search: true,
      with_row_id: true,
    });
    assert.deepEqual(spec, {
      limit: 5,
      vector: {
        values: [1, 2],
        column: 'v',
        distanceType: 'cosine',
        nprobes: 3,
        refineFactor: 2,
        ef: 40,
        bypassVectorIndex: true,
        lowerBound: 0.5,
        upperBound: 1.5,
      },
      filter: 'id > 1',
      columns: ['id'],
      offset: 2,
      prefilter: false,
      fastSearch: true,
      withRowId: true,
    });
  });

  test('has numbers of partitions as in release 0.13 of the specification', () => {
    assert.deepEqual(probes({ nprobes: 3, minimum_nprobes: null, maximum_nprobes: null }), { nprobes: 3 });
    assert.deepEqual(probes({ nprobes: 3, minimum_nprobes: 4 }), { minimumNprobes: 4, maximumNprobes: 0 });
    assert.deepEqual(probes({ nprobes: 3, maximum_nprobes: 2 }), { maximumNprobes: 2 });
    assert.deepEqual(probes({ nprobes: 20, minimum_nprobes: 4, maximum_nprobes: 0 }), {
      minimumNprobes: 4,
      maximumNprobes: 0,
    });
  });

  test('without a vector is a scan', () => {
    for (const vector of [undefined, null, {}, { single_vector: [] }, { single_vector: null, multi_vector: null }]) {
      assert.deepEqual(querySpec({ k: 1, vector }), { limit: 1 });
    }
  });

  test('asks for every row by the largest number of 32 bits', () => {
    assert.deepEqual(querySpec({ k: 2_147_483_647 }), {});
  });

  test('takes null for what is not there', () => {
    assert.deepEqual(querySpec({ k: 0, columns: null, filter: null, full_text_query: null, order_by: null }), {
      limit: 0,
    });
  });

  test('takes aliases, full text and an order', () => {
    assert.deepEqual(querySpec({ k: 1, columns: { column_aliases: { total: 'a * b' } } }), {
      limit: 1,
      columnAliases: { total: 'a * b' },
    });
    assert.deepEqual(querySpec({ k: 1, full_text_query: { string_query: { query: 'mug', columns: ['name'] } } }), {
      limit: 1,
      fullText: { query: 'mug', columns: ['name'] },
    });
    assert.deepEqual(
      querySpec({
        k: 1,
        order_by: [
          { column: 'a', descending: true },
          { column: 'b', nulls_first: true },
        ],
      }),
      {
        limit: 1,
        orderBy: [
          { column: 'a', descending: true },
          { column: 'b', nullsFirst: true },
        ],
      },
    );
  });

  test('has several vectors, or one', () => {
    const several = { k: 1, vector: { multi_vector: [[1], [2], [3]] } };
    assert.deepEqual(querySpec(several), { limit: 1, vector: { values: [1], more: [[2], [3]] } });
    assert.deepEqual(querySpec({ k: 1, vector: { multi_vector: [[1]] } }), { limit: 1, vector: { values: [1] } });
    rejected({ k: 1, vector: { multi_vector: [[1], 2] } }, 'InvalidInput', 'multi_vector');
    rejected({ k: 1, vector: { single_vector: [1], multi_vector: [[1]] } }, 'InvalidInput', 'either');
  });

  test('is refused where a field is of the wrong type, naming it', () => {
    rejected({}, 'InvalidInput', 'k');
    rejected({ k: -1 }, 'InvalidInput', 'k');
    rejected({ k: 1.5 }, 'InvalidInput', 'k');
    rejected({ k: 1, filter: 7 }, 'InvalidInput', 'filter');
    rejected({ k: 1, vector: { single_vector: ['a'] } }, 'InvalidInput', 'single_vector');
    rejected({ k: 1, vector: [1] }, 'InvalidInput', 'vector');
    rejected({ k: 1, columns: { column_names: 'id' } }, 'InvalidInput', 'column_names');
    rejected({ k: 1, columns: { column_names: ['a'], column_aliases: {} } }, 'InvalidInput', 'either');
    rejected({ k: 1, distance_type: 'near' }, 'InvalidInput', 'distance_type');
    rejected({ k: 1, order_by: ['a'] }, 'InvalidInput', 'order_by');
    rejected({ k: 1, full_text_query: {} }, 'InvalidInput', 'string_query');
    rejected({ k: 1, prefilter: 'no' }, 'InvalidInput', 'prefilter');
  });

  test('is unsupported where it asks for what is not offered, instead of giving other rows', () => {
    rejected(
      { k: 1, full_text_query: { structured_query: { query: { match: { terms: 'a' } } } } },
      'Unsupported',
      'without a column',
    );
  });

  test('names a version or a branch', () => {
    assert.deepEqual(versionOf({ version: 3, branch: '' }), { version: 3 });
    assert.deepEqual(versionOf({ branch: 'side' }), { branch: 'side' });
    assert.throws(
      () => versionOf({ version: 0 }),
      (error) => isCatalogError(error, 'VersionNotFound'),
    );
  });
});
