import assert from 'node:assert/strict';
import type { ViewFile } from '#shared/viewFile.ts';
import type { Connection } from '../../../../extension/explorer/node.ts';
import { ViewApprovals } from '../../../../extension/viewFiles/viewApprovals.ts';
import { reviewOf, reviewOfProblem } from '../../../../extension/viewFiles/viewReview.ts';

const connection: Connection = { name: 'sample', kind: 'dir', root: '/data', source: 'person' };
const file: ViewFile = {
  connection: { kind: 'rest', uri: 'https://a.b', database: 'eu' },
  table: ['shop', 'order"s'],
  version: 3,
  view: { where: 'amount > 4', orderBy: [{ column: 'a"b', descending: true }] },
};
const known = { file, connection, isTrusted: true, isFile: true };

suite('What a view file shows before its rows', () => {
  test('is its connection, its table and its SQL', () => {
    const { title, facts, sql, actions } = reviewOf(known);
    assert.equal(title, 'View of shop/order"s');
    assert.deepEqual(
      facts.map(({ text }) => text),
      ['sample: /data', 'shop/order"s', '3'],
    );
    assert.equal(sql, 'select *\nfrom shop."order""s" -- version 3\nwhere amount > 4\norder by "a""b" desc');
    assert.deepEqual(actions, ['showRows', 'alwaysShowRows', 'openText']);
  });

  test('offers no rows if the workspace is not trusted, the connection is unknown, or it is an old version', () => {
    const offered = (change: Partial<typeof known>): string =>
      reviewOf({ ...known, ...change })
        .actions.filter((action) => action !== 'openText')
        .join(' ');
    assert.equal(offered({ isTrusted: false }), 'manageTrust');
    assert.equal(offered({ isFile: false }), '');
    assert.equal(reviewOf({ ...known, connection: undefined }).actions[0], 'connect');
    assert.equal(reviewOf({ ...known, connection: undefined }).facts[0]?.text, 'https://a.b, database eu');
    assert.equal(reviewOf({ ...known, connection: undefined, isTrusted: false }).actions[0], 'manageTrust');
  });

  test('is the place of a mistake', () => {
    const { note, actions, sql } = reviewOfProblem('x.lance-view.json', { line: 3, column: 7, message: 'Wrong.' });
    assert.equal(note, 'Line 3, column 7: Wrong.');
    assert.deepEqual([actions, sql], [['openText'], null]);
  });

  test('is not asked about again for the same content and the same catalog', async () => {
    const state = {
      kept: [] as readonly string[],
      approvedViews: (): unknown => state.kept,
      setApprovedViews: (hashes: readonly string[]) => {
        state.kept = hashes;
        return Promise.resolve();
      },
    };
    const approvals = new ViewApprovals(state);
    assert.equal(approvals.isApproved('{}', connection), false);
    await approvals.approve('{}', connection);
    await approvals.approve('{}', connection);
    assert.equal(state.kept.length, 1);
    assert.ok(approvals.isApproved('{}', { ...connection, name: 'other name' }));
    assert.equal(approvals.isApproved('{} ', connection), false);
    assert.equal(approvals.isApproved('{}', { ...connection, root: '/elsewhere' }), false);
  });
});
