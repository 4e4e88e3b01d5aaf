import assert from 'node:assert/strict';
import { readReports, storedReports, withReport, type Reports } from '../../../../extension/cluster/storedReports.ts';
import { failed, passed, reportOf, results } from './recorded.ts';

const stored = (reports: unknown): unknown => JSON.parse(JSON.stringify(reports));

suite('reports that are kept for a later window', () => {
  test('come back as they were, but for objects to apply', () => {
    const reports = withReport(new Map(), reportOf());
    const read = readReports(stored(storedReports(reports))).get('prod');
    const kept = results.map((result) =>
      result === failed ? { ...failed, mend: { kind: 'command', command: 'kubectl apply -f -' } } : result,
    );
    assert.deepEqual(read, { ...reportOf(), results: kept });
  });

  test('are few, and the one that was shown last is the last', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'b'];
    const reports = names.reduce<Reports>(
      (all, profile) => withReport(all, reportOf([passed], { profile })),
      new Map(),
    );
    assert.deepEqual([...reports.keys()], ['c', 'd', 'e', 'f', 'g', 'b']);
  });

  const wrong: readonly (readonly [string, unknown])[] = [
    ['nothing', undefined],
    ['a text', 'report'],
    ['another version', [{ ...reportOf(), version: 2 }]],
    ['no date', [{ ...reportOf(), startedAt: 'yesterday' }]],
    ['no results', [{ ...reportOf(), results: null }]],
  ];
  for (const [what, value] of wrong) {
    test(`are none where something else is kept: ${what}`, () => assert.equal(readReports(value).size, 0));
  }

  test('leave out results of checks that are not there any more, and count the rest', () => {
    const old = { ...passed, id: 'of-an-older-version' };
    const read = readReports(stored([reportOf([passed, old as never])])).get('prod');
    assert.deepEqual([read?.results.length, read?.counts.pass], [1, 1]);
  });
});
