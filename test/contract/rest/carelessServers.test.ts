import assert from 'node:assert/strict';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { makeVector, RecordBatchFileWriter, Table, tableFromIPC, tableToIPC } from '#arrow';
import { encodeStream } from '#catalog/arrow/ipcWriter.ts';
import type { Query } from '#catalog/query/query.ts';
import type { RestTable } from '#catalog/rest/restTable.ts';
import { arrowFileMime, arrowStreamMime } from '#shared/mime.ts';
import { fails } from '../expect.ts';
import { Connecting } from './connecting.ts';
import {
  type Behavior,
  type Behaviors,
  bytes,
  FaultyServerStandIn,
  inTurn,
  json,
  readBody,
  refusal,
} from './faultyServer.ts';

const noTables = json({ tables: [] });
const count = 'POST /v1/table/a/count_rows';
const query = 'POST /v1/table/a/query';

/** How a server with one table of the rows 0, 1, 2, … departs from the specification. */
type Habits = {
  rows: number;
  /** Maximum number of rows of a response. */
  cap?: number;
  ignoresOffset?: boolean;
  /** Starts again at the first row after the last one. */
  wraps?: boolean;
  /** The first row of a response differs each time. */
  rotates?: boolean;
  refusesLargeOffsets?: boolean;
  canCount?: boolean;
  /** The number of rows that it counts. */
  counts?: number;
  /** Has no row from this one on, the first time or always. */
  emptyFrom?: { row: number; isOnce?: boolean };
  sendsStreams?: boolean;
  /** Confirms that no requested row is missing, as this product does. */
  confirmsRows?: boolean;
  /** The content type of rows; an empty string for none. */
  type?: string;
};

const confirmation = { 'preference-applied': 'complete_rows' };

function behaviorsOf(habits: Habits): Behaviors {
  const { rows, cap = rows, sendsStreams = false, type = sendsStreams ? arrowStreamMime : arrowFileMime } = habits;
  let responses = 0;
  let empty = habits.emptyFrom?.row ?? Infinity;
  const answer = (body: Buffer): Behavior => {
    const { k, offset: requested = 0 } = JSON.parse(body.toString()) as { k: number; offset?: number };
    if (habits.refusesLargeOffsets && requested > 1_000_000) return refusal(400, 13, 'The offset is too large.');
    const wrapped = habits.wraps && requested < 1_000_000 ? requested % rows : requested;
    const offset = habits.ignoresOffset ? 0 : wrapped;
    const length = offset >= empty ? 0 : Math.max(Math.min(k, cap, rows - offset), 0);
    if (offset === empty && habits.emptyFrom?.isOnce) empty = Infinity;
    const shift = habits.rotates ? (responses += 1) : 0;
    const ids = Int32Array.from({ length }, (_, row) => (offset + row + shift) % rows);
    const table = new Table({ id: makeVector(ids) });
    return bytes(
      200,
      type,
      sendsStreams ? tableToIPC(table, 'stream') : RecordBatchFileWriter.writeAll(table).toUint8Array(true),
      habits.confirmsRows ? confirmation : {},
    );
  };
  const respond: Behavior = async (turn) => {
    const body = await readBody(turn);
    await answer(body)(turn);
    // `answer` has overwritten the recorded body with an empty one, because a request can be read only once.
    turn.seen.body = body;
  };
  return {
    'POST /v1/table/a/describe': json({ version: 1 }),
    [query]: respond,
    ...(habits.canCount !== false && { [count]: json(habits.counts ?? rows) }),
    '*': noTables,
  };
}

/** The row counts and offsets of the queries that a server received. */
const pagesOf = (server: FaultyServerStandIn): [k: number, offset: number][] =>
  server.seen
    .filter(({ path }) => path.endsWith('/query'))
    .map(({ body }) => JSON.parse(body.toString()) as { k: number; offset?: number })
    .map(({ k, offset = 0 }) => [k, offset]);

