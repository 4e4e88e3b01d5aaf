import assert from 'node:assert/strict';
import {
  Field,
  Int32,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableFromIPC,
  tableToIPC,
  TimestampNanosecond,
  Utf8,
  vectorFromArray,
} from '#arrow';
import type { Query } from '#catalog/query/query.ts';
import { RestTable } from '#catalog/rest/restTable.ts';
import { schemaText } from '#shared/arrow/arrowTypes.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { isCatalogError } from '#shared/errors.ts';
import { bufferIn, messagesIn, setBigEndian } from '../../shared/arrow/arrowEdits.ts';
import { type Habits, WireStandIn } from '../wireStandIn.ts';

const first = 8192;

function opened(rows: number, habits?: Habits): { wire: WireStandIn; table: RestTable } {
  const wire = new WireStandIn(rows, habits);
  return { wire, table: new RestTable({ wire, id: ['shop', 't'] }) };
}

async function readAll(query: Query): Promise<{ rows: number; inOrder: boolean }> {
  let rows = 0;
  let inOrder = true;
  for await (const batch of query) {
    for (const id of batch.getChild('id')!.toArray() as BigInt64Array) inOrder &&= id === BigInt(rows++);
  }
  return { rows, inOrder };
}

suite('statistics', () => {
  test('of a version are refused: a server has only those of the newest one', async () => {
    const wire = new WireStandIn(1);
    const table = new RestTable({ wire, id: ['shop', 't'], version: 3 });
    await assert.rejects(table.stats(), {
      kind: 'Unsupported',
      message:
        'Can\'t read the statistics of table "shop/t" at version 3: servers have only those of the newest version. Open it without a version or tag to read them.',
    });
    assert.deepEqual(wire.requests, []);
  });
});

suite('the newest version', () => {
  for (const [order, versions] of [
    ['sorts its versions', [7, 6]],
    ['ignores the order of versions', [5, 6, 7]],
    ['has one version', [7]],
  ] as const) {
    test(`is known of a server that ${order}`, async () => {
      const { table } = opened(1, { noVersion: true, versions });
      assert.equal(await table.version(), 7);
    });
  }
});

suite('a long query', () => {
  test('of a server that sends streams is one request, after one that finds it out', async () => {
    const { wire, table } = opened(50_000);
    assert.deepEqual(await readAll(table.query()), { rows: 50_000, inOrder: true });
    await readAll(table.query());
    assert.deepEqual(
      wire.queries.map(({ k }) => k),
      [1, 2_147_483_647, 2_147_483_647],
    );
    assert.equal(wire.open, 0);
  });

  test('of a server that sends files comes page after page of one version', async () => {
    const { wire, table } = opened(50_000, { filesOnly: true });
    assert.deepEqual(await readAll(table.query()), { rows: 50_000, inOrder: true });
    const [, ...pages] = wire.queries;
    assert.deepEqual(pages[0], { k: first, offset: 0, version: 7 });
    assert.equal(pages[1]?.offset, first);
    // The second page requests as many rows as fit into a page by the measured row width, and at most a million.
    assert.ok(pages[1].k > 100 * first && pages[1].k <= 1_000_000, `${pages[1].k} rows`);
    assert.ok(pages.every(({ version }) => version === 7));
    assert.equal(wire.open, 0);
  });

  test('is whole though the server gives fewer rows than asked for', async () => {
    const { wire, table } = opened(30_000, { filesOnly: true, maxRows: 4000 });
    assert.deepEqual(await readAll(table.query()), { rows: 30_000, inOrder: true });
    const limited = await readAll(table.query().limit(10_000).offset(0));
    assert.deepEqual(limited, { rows: 10_000, inOrder: true });
    assert.equal(wire.open, 0);
  });

  test('starts and ends where it was asked to', async () => {
    const { wire, table } = opened(30_000, { filesOnly: true });
    const found = await table.query().offset(9000).limit(20_000).toArrow();
    assert.equal(found.numRows, 20_000);
    assert.equal(found.getChild('id')!.get(0), 9000n);
    assert.equal(found.getChild('id')!.get(19_999), 28_999n);
    assert.deepEqual(
      wire.queries.slice(1).map(({ offset }) => offset),
      // The second request asks for a row beyond the end, to find out whether the server obeys offsets.
      [9000, 2_000_000_000, 9000 + first],
    );
  });

  test('is read without a version where the server tells none', async () => {
    const { wire, table } = opened(20_000, { filesOnly: true, noVersion: true });
    assert.equal((await readAll(table.query())).rows, 20_000);
    assert.ok(wire.queries.every(({ version }) => version === undefined));
  });

  test('of a server that ignores the offset ends with an error', async () => {
    const { wire, table } = opened(6000, { filesOnly: true, ignoresOffset: true, maxRows: 4000 });
    let rows = 0;
    await assert.rejects(
      async () => {
        // Stop at 100,000 rows, because otherwise the loop would not end if the client accepted all pages.
        for await (const batch of table.query()) if ((rows += batch.numRows) > 100_000) return;
      },
      (error: unknown) => isCatalogError(error, 'Internal') && error.message.includes('ignores "offset"'),
    );
    assert.equal(rows, 4000);
    assert.equal(wire.open, 0);
  });

  test('of equal rows is whole', async () => {
    const { table } = opened(3, { filesOnly: true, maxRows: 1, equalRows: true });
    assert.equal((await table.query().toArrow()).numRows, 3);
  });

  test('asks for no further page when its reader stops, and lets go of the answer', async () => {
    const { wire, table } = opened(50_000, { filesOnly: true });
    for await (const batch of table.query()) {
      assert.equal(batch.numRows, 1000);
      break;
    }
    assert.equal(wire.queries.length, 2);
    assert.equal(wire.open, 0);
  });
});

