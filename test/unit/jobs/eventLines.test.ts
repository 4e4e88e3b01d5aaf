import assert from 'node:assert/strict';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';
import { readEventLine } from '#jobs/eventLines.ts';
import { toSnake } from '#shared/jobs/caseKeys.ts';

const events: readonly JobEvent[] = [
  {
    at: 1,
    kind: 'planned',
    readVersion: 3,
    fragments: 8,
    rows: 100,
    committedFragments: 1,
    checkpointedFragments: 2,
    reusedRows: 10,
    writesBack: true,
  },
  { at: 2, kind: 'workers', ready: 0, wanted: 2 },
  { at: 2, kind: 'workers', ready: 0, wanted: 2, waitingFor: 'free resources in Ray' },
  { at: 3, kind: 'progress', rows: 5, errors: 0, computeSeconds: 0.5, readSeconds: 0.1, writeSeconds: 0 },
  { at: 4, kind: 'fragment', fragment: 0, computedRows: 5, reusedRows: 1, bytesWritten: 900, seconds: 0.2 },
  {
    at: 5,
    kind: 'errors',
    count: 1,
    // Column names are chosen by the user and stay unchanged.
    samples: [{ fragment: 0, row: 7, message: 'no\n@@{}', inputs: { some_text: 'a', camelCase: 'b' } }],
  },
  { at: 6, kind: 'writing', rows: 6 },
  { at: 6, kind: 'committed', fragments: [0, 1], version: 4, milliseconds: 3 },
  { at: 6, kind: 'committed', fragments: [0, 1], version: 4, milliseconds: 3, rows: 6 },
  { at: 7, kind: 'conflict', attempt: 1, dropped: [2], reason: 'somebody' },
  { at: 8, kind: 'restarted', what: 'worker', reason: 'killed' },
  { at: 9, kind: 'notice', text: 'é 東京' },
  { at: 10, kind: 'succeeded', rows: 100, reusedRows: 10, errors: 1, skipped: 0, bytesWritten: 900, version: 5 },
  { at: 11, kind: 'failed', code: 'StorageFull', message: 'm', hint: '' },
  { at: 12, kind: 'cancelled' },
];

/** Returns an event as a driver prints it. */
const lineOf = (event: JobEvent): string => `@@${JSON.stringify(toSnake(event))}`;

suite('lines of events', () => {
  for (const event of events)
    test(`bring "${event.kind}" back as it was (${event.at})`, () => {
      assert.deepEqual(readEventLine(lineOf(event)), event);
    });

  const hostile: Readonly<Record<string, string>> = {
    'text of the function': 'hello',
    'the mark alone': '@@',
    'a mark in the middle': ' @@{"kind":"cancelled","at":1}',
    'half of a line': '@@{"kind":"cancelled","at":1',
    'a list': '@@[{"kind":"cancelled","at":1}]',
    'no time': '@@{"kind":"cancelled"}',
    'a time that is no number': '@@{"kind":"cancelled","at":"1"}',
    'a negative time': '@@{"kind":"cancelled","at":-1}',
    'another kind': '@@{"kind":"reboot","at":1}',
    'a kind of the prototype': '@@{"kind":"constructor","at":1}',
    'a kind that is no text': '@@{"kind":["cancelled"],"at":1}',
    'a field that is missing': '@@{"kind":"notice","at":1}',
    'a field of another type': '@@{"kind":"notice","at":1,"text":7}',
    'rows below zero': '@@{"kind":"workers","at":1,"ready":-1,"wanted":1}',
    'rows that are no whole number': '@@{"kind":"workers","at":1,"ready":0.5,"wanted":1}',
    'a number that JSON cannot write': '@@{"kind":"workers","at":1,"ready":1e999,"wanted":1}',
    'a sample without a message': '@@{"kind":"errors","at":1,"count":1,"samples":[{"fragment":0,"row":0,"inputs":{}}]}',
    'inputs that are no text':
      '@@{"kind":"errors","at":1,"count":1,"samples":[{"fragment":0,"row":0,"message":"","inputs":{"a":1}}]}',
    'a restart of something else': '@@{"kind":"restarted","at":1,"what":"universe","reason":""}',
    'more than a megabyte': `@@{"kind":"notice","at":1,"text":"${'x'.repeat(1_000_001)}"}`,
  };
  for (const [title, line] of Object.entries(hostile))
    test(`are not taken from ${title}`, () => assert.equal(readEventLine(line), undefined));

  test('may say more than is known', () => {
    assert.deepEqual(readEventLine('@@{"kind":"cancelled","at":1,"by_whom":"me"}'), {
      kind: 'cancelled',
      at: 1,
      byWhom: 'me',
    });
  });

  test('cannot reach what all objects have', () => {
    readEventLine('@@{"kind":"cancelled","at":1,"__proto__":{"polluted":true}}');
    assert.equal((Object.prototype as { polluted?: boolean }).polluted, undefined);
  });
});
