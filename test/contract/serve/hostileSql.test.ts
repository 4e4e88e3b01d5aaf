import assert from 'node:assert/strict';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { Random } from '../model/random.ts';
import { type ServeProcess, startServe, writeKeys } from './serveProcess.ts';

const key = 'a-key-that-may-only-read';
const headers = { 'x-api-key': key, 'content-type': 'application/json' };

/** A chain that overflows the engine's stack if it is parsed as one. */
const chain = '::string::int'.repeat(3_000);

/**
 * Parts of SQL that parsers read differently: starts of strings, names and comments, and the characters before them.
 */
const pieces = [
  "'", '"', '`', "''", '\\', "\\'", '/*', '*/', '--', '\n', '#', '@', '@@', '$', '$$', '?', ':', '::', ';', '(', ')',
  '[', '{', 'X', 'x', 'N', 'B', 'R', 'E', 'Q', 'NQ', 'U&', 'rb', '_utf8', 'DATE', 'INTERVAL', 'AND', 'IN', 'a', '1', '.',
  '<', '>', '-', '+', '|', '&', '~', '^', '%', '!', '=', ',', ' ', '\u00a0', '\u0000', 'é', '😀', 'X\'61\'', "X''",
] as const; // prettier-ignore

/** Returns one to four random parts. */
const somePieces = (random: Random): string =>
  Array.from({ length: 1 + random.below(4) }, () => random.pick(pieces)).join('');

suite('lance-catalog serve and SQL that is meant to end it', function () {
  this.timeout(180_000);
  let server: ServeProcess;

  suiteSetup(async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    await db.createTable('t', [{ id: 1, b: true, s: 'a' }]);
    await db.close();
    server = await startServe(['--root', root, '--keys', writeKeys([['reader', key, 'read-only', '*']])]);
  });
  suiteTeardown(() => server.stop());

  const post = (operation: string, body: object) =>
    server.send({ method: 'POST', path: `/v1/table/t/${operation}`, headers, body: JSON.stringify(body) });

  async function isAlive(): Promise<void> {
    assert.equal((await server.send({ method: 'GET', path: '/healthz' })).status, 200);
    assert.equal((await post('count_rows', {})).body, '1');
  }

  const slips: Record<string, string> = {
    'bytes with an escaped quote': `X'\\''${chain} --'`,
    'bytes with an escaped quote, not closed here': `X'\\''${chain}`,
    'a quote in a name that begins with a number sign': `#'a${chain} = 1 --'`,
    'a backtick in such a name': `#\`a${chain} = 1 --\``,
    'a quote in the name of a variable': `@@'a${chain} = 1 --'`,
    'a comment in the name of a variable': `@@/*${chain} = 1 --*/`,
  };
  for (const [name, sql] of Object.entries(slips)) {
    test(`refuses ${name}, in a condition and in a computed column`, async () => {
      for (const [operation, body] of [
        ['count_rows', { predicate: sql }],
        ['query', { vector: {}, k: 1, filter: sql }],
        ['query', { vector: {}, k: 1, columns: { column_aliases: { x: sql } } }],
        ['explain_plan', { query: { vector: {}, k: 1, filter: sql } }],
        ['analyze_plan', { vector: {}, k: 1, columns: { column_aliases: { x: sql } } }],
      ] as const) {
        assert.equal((await post(operation, body)).status, 400, operation);
      }
      await isAlive();
    });
  }

  const costly: Record<string, object> = {
    'hundreds of thousands of conditions': { filter: Array.from({ length: 199_000 }, () => 'b').join(' AND ') },
    'thousands of long conditions': {
      filter: Array.from({ length: 2_000 }, () => `id${'+id'.repeat(70)} = 1`).join(' OR '),
    },
    'comments that are not closed': { filter: '/* '.repeat(400_000) },
    'a text to search of many words': { full_text_query: { string_query: { query: 'row '.repeat(300_000) } } },
    'a column name of megabytes': { columns: { column_names: [`v${'.i'.repeat(900_000)}`] } },
    'hundreds of thousands of columns': { columns: { column_names: Array.from({ length: 200_000 }, () => 'id') } },
    'thousands of computed columns': {
      columns: { column_aliases: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`a${i}`, 'id'])) },
    },
  };
  for (const [name, part] of Object.entries(costly)) {
    test(`refuses ${name}, and does not keep others waiting`, async () => {
      const before = performance.now();
      const [refused] = await Promise.all([post('query', { vector: {}, k: 1, ...part }), isAlive()]);
      assert.equal(refused.status, 400, refused.body.slice(0, 200));
      // Parsing a JSON body of a megabyte takes milliseconds. Without the limits, each of these SQL texts would take
      // seconds.
      assert.ok(performance.now() - before < 2_000, `${performance.now() - before} ms`);
    });
  }

  test('takes a list of a hundred thousand keys', async () => {
    const { status, body } = await post('count_rows', {
      predicate: `id IN (${Array.from({ length: 100_000 }, (_, i) => -i).join(', ')}, 1)`,
    });
    assert.deepEqual([status, body], [200, '1']);
  });

  test('lives on after texts that are put together by chance', async () => {
    const random = new Random(42);
    const texts = Array.from({ length: 1_500 }, () => somePieces(random) + chain + somePieces(random));
    let planned = 0;
    const waiting = [...texts];
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let sql = waiting.pop(); sql !== undefined; sql = waiting.pop()) {
          const part = planned % 2 === 0 ? { filter: sql } : { columns: { column_aliases: { x: sql } } };
          const answer = await post('explain_plan', { query: { vector: {}, k: 1, ...part } }).catch((error: unknown) =>
            assert.fail(`${JSON.stringify(sql.replace(chain, '…'))}: ${String(error)}`),
          );
          assert.ok(answer.status >= 200, 'it answers');
          planned++;
        }
      }),
    );
    assert.equal(planned, texts.length);
    await isAlive();
  });
});