const isUnsupported = (error: unknown): boolean =>
  isCatalogError(error, 'Unsupported') && error.operation === 'QueryTable' && error.identifier === 'shop/t';

suite('a query over REST', () => {
  test('that is short is one request', async () => {
    const { wire, table } = opened(50_000, { filesOnly: true });
    assert.equal((await table.query().limit(100).toArrow()).numRows, 100);
    assert.deepEqual(wire.queries, [{ k: 100, offset: 0, version: undefined }]);
  });

  test('for no rows asks for one and gives none: to some servers none means all', async () => {
    const { wire, table } = opened(50_000, { filesOnly: true });
    const found = await table.query().limit(0).toArrow();
    assert.equal(found.numRows, 0);
    assert.equal(String(found.schema), 'Schema<{ 0: id: Int64 }>');
    assert.equal(tableFromIPC(await table.queryIpc({ limit: 0 })).numRows, 0);
    assert.deepEqual(
      wire.queries.map(({ k }) => k),
      [1, 1],
    );
    assert.equal(wire.open, 0);
  });

  test('in an order is refused where the server does not say that it sorted', async () => {
    const { wire, table } = opened(50);
    await assert.rejects(table.query().orderBy('id').toArrow(), isUnsupported);
    await assert.rejects(table.queryIpc({ orderBy: [{ column: 'id' }] }), isUnsupported);
    assert.equal(wire.open, 0);
    const sorting = opened(50, { sorts: true });
    assert.equal((await sorting.table.query().orderBy('id').toArrow()).numRows, 50);
    assert.equal(sorting.wire.requests[0]?.prefer, 'complete_rows, order_by');
  });

  test('says everything that was asked for in the words of the specification', async () => {
    const { wire, table } = opened(50, { sorts: true });
    const query = table
      .vectorSearch([1, 2], {
        column: 'v',
        distanceType: 'cosine',
        nprobes: 3,
        refineFactor: 4,
        ef: 5,
        bypassVectorIndex: true,
        lowerBound: 0,
        upperBound: 9,
      })
      .select({ x: 'id + 1' })
      .where('id > 3')
      .orderBy({ column: 'id', descending: true, nullsFirst: false })
      .withRowId()
      .postfilter()
      .fastSearch()
      .offset(2);
    await query.toArrow();
    assert.deepEqual(wire.requests[0]?.json, {
      vector: { single_vector: [1, 2] },
      vector_column: 'v',
      distance_type: 'cosine',
      nprobes: 3,
      refine_factor: 4,
      ef: 5,
      bypass_vector_index: true,
      lower_bound: 0,
      upper_bound: 9,
      k: 10,
      offset: 2,
      columns: { column_aliases: { x: 'id + 1' } },
      filter: 'id > 3',
      order_by: [{ column: 'id', descending: true, nulls_first: false }],
      with_row_id: true,
      prefilter: false,
      fast_search: true,
    });
    await table
      .fullTextSearch('red mug', { columns: ['name'] })
      .select(['id'])
      .limit(3)
      .toArrow();
    assert.deepEqual(wire.requests[1]?.json, {
      vector: { single_vector: [] },
      full_text_query: { string_query: { query: 'red mug', columns: ['name'] } },
      k: 3,
      columns: { column_names: ['id'] },
    });
  });

  test('sends numbers of partitions for servers of all releases', async () => {
    const { wire, table } = opened(5);
    for (const [options, sent] of [
      [
        { minimumNprobes: 2, maximumNprobes: 9 },
        { nprobes: 2, minimum_nprobes: 2, maximum_nprobes: 9 },
      ],
      [{ minimumNprobes: 3, maximumNprobes: 3 }, { nprobes: 3 }],
      // Without a maximum, LanceDB's package searches at most 20 partitions, but a server searches all.
      [{ minimumNprobes: 2 }, { nprobes: 2, minimum_nprobes: 2, maximum_nprobes: 20 }],
      [{ minimumNprobes: 30 }, { nprobes: 30 }],
      [{ maximumNprobes: 4 }, { maximum_nprobes: 4 }],
      [
        { minimumNprobes: 2, maximumNprobes: 0 },
        { nprobes: 2, minimum_nprobes: 2 },
      ],
      [{ maximumNprobes: 0 }, { nprobes: 20, minimum_nprobes: 20 }],
    ] as const) {
      await table.vectorSearch([1], options).limit(3).toArrow();
      const body = wire.requests.at(-1)!.json as Record<string, unknown>;
      const found = Object.entries(body).filter(([name, value]) => name.includes('nprobes') && value !== undefined);
      assert.deepEqual(Object.fromEntries(found), sent);
    }
  });

  test('by likeness skips rows on this side, and says when the filter applies', async () => {
    const { wire, table } = opened(50);
    const search = table.vectorSearch([1]).where('id >= 0').offset(3).limit(4);
    assert.deepEqual([...(await search.toArrow()).getChild('id')!], [3n, 4n, 5n, 6n]);
    assert.deepEqual([...tableFromIPC(await table.queryIpc(search.spec)).getChild('id')!], [3n, 4n, 5n, 6n]);
    for (const { json } of wire.requests) {
      const { k, offset, prefilter } = json as { k: number; offset?: number; prefilter?: boolean };
      assert.deepEqual({ k, offset, prefilter }, { k: 7, offset: undefined, prefilter: true });
    }
  });

  test('of a version and a branch says so', async () => {
    const wire = new WireStandIn(5);
    const table = new RestTable({ wire, id: ['t'], version: 3, branch: 'exp' });
    await table.toArrow();
    for (const { json } of wire.requests) {
      const { version, branch } = json as { version?: number; branch?: string };
      assert.deepEqual({ version, branch }, { version: 3, branch: 'exp' });
    }
  });

  test('as bytes is a stream whatever the server sends, and ends at its limit of bytes', async () => {
    for (const filesOnly of [true, false]) {
      const { wire, table } = opened(2500, { filesOnly });
      const bytes = await table.queryIpc({});
      assert.equal(Buffer.from(bytes).readInt32LE(0), -1);
      assert.equal(tableFromIPC(bytes).numRows, 2500);
      const tooMuch = table.queryIpc({}, { maxBytes: 10_000 });
      await assert.rejects(
        tooMuch,
        (error) => isCatalogError(error, 'InvalidInput') && /10000 bytes/.test(error.message),
      );
      assert.equal(wire.open, 0);
    }
  });
});