const counts = (server: FaultyServerStandIn): number => server.calls.filter((call) => call === count).length;

/** The filters of the counts that a server received. */
const filtersOfCounts = (server: FaultyServerStandIn): unknown[] =>
  server.seen
    .filter(({ path }) => path.endsWith('/count_rows'))
    .map(({ body }) => (JSON.parse(body.toString()) as { predicate?: unknown }).predicate);

/** The ids of the first rows. */
const firstIds = (length: number): number[] => Array.from({ length }, (_, row) => row);

const all = 2_147_483_647;
/** The offset of the request that finds out whether a server obeys offsets. */
const beyond = 2_000_000_000;

/** Reads the rows of a query into `rows`, also those before an error. Ends after 50,000 rows. */
async function readInto(rows: number[], found: Query): Promise<void> {
  for await (const batch of found) {
    for (const id of batch.getChild('id')!.toArray() as Int32Array) rows.push(id);
    assert.ok(rows.length < 50_000, 'the rows have no end');
  }
}

/** Sends a byte every 20 ms, without an end. */
const dripping =
  (status: number): Behavior =>
  ({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  };

/** Sends 90 rows slowly. */
const slowRows: Behavior = async (turn) => {
  await readBody(turn);
  const body = tableToIPC(new Table({ id: makeVector(Int32Array.from({ length: 90 }, (_, row) => row)) }));
  turn.response.writeHead(200, { 'content-type': arrowStreamMime });
  for (let at = 0; at < body.length; at += 100) {
    turn.response.write(body.subarray(at, at + 100));
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  turn.response.end();
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const encodings = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

const coded = (encoding: keyof typeof encodings, status: number, type: string, body: string | Uint8Array): Behavior =>
  bytes(status, type, encodings[encoding](body), { 'content-encoding': encoding.toUpperCase() });

suite('a careless server', function () {
  this.timeout(30_000);
  const here = new Connecting();
  teardown(() => here.end());

  async function open(behaviors: Behaviors): Promise<{ server: FaultyServerStandIn; table: RestTable }> {
    const server = await here.serve(behaviors);
    return { server, table: await (await here.catalog({ uri: server.uri })).openTable('a') };
  }

  suite('that ignores offsets', () => {
    for (const rotates of [false, true]) {
      test(`ends with an error ${rotates ? 'though each page starts with another row' : 'at the second page'}`, async () => {
        const { server, table } = await open(behaviorsOf({ rows: 1000, cap: 100, ignoresOffset: true, rotates }));
        for (const found of [table.query(), table.query().limit(150), table.query().limit(9000)]) {
          const rows: number[] = [];
          await fails(() => readInto(rows, found), 'Internal', 'ignores "offset"');
          assert.equal(rows.length, 100);
        }
        await fails(() => table.queryIpc({ limit: 150 }), 'Internal', 'ignores "offset"');
        // The server is asked for a row beyond the end only once.
        assert.deepEqual(
          pagesOf(server).filter(([, offset]) => offset === beyond),
          [[1, beyond]],
        );
      });
    }

    test('gives no rows of another offset', async () => {
      const { table } = await open(behaviorsOf({ rows: 1000, ignoresOffset: true }));
      await fails(() => table.query().offset(10).limit(5).toArrow(), 'Internal', 'ignores "offset"');
      await fails(() => table.queryIpc({ offset: 10, limit: 5 }), 'Internal', 'ignores "offset"');
    });

    test('is believed if its first response had all rows', async () => {
      const { server, table } = await open(behaviorsOf({ rows: 30, ignoresOffset: true }));
      assert.equal((await table.query().limit(500).toArrow()).numRows, 30);
      assert.equal((await table.toArrow()).numRows, 30);
      assert.deepEqual(pagesOf(server), [
        [500, 0],
        [8192, 0],
      ]);
      assert.equal(counts(server), 2);
    });

    test('ends with an error also if it refuses a large offset', async () => {
      const habits = { rows: 300, cap: 100, ignoresOffset: true, refusesLargeOffsets: true };
      const { server, table } = await open(behaviorsOf(habits));
      const rows: number[] = [];
      await fails(() => readInto(rows, table.query().limit(150)), 'Internal', 'ignores "offset"');
      assert.equal(rows.length, 100);
      assert.deepEqual(pagesOf(server), [
        [150, 0],
        [50, 100],
        [1, beyond],
        [1, 300],
      ]);
    });
  });

  test('that starts again after the last row is read up to its count, or ends with an error', async () => {
    const { table } = await open(behaviorsOf({ rows: 90, cap: 40, wraps: true }));
    const rows: number[] = [];
    await readInto(rows, table.query());
    assert.deepEqual(rows, firstIds(90));
    // With full pages, the second page starts like the first one.
    const { table: full } = await open(behaviorsOf({ rows: 8192, wraps: true }));
    await fails(() => readInto([], full.query()), 'Internal', 'more rows than it counts');
  });

  suite('that sends fewer rows than requested', () => {
    test('is asked for the others', async () => {
      const { server, table } = await open(behaviorsOf({ rows: 1000, cap: 100 }));
      const rows: number[] = [];
      await readInto(rows, table.query().limit(450));
      assert.deepEqual(rows, firstIds(450));
      assert.deepEqual(pagesOf(server), [
        [450, 0],
        [350, 100],
        [1, beyond],
        [250, 200],
        [150, 300],
        [50, 400],
      ]);
      assert.equal((await table.query().offset(850).limit(500).toArrow()).numRows, 150);
      assert.equal((await table.query().limit(9000).toArrow()).numRows, 1000);
      // One for each result.
      assert.equal(counts(server), 3);
    });

    test('is asked for the others as bytes', async () => {
      const { server, table } = await open(behaviorsOf({ rows: 1000, cap: 100 }));
      for (const spec of [{ limit: 450 }, { limit: 450, offset: 100 }, {}, { offset: 800, limit: 450 }]) {
        const { limit = 1000, offset = 0 }: { limit?: number; offset?: number } = spec;
        const found = tableFromIPC(await table.queryIpc(spec))
          .getChild('id')!
          .toArray() as Int32Array;
        const length = Math.min(limit, 1000 - offset);
        assert.deepEqual(
          [...found],
          Array.from({ length }, (_, row) => offset + row),
        );
      }
      assert.equal(counts(server), 4);
    });

    test('and can not count is asked for the others', async () => {
      const { server, table } = await open(behaviorsOf({ rows: 2000, cap: 100, canCount: false }));
      assert.equal((await table.toArrow()).numRows, 2000);
      assert.equal(counts(server), 1);
    });

    test('is asked for the others if it sends streams', async () => {
      const { server, table } = await open(behaviorsOf({ rows: 1000, cap: 100, sendsStreams: true }));
      const rows: number[] = [];
      await readInto(rows, table.query().limit(250));
      assert.deepEqual(rows, firstIds(250));
      assert.deepEqual(pagesOf(server), [
        [250, 0],
        [150, 100],
        [1, beyond],
        [50, 200],
      ]);
      assert.equal(counts(server), 1);
      const { server: other, table: same } = await open(behaviorsOf({ rows: 1000, cap: 100, sendsStreams: true }));
      for (const found of [await same.toArrow(), tableFromIPC(await same.queryIpc({}))])
        assert.deepEqual([...(found.getChild('id')!.toArray() as Int32Array)], firstIds(1000));
      assert.equal(counts(other), 2);
    });

    test('is asked for the others as bytes if it sends streams', async () => {
      const { server, table } = await open(behaviorsOf({ rows: 1000, cap: 400, sendsStreams: true }));
      assert.equal(tableFromIPC(await table.queryIpc({})).numRows, 1000);
      assert.deepEqual(
        pagesOf(server).map(([, offset]) => offset),
        [0, 400, beyond, 800],
      );
      assert.equal(counts(server), 1);
    });

    test('is asked for a count with the same filter', async () => {
      const { server, table } = await open(behaviorsOf({ rows: 30, sendsStreams: true }));
      assert.equal((await table.query().where('id < 30').limit(500).toArrow()).numRows, 30);
      assert.equal((await table.query().limit(500).toArrow()).numRows, 30);
      assert.deepEqual(filtersOfCounts(server), ['id < 30', undefined]);
    });

    test('is not asked again for a search', async () => {
      for (const sendsStreams of [false, true]) {
        const { server, table } = await open(behaviorsOf({ rows: 30, counts: 1000, sendsStreams }));
        assert.equal((await table.vectorSearch([1]).limit(500).toArrow()).numRows, 30);
        assert.equal((await table.fullTextSearch('mug').limit(500).toArrow()).numRows, 30);
        assert.deepEqual(pagesOf(server), [
          [500, 0],
          [500, 0],
        ]);
        assert.equal(counts(server), 0);
      }
    });
  });

  suite('whose pages become empty before the last row', () => {
    for (const sendsStreams of [false, true]) {
      test(`ends with an error that has both numbers, ${sendsStreams ? 'also of streams' : 'of files'}`, async () => {
        const habits = { rows: 1000, cap: 100, emptyFrom: { row: 200 }, sendsStreams };
        const { server, table } = await open(behaviorsOf(habits));
        const rows: number[] = [];
        await fails(() => readInto(rows, table.query().limit(500)), 'Internal', 'after 200 rows', 'counts 1000');
        assert.deepEqual(rows, firstIds(200));
        assert.deepEqual(pagesOf(server), [
          [500, 0],
          [400, 100],
          [1, beyond],
          [300, 200],
          [300, 200],
        ]);
        await fails(() => table.query().where('id >= 0').toArrow(), 'Internal', 'counts 1000 that match the filter');
        await fails(() => table.queryIpc({}), 'Internal', 'after 200 rows', 'counts 1000');
      });
    }

    test('is asked once more for an empty page', async () => {
      const habits = { rows: 1000, cap: 100, emptyFrom: { row: 200, isOnce: true } };
      const { table } = await open(behaviorsOf(habits));
      const rows: number[] = [];
      await readInto(rows, table.query());
      assert.deepEqual(rows, firstIds(1000));
    });

    test('ends with an error also at the second page, and at the first one of an offset', async () => {
      const { table } = await open(behaviorsOf({ rows: 1000, cap: 100, emptyFrom: { row: 100 } }));
      await fails(() => table.query().limit(500).toArrow(), 'Internal', 'after 100 rows', 'counts 1000');
      await fails(() => table.query().offset(400).limit(500).toArrow(), 'Internal', 'after 400 rows');
    });

    test('ends with an error after full pages', async () => {
      const { table } = await open(behaviorsOf({ rows: 20_000, emptyFrom: { row: 8192 } }));
      await fails(() => table.toArrow(), 'Internal', 'after 8192 rows', 'counts 20000');
    });

    test('is believed if it can not count', async () => {
      const habits = { rows: 1000, cap: 100, emptyFrom: { row: 200 }, canCount: false };
      const { server, table } = await open(behaviorsOf(habits));
      assert.equal((await table.query().limit(500).toArrow()).numRows, 200);
      assert.equal(counts(server), 1);
    });

    test('is believed if its count fails', async () => {
      const behaviors = behaviorsOf({ rows: 1000, cap: 100, emptyFrom: { row: 200 } });
      const server = await here.serve({ ...behaviors, [count]: bytes(503, '') });
      const table = await (await here.catalog({ uri: server.uri, retries: 0 })).openTable('a');
      assert.equal((await table.query().limit(500).toArrow()).numRows, 200);
      assert.equal(counts(server), 1);
    });

    test('is believed if rows were deleted since they were counted', async () => {
      const behaviors = behaviorsOf({ rows: 200, cap: 100 });
      const { table } = await open({ ...behaviors, [count]: inTurn(json(300), json(200)) });
      assert.equal((await table.toArrow()).numRows, 200);
    });
  });

  suite('is asked no more than needed', () => {
    test('if it sends as many rows as requested', async () => {
      const { server, table } = await open(behaviorsOf({ rows: 1000 }));
      assert.equal((await table.query().limit(500).toArrow()).numRows, 500);
      assert.equal(tableFromIPC(await table.queryIpc({ limit: 500 })).numRows, 500);
      assert.deepEqual(pagesOf(server), [
        [500, 0],
        [500, 0],
      ]);
    });

    test('if its tables have fewer rows than requested', async () => {
      const { server, table } = await open(behaviorsOf({ rows: 30 }));
      assert.equal((await table.query().limit(500).toArrow()).numRows, 30);
      assert.deepEqual(pagesOf(server), [[500, 0]]);
      assert.equal(counts(server), 1);
    });

    test('if no row matches', async () => {
      for (const sendsStreams of [false, true]) {
        const { server, table } = await open(behaviorsOf({ rows: 0, sendsStreams }));
        assert.equal((await table.query().where('id < 0').limit(500).toArrow()).numRows, 0);
        assert.deepEqual(server.calls.slice(-1), [query]);
        assert.equal(pagesOf(server).length, 1);
      }
    });

    test('if it sends streams and confirms that no row is missing, as this product does', async () => {
      const { server, table } = await open(behaviorsOf({ rows: 30, sendsStreams: true, confirmsRows: true }));
      assert.equal((await table.query().limit(500).toArrow()).numRows, 30);
      assert.equal((await table.query().offset(20).limit(500).toArrow()).numRows, 10);
      assert.equal(tableFromIPC(await table.queryIpc({ limit: 500 })).numRows, 30);
      assert.equal((await table.toArrow()).numRows, 30);
      assert.deepEqual(pagesOf(server), [
        [500, 0],
        [500, 20],
        [500, 0],
        [all, 0],
      ]);
      assert.equal(counts(server), 0);
    });
  });

  test('that labels rows as a web page is refused by name, and other types of rows are not', async () => {
    for (const type of ['text/html', 'Text/HTML; charset=utf-8', 'application/xhtml+xml']) {
      const { table } = await open(behaviorsOf({ rows: 30, type }));
      const error = await fails(() => table.query().limit(30).toArrow(), 'Internal', 'a web page instead of rows');
      assert.deepEqual([error.operation, error.identifier], ['QueryTable', 'a']);
      await fails(() => table.queryIpc({ limit: 30 }), 'Internal', type.toLowerCase());
    }
    for (const type of ['application/octet-stream', '']) {
      const { table } = await open(behaviorsOf({ rows: 30, type }));
      assert.equal((await table.query().limit(30).toArrow()).numRows, 30);
    }
  });

  suite('that is slow', () => {
    test('with a response that is no stream of rows ends with an error', async () => {
      const server = await here.serve({ '*': dripping(200) });
      const wire = here.open({ uri: server.uri, retries: 3, timeouts: { json: 300 } });
      const namespaces = { operation: 'ListNamespaces', id: [] } as const;
      await fails(() => wire.json(namespaces), 'ServiceUnavailable', 'within 0.3 s', 'timeouts.json');
      assert.equal(server.seen.length, 1);
      const refused = await here.serve({ '*': dripping(403) });
      const other = here.open({ uri: refused.uri, timeouts: { json: 300 } });
      await fails(() => other.json(namespaces), 'PermissionDenied', '403');
    });

    test('with a query plan ends with an error, and with rows does not', async () => {
      const server = await here.serve({
        'POST /v1/table/a/describe': json({ version: 1 }),
        'POST /v1/table/a/explain_plan': dripping(200),
        [query]: slowRows,
        '*': noTables,
      });
      const db = await here.catalog({ uri: server.uri, timeouts: { json: 300 } });
      const table = await db.openTable('a');
      await fails(() => table.query().explainPlan(), 'ServiceUnavailable', 'timeouts.json');
      assert.equal((await table.query().limit(90).toArrow()).numRows, 90);
    });
  });

  suite('that compresses responses', () => {
    for (const encoding of Object.keys(encodings) as (keyof typeof encodings)[]) {
      test(`with ${encoding} is understood: lists, rows and errors`, async () => {
        const rows = tableToIPC(new Table({ id: makeVector(new Int32Array(5000)) }), 'stream');
        const { server, table } = await open({
          'POST /v1/table/a/describe': coded(encoding, 200, 'application/json', '{"version":1}'),
          [query]: coded(encoding, 200, arrowStreamMime, rows),
          'GET /v1/namespace/%24/list': coded(encoding, 200, 'application/json', '{"namespaces":["n"]}'),
          'POST /v1/namespace/n/describe': coded(encoding, 404, 'application/json', '{"error":"It is gone.","code":1}'),
          '*': coded(encoding, 200, 'application/json', '{"tables":[]}'),
        });
        assert.equal((await table.query().limit(5000).toArrow()).numRows, 5000);
        const db = await here.catalog({ uri: server.uri });
        assert.deepEqual((await db.listNamespaces()).namespaces, ['n']);
        await fails(() => db.describeNamespace(['n']), 'NamespaceNotFound', '"n"');
      });
    }

    test('is refused by name in other encodings, and for data that is not compressed or cut off', async () => {
      const list = gzipSync(JSON.stringify({ namespaces: Array.from({ length: 500 }, (_, index) => `n${index}`) }));
      for (const [encoding, body, said] of [
        ['compress', list, 'the encoding "compress", which is not supported'],
        ['gzip, gzip', list, 'the encoding "gzip, gzip"'],
        ['gzip', '{"namespaces":[]}', 'not valid gzip'],
        ['gzip', list.subarray(0, 200), 'not valid gzip'],
        ['br', '{"namespaces":[]}', 'not valid br'],
        ['zstd', '{"namespaces":[]}', 'not valid zstd'],
      ] as const) {
        const server = await here.serve({
          '*': bytes(200, 'application/json', body, { 'content-encoding': encoding }),
        });
        const db = await here.catalog({ uri: server.uri });
        await fails(() => db.listNamespaces(), 'Internal', said, 'without compression');
      }
      const none = await here.serve({
        '*': bytes(200, 'application/json', '{"namespaces":[]}', { 'content-encoding': 'identity' }),
      });
      assert.deepEqual((await (await here.catalog({ uri: none.uri })).listNamespaces()).namespaces, []);
    });

    test('that become far too large is refused', async () => {
      const spaces = gzipSync(Buffer.alloc(80 * 1024 * 1024, ' '));
      const server = await here.serve({ '*': bytes(200, 'application/json', spaces, { 'content-encoding': 'gzip' }) });
      await fails(async () => (await here.catalog({ uri: server.uri })).listNamespaces(), 'Internal', '67108864 bytes');
      const zeros = new Table({ id: makeVector(new Float64Array(2 * 1024 * 1024)) });
      async function* batches() {
        yield* [...zeros.batches, ...zeros.batches];
      }
      const chunks: Uint8Array[] = [];
      for await (const chunk of encodeStream(zeros.schema, batches())) chunks.push(gzipSync(chunk));
      const rows = Buffer.concat([chunks[0]!, ...Array.from({ length: 20 }, () => chunks[1]!)]);
      const { table } = await open({
        'POST /v1/table/a/describe': json({ version: 1 }),
        [query]: bytes(200, arrowStreamMime, rows, { 'content-encoding': 'gzip', ...confirmation }),
        '*': noTables,
      });
      let read = 0;
      const readAll = async (): Promise<void> => {
        for await (const { numRows } of table.query()) read += numRows;
      };
      await fails(readAll, 'Internal', 'more than 100 times as large when it is decompressed');
      assert.ok(read < 17 * zeros.numRows, `${read} rows`);
    });
  });

  test('whose lists always have another page is left', async () => {
    for (const [names, requests] of [
      [['same'], 2],
      [[], 1000],
    ] as const) {
      let page = 0;
      const server = await here.serve({
        'GET /v1/namespace/%24/table/list': (turn) => json({ tables: names, page_token: String((page += 1)) })(turn),
      });
      const db = await here.catalog({ uri: server.uri });
      await fails(() => db.tableNames(), 'Internal', 'a page of a list without new entries');
      // The first request of a connection finds out which lists the server has.
      assert.equal(server.seen.length, 1 + requests);
    }
  });

  test('that repeats a secret in an error does not show it, in any encoding', async () => {
    const key = 'k/y+1234567890~seCret ü';
    const forms = [
      key,
      encodeURIComponent(key),
      encodeURIComponent(key).replaceAll(/%../g, (code) => code.toLowerCase()),
      new URLSearchParams({ key }).toString(),
      JSON.stringify(key),
      base64(key),
      base64(`user:${key}`),
      base64(`me:${key}:x`),
      base64(`any:${key}`),
      encodeURIComponent(base64(`me:${key}`)),
      Buffer.from(`me:${key}`).toString('base64url'),
      Buffer.from(`any:${key}`, 'latin1').toString('base64'),
    ];
    for (const form of forms) {
      const server = await here.serve({ '*': refusal(403, 15, `The key ${form} is not accepted.`) });
      const wire = here.open({ uri: server.uri, apiKey: key });
      const error = await fails(
        () => wire.json({ operation: 'ListNamespaces', id: [] }),
        'PermissionDenied',
        'not accepted',
      );
      assert.match(error.message, /^The key .*…"? is not accepted/);
      for (const text of [error.message, String(error.cause)]) {
        assert.doesNotMatch(text, /123456|seCret|MTIzNDU2|IzNDU2Nz|EyMzQ1Nj/, form);
      }
    }
  });

  test('that repeats the password of a header does not show it', async () => {
    const password = 'pass-1234567890';
    const pair = Buffer.from(`me:${password}`).toString('base64');
    for (const form of [`Basic ${pair}`, pair, `me:${password}`, password]) {
      const server = await here.serve({ '*': refusal(403, 15, `No right for ${form} here.`) });
      const wire = here.open({ uri: server.uri, headers: { authorization: `Basic ${pair}` } });
      const list = () => wire.json({ operation: 'ListNamespaces', id: [] });
      const { message } = await fails(list, 'PermissionDenied', 'No right for ');
      assert.match(message, /^No right for (?:Basic )?… here/);
    }
  });

  test('that repeats a secret in a response that is not JSON does not show it', async () => {
    const key = 'key-1234567890';
    const server = await here.serve({ '*': bytes(200, 'application/json', `${key} is not JSON`) });
    const wire = here.open({ uri: server.uri, apiKey: key });
    const error = await fails(() => wire.json({ operation: 'ListNamespaces', id: [] }), 'Internal', 'not JSON');
    assert.match(String(error.cause), /… is not JSON/);
  });

  test('that closes connections or is down fails a test of its operations', async () => {
    for (const broken of [
      ({ response }) => void response.destroy(),
      bytes(502, 'text/html', ''),
      bytes(504, ''),
    ] satisfies Behavior[]) {
      const server = await here.serve({ 'GET /v1/namespace/%24/table/list': noTables, '*': broken });
      const db = await here.catalog({ uri: server.uri });
      await fails(() => db.capabilities({ probe: ['CountTableRows'] }), 'ServiceUnavailable', server.uri);
      assert.equal((await db.capabilities()).CountTableRows, 'unknown');
    }
    const server = await FaultyServerStandIn.start({ 'GET /v1/namespace/%24/table/list': noTables });
    const db = await here.catalog({ uri: server.uri });
    await server.stop();
    await fails(() => db.capabilities({ probe: ['CountTableRows'] }), 'ServiceUnavailable', 'ECONNREFUSED');
  });
});
