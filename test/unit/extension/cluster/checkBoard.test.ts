import assert from 'node:assert/strict';
import {
  boardOf,
  checksOf,
  countsOf,
  endBoard,
  startBoard,
  withEvent,
} from '../../../../extension/cluster/checkBoard.ts';
import { blocked, failed, finished, headers, passed, reportOf, started, warned } from './recorded.ts';

suite('the board of a run of checks', () => {
  test('lists every check from the beginning, in the order of a report', () => {
    const board = startBoard('prod', headers);
    assert.deepEqual(
      checksOf(board).map(({ id }) => id),
      headers.map(({ id }) => id),
    );
    assert.deepEqual(
      checksOf(board, 'versions').map(({ id, progress, result }) => [id, progress, result]),
      [
        ['operator-running', 'waiting', undefined],
        ['operator-pairing', 'waiting', undefined],
      ],
    );
  });

  test('adds received results, and does not change an earlier board', () => {
    const before = startBoard('prod', headers);
    const asking = withEvent(before, started('k8s-reach'));
    const after = withEvent(asking, finished(passed));
    assert.equal(checksOf(asking, 'connection')[0]?.progress, 'asking');
    assert.deepEqual(checksOf(after, 'connection')[0]?.result, passed);
    assert.equal(after.pending.has('k8s-reach'), false);
    assert.equal(before.pending.get('k8s-reach'), 'waiting');
  });

  test('drops the results of an earlier full run when all checks run again', () => {
    const board = startBoard('prod', headers, undefined, boardOf(reportOf()));
    assert.equal(board.results.size, 0);
    const ended = endBoard(board, reportOf([passed]));
    assert.deepEqual([...(ended?.results.keys() ?? [])], ['k8s-reach']);
  });

  test('keeps the others when one is asked again', () => {
    const again = startBoard('prod', headers, ['rbac-pods-watch'], boardOf(reportOf()));
    assert.equal(again.results.size, 5);
    assert.deepEqual([...again.pending.keys()], ['rbac-pods-watch']);
    const mended = { ...passed, id: 'rbac-pods-watch', category: 'identity' } as const;
    const ended = endBoard(
      withEvent(again, finished(mended)),
      reportOf([mended], { startedAt: '2026-01-02T04:00:00Z' }),
    );
    assert.ok(ended?.report);
    assert.deepEqual(countsOf(ended), { pass: 2, warn: 1, fail: 0, skipped: 1, blocked: 1 });
    assert.equal(ended.report.startedAt, reportOf().startedAt, 'its age is that of its oldest answers');
  });

  test('lists what one that is asked again needs, once that was asked', () => {
    const board = withEvent(startBoard('prod', headers, ['operator-running']), started('k8s-reach'));
    assert.deepEqual(
      [...board.pending],
      [
        ['operator-running', 'waiting'],
        ['k8s-reach', 'asking'],
      ],
    );
    assert.deepEqual([...withEvent(board, finished(passed)).results.keys()], ['k8s-reach']);
  });

  test('takes nothing of another profile along', () => {
    const other = boardOf(reportOf([failed], { profile: 'staging' }));
    assert.equal(startBoard('prod', headers, ['k8s-reach'], other).results.size, 0);
  });

  test('stays what it was for checks that a stopped run did not come to', () => {
    const again = startBoard('prod', headers, ['rbac-pods-watch', 'k8s-reach'], boardOf(reportOf()));
    const unasked = { ...failed, status: 'skipped', sentence: 'The run was stopped.' } as const;
    const ended = endBoard(again, reportOf([passed, unasked], { stopped: true }));
    assert.equal(ended?.results.get('rbac-pods-watch')?.status, 'fail');
  });

  test('keeps the earlier results if the user stops a new full run', () => {
    const again = startBoard('prod', headers, undefined, boardOf(reportOf()));
    const unasked = { ...failed, status: 'skipped', sentence: 'The run was stopped.' } as const;
    const ended = endBoard(again, reportOf([passed, unasked], { stopped: true }));
    assert.equal(ended?.results.get('rbac-pods-watch')?.status, 'fail', 'a failure is not forgotten');
    assert.equal(ended?.report?.startedAt, reportOf().startedAt, 'its age is that of its oldest answers');
  });

  test('is what a first run came to when it is stopped', () => {
    const ended = endBoard(startBoard('prod', headers), reportOf([passed], { stopped: true }));
    assert.equal(ended?.report?.stopped, true);
  });

  test('is what the last run found when one ended without a report', () => {
    const again = startBoard('prod', headers, ['k8s-reach'], boardOf(reportOf([blocked, warned])));
    assert.deepEqual(endBoard(again, undefined)?.report, reportOf([blocked, warned]));
    assert.equal(endBoard(startBoard('prod', headers), undefined), undefined);
  });
});