suite('a table over REST', () => {
  test('that was opened at a version takes no change, and sends none', async () => {
    const wire = new WireStandIn(5);
    const table = new RestTable({ wire, id: ['shop', 't'], version: 3 });
    const writes: readonly (() => unknown)[] = [
      () => table.add([{ id: 1 }]),
      () =>
        table
          .mergeInsert('id')
          .whenNotMatchedInsertAll()
          .execute([{ id: 1 }]),
      () => table.update({ values: { id: 1 } }),
      () => table.delete('id = 1'),
      () => table.restore(1),
      () => table.branches().create('a'),
      () => table.branches().delete('a'),
      () => table.createIndex('id'),
      () => table.dropIndex('id_idx'),
      () => table.addColumns([{ name: 'x', expression: '1' }]),
      () => table.alterColumns([{ path: 'id', rename: 'x' }]),
      () => table.dropColumns(['id']),
      () => table.updateSchemaMetadata({ a: 'b' }),
      () => table.backfillColumn('id'),
    ];
    for (const write of writes) {
      const call = Promise.resolve().then(write);
      await assert.rejects(
        call,
        (error) => isCatalogError(error, 'InvalidInput') && /"shop\/t".*version 3/.test(error.message),
        String(write),
      );
    }
    assert.equal(wire.requests.length, 0);
  });

  test('is given no type that the contract can not say in full', async () => {
    const { wire, table } = opened(5);
    const change = (dataType: Int32 | TimestampNanosecond) => table.alterColumns([{ path: 'id', dataType }]);
    await assert.rejects(change(new TimestampNanosecond('UTC')), (error) => isCatalogError(error, 'Unsupported'));
    assert.equal(wire.requests.length, 0);
    await assert.rejects(change(new Int32()));
    assert.deepEqual(wire.requests[0]?.json, { alterations: [{ path: 'id', data_type: { type: 'int32' } }] });
  });
});

