import assert from 'node:assert/strict';
import { type Operation, operations, readingOperations } from '#catalog/contract.ts';
import { addressOf } from '#catalog/transport/address.ts';
import { parsePreferences } from '#catalog/preferences.ts';
import { firstLine, parseServerError } from '#catalog/transport/errors.ts';
import { isRetryable, parseRetryAfter, retryDelay } from '#catalog/transport/retry.ts';

suite('tries of a request', () => {
  const passing = { retryAfter: undefined };

  test('wait a random part of a time that doubles up to five seconds', () => {
    const longest = [1, 2, 3, 4, 5, 6, 7].map((tries) => retryDelay(tries, 10, passing, 1));
    assert.deepEqual(longest, [200, 400, 800, 1600, 3200, 5000, 5000]);
    assert.equal(retryDelay(3, 10, passing, 0), 0);
    assert.equal(retryDelay(3, 10, passing, 0.5), 400);
  });

  test('end with their number, with what does not pass, and where a server wants too much patience', () => {
    assert.equal(retryDelay(4, 3, passing, 1), undefined);
    assert.equal(retryDelay(1, 3, undefined, 1), undefined);
    assert.equal(retryDelay(1, 3, { retryAfter: 30_000 }, 1), 30_000);
    assert.equal(retryDelay(1, 3, { retryAfter: 30_001 }, 1), undefined);
  });

  test('read Retry-After as seconds or as a date, and nothing else', () => {
    const now = Date.UTC(2026, 0, 1);
    assert.equal(parseRetryAfter('7', now), 7000);
    assert.equal(parseRetryAfter('Thu, 01 Jan 2026 00:00:05 GMT', now), 5000);
    assert.equal(parseRetryAfter('Wed, 31 Dec 2025 23:00:00 GMT', now), 0);
    for (const wrong of [undefined, '', '-1', '1.5', 'soon', '2026-01-01', '99999999999999']) {
      assert.equal(parseRetryAfter(wrong, now), undefined, wrong);
    }
  });

  test('are made of operations that change nothing, and of no other', () => {
    const changing =
      /^(Create|Drop|Rename|Insert|Merge|Update|Delete|Restore|Alter|Register|Deregister|Declare|Batch|Cancel|Refresh|Optimize)/;
    for (const operation of Object.keys(operations) as Operation[]) {
      assert.equal(isRetryable(operation), !changing.test(operation), operation);
    }
    assert.ok(readingOperations.size > 0);
  });
});

suite('addresses of the contract', () => {
  test('have the identifier, the index and the query, encoded', () => {
    const request = {
      operation: 'DropTableIndex',
      id: ['a b', 'ü'],
      indexName: 'i/$1',
      query: { x: 'a&b', y: undefined },
    } as const;
    assert.deepEqual(addressOf(request), {
      method: 'POST',
      path: '/v1/table/a%20b%24%C3%BC/index/i%2F%241/drop?x=a%26b',
    });
  });

  test('name the delimiter where it is another', () => {
    assert.equal(addressOf({ operation: 'DropTable', id: ['a$b', 'c'] }).path, '/v1/table/a%24b.c/drop?delimiter=.');
    assert.equal(addressOf({ operation: 'DropTable', id: ['a', 'c'] }, ':').path, '/v1/table/a%3Ac/drop?delimiter=%3A');
    assert.equal(addressOf({ operation: 'ListJobs' }, ':').path, '/v1/jobs/list');
  });
});

suite('what servers say', () => {
  const asked = { operation: 'QueryTable', id: ['shop', 't'] } as const;

  test('is cut to its first sentence, without build paths, places of files and dumps', () => {
    for (const [text, first] of [
      ['Plain words', 'Plain words'],
      ['Not there, /home/runner/work/lance/rust/src/a.rs:29:13', 'Not there'],
      ['Broken\n\nCaused by:\n  /x/y.rs:1:1', 'Broken'],
      ["tag 'x' for table at 'file:///tmp/root/a$t'", "tag 'x' for table"],
      [
        'Bad: InvalidInput { source: "no such thing", location: Location { file: "/a.rs", line: 1 } }',
        'Bad: no such thing',
      ],
      ['Failed to read: IO { source: Generic { store: "N/A" } }', 'Failed to read'],
      ['C:\\build\\x.rs:1:2', ''],
      ['Write connectNamespace("rest", { uri }).', 'Write connectNamespace("rest", { uri }).'],
      ['See https://example.com/a for more', 'See https://example.com/a for more'],
    ] as const) {
      assert.equal(firstLine(text), first, text);
    }
  });

  test('decides what an error is where the code is Internal, and where it is not stays as it is', () => {
    const internal = (text: string) => parseServerError('Internal', text, asked)?.kind;
    assert.equal(internal('Not supported: rename_table not implemented'), 'Unsupported');
    assert.equal(internal('Dataset at path a/_versions/99.manifest was not found'), 'VersionNotFound');
    assert.equal(internal('Schema error: No field named colour. Valid fields are id'), 'ColumnNotFound');
    assert.equal(internal('the disk is full'), undefined);
    assert.equal(parseServerError('TableNotFound', 'rename not implemented', asked), undefined);
    assert.equal(parseServerError('InvalidInput', 'feature not implemented', asked), undefined);
    assert.equal(parseServerError('Internal', 'No field named a.', asked)?.what, 'Table "shop/t" has no column "a".');
  });

  test('of wishes is read by their names', () => {
    assert.deepEqual([...parsePreferences('Order_By, wait=5; x').keys()], ['order_by', 'wait']);
    assert.deepEqual([...parsePreferences(undefined).keys()], []);
  });
});