/** Returns three rows with two columns of the same name, an integer and a string. */
function duplicates(): Uint8Array {
  const fields = [new Field('x', new Int32()), new Field('x', new Utf8())];
  const children = [
    vectorFromArray([1, -2_147_483_648, 93], new Int32()),
    vectorFromArray(['a', 'b', 'c'], new Utf8()),
  ];
  const data = makeData({ type: new Struct(fields), length: 3, children: children.map(({ data: [chunk] }) => chunk!) });
  const schema = new Schema(fields);
  const batch = new RecordBatch(schema, data);
  // Set the schema again, because Arrow assigns the types of a batch by column name and here two columns have the same
  // name.
  Object.assign(batch, { schema });
  return tableToIPC(new Table(schema, [batch]), 'stream');
}

suite('rows that a server should not send', () => {
  test('are refused if they are more than the limit, before they are read', async () => {
    for (const filesOnly of [false, true]) {
      const { wire, table } = opened(6000, { ignoresLimit: true, filesOnly });
      await assert.rejects(table.query().limit(3).toArrow(), { kind: 'Internal', message: /more rows than requested/ });
      await assert.rejects(table.queryIpc({ limit: 3 }), { kind: 'Internal', message: /more rows than requested/ });
      const nearest = table.query().nearestTo([1]);
      await assert.rejects(nearest.toArrow(), { kind: 'Internal', message: /more rows than requested/ });
      assert.equal(wire.open, 0);
    }
  });

  test('are refused by name if they are big-endian', async () => {
    const body = Buffer.from(tableToIPC(new Table({ x: vectorFromArray([1, 2, 3], new Int32()) }), 'stream'));
    setBigEndian(messagesIn(body)[0]!);
    const { wire, table } = opened(0, { body });
    const expected = {
      kind: 'Unsupported',
      message:
        "Can't read the rows of The stand-in: The Arrow data is big-endian, which is not supported. Write it in little-endian byte order.",
    };
    await assert.rejects(table.query().limit(3).toArrow(), expected);
    await assert.rejects(table.queryIpc({ limit: 3 }), expected);
    assert.equal(wire.open, 0);
  });

  test('are refused with their column if they contradict themselves', async () => {
    const body = Buffer.from(tableToIPC(new Table({ x: vectorFromArray(['a', 'b'], new Utf8()) }), 'stream'));
    bufferIn(messagesIn(body)[1]!, 1).writeInt32LE(30_000_000, 8);
    const { wire, table } = opened(0, { body });
    await assert.rejects(table.query().limit(3).toArrow(), {
      kind: 'Internal',
      message:
        /sent invalid Arrow data: The column "x" has an offset of 30000000, but its data ends at \d+\. Report this/,
    });
    assert.equal(wire.open, 0);
  });

  test('with columns of one name keep the values of each, and are no objects', async () => {
    const { table } = opened(0, { body: duplicates() });
    const found = await table.query().limit(3).toArrow();
    assert.deepEqual([...found.getChildAt(0)!], [1, -2_147_483_648, 93]);
    assert.deepEqual([...found.getChildAt(1)!], ['a', 'b', 'c']);
    assert.equal(schemaText(readArrow(tableToIPC(found, 'stream')).schema), 'x: int32, x: utf8');
    await assert.rejects(table.query().limit(3).toArray(), {
      kind: 'InvalidInput',
      message: /several columns with the name "x", which objects can't hold\. Use toArrow\(\)/,
    });
  });
});
