import assert from 'node:assert/strict';
import { boardOf, startBoard, withEvent } from '../../../../extension/cluster/checkBoard.ts';
import { renderRow, rowsOf, type CheckNode } from '../../../../extension/cluster/checkRows.ts';
import { ageText } from '#shared/format/times.ts';
import { countsText } from '../../../../extension/cluster/checkWords.ts';
import { failed, finished, headers, passed, reportOf, results, skipped, started } from './recorded.ts';

const board = boardOf(reportOf());
const rowOf = (id: (typeof results)[number]['id']): CheckNode => {
  const found = results.find((one) => one.id === id);
  assert.ok(found);
  return { kind: 'check', id, category: found.category };
};

suite('a row of the Cluster Checks view', () => {
  test('is a category with the checks of it', () => {
    assert.deepEqual(
      rowsOf(board, undefined, false).map((node) => node.category),
      ['connection', 'versions', 'identity', 'gcp'],
    );
    const versions = rowsOf(board, { kind: 'category', category: 'versions' }, false);
    assert.deepEqual(
      versions.map((node) => node.kind === 'check' && node.id),
      ['operator-running', 'operator-pairing'],
    );
    assert.deepEqual(rowsOf(board, rowOf('k8s-reach'), false), []);
  });

  test('is left out without a problem when only problems are wanted', () => {
    assert.deepEqual(
      rowsOf(board, undefined, true).map((node) => node.category),
      ['versions', 'identity'],
    );
  });

  test('stays while it is asked again, also when only problems are wanted', () => {
    const again = withEvent(startBoard('prod', headers, ['k8s-reach'], board), started('k8s-reach'));
    assert.deepEqual(rowsOf(again, { kind: 'category', category: 'connection' }, true), [rowOf('k8s-reach')]);
  });

  const looks = [
    // A passed check has no description, because its title states what is true. Screen readers also read that it
    // passed.
    ['k8s-reach', 'pass-filled', /^$/],
    ['rbac-pods-watch', 'error', /^failed · geneva\/runner may not watch pods\.$/],
    ['operator-pairing', 'warning', /^warning · /],
    ['operator-running', 'circle-slash', /^blocked · Not asked/],
    ['gcp-adc', 'debug-step-over', /^skipped · The profile names no project\.$/],
  ] as const;
  for (const [id, icon, description] of looks) {
    test(`says how it stands by an icon, and by a word where there is something to look at: ${id}`, () => {
      const view = renderRow(board, rowOf(id));
      assert.equal(view.icon.id, icon);
      assert.match(view.description, description);
    });
  }

  test('is read aloud with its status, what is wrong, and that something mends it', () => {
    const { spoken } = renderRow(board, rowOf('rbac-pods-watch'));
    assert.equal(
      spoken,
      'The service account may watch pods: failed. geneva/runner may not watch pods. A fix is available.',
    );
  });

  test('is read aloud as passed where its icon alone says so', () => {
    const { spoken } = renderRow(board, rowOf('k8s-reach'));
    assert.match(spoken, /^The API server answers: passed\. https/);
  });

  test('offers by its words what can be done: nothing, copy a text, copy a command, apply objects', () => {
    assert.equal(renderRow(board, rowOf('k8s-reach')).contextValue, 'check.pass');
    assert.equal(renderRow(board, rowOf('operator-pairing')).contextValue, 'check.warn.advice');
    assert.equal(renderRow(board, rowOf('rbac-pods-watch')).contextValue, 'check.fail.command.objects');
    const command = { ...failed, mend: { kind: 'command', command: 'helm install' } } as const;
    const view = renderRow(boardOf(reportOf([command])), rowOf('rbac-pods-watch'));
    assert.equal(view.contextValue, 'check.fail.command');
  });

  test('shows in its tooltip what was asked, what came back and what mends it', () => {
    const { tooltip } = renderRow(board, rowOf('rbac-pods-watch'));
    assert.match(tooltip, /SubjectAccessReview watch pods[^]*→ allowed: false[^]*kubectl apply -f -/);
  });

  test('shows what a cluster said as text, whatever Markdown it holds', () => {
    const evil = {
      ...failed,
      sentence: '[click](command:evil) <img src=x> **bold**',
      evidence: [{ asked: 'GET /', saw: '```\n[click](command:evil)' }],
    };
    const { tooltip } = renderRow(boardOf(reportOf([evil])), rowOf('rbac-pods-watch'));
    assert.match(tooltip, /\\\[click\\\]\\\(command:evil\\\) &lt;img src=x\\> \\\*\\\*bold/);
    assert.match(tooltip, /````\nGET \/\n {2}→ ```\n\[click\]\(command:evil\)\n````/, 'a longer fence is around it');
  });

  test('counts a category, the worst first', () => {
    const view = renderRow(board, { kind: 'category', category: 'versions' });
    assert.equal(view.description, '1 warning, 1 blocked');
    assert.equal(view.icon.id, 'circle-slash');
  });

  test('is open while something is to be done in it, and folded when nothing is', () => {
    const connection = { kind: 'category', category: 'connection' } as const;
    const running = startBoard('prod', headers);
    const identity = renderRow(board, { kind: 'category', category: 'identity' });
    assert.equal(identity.state, 'expanded');
    const folded = renderRow(board, connection);
    assert.equal(folded.state, 'collapsed');
    assert.equal(renderRow(running, connection).state, 'expanded');
    assert.notEqual(renderRow(running, connection).id, folded.id, 'else the editor keeps what it was');
  });

  test('says why nothing of a category was asked, and stands below those that were', () => {
    const first = {
      ...skipped,
      id: 'profile-complete',
      category: 'profile',
      sentence: 'The profile is not there.',
    } as const;
    const second = {
      ...first,
      id: 'bucket-uri',
      sentence: 'It needs profile-complete, which was skipped: The profile is not there.',
      reason: 'The profile is not there.',
    } as const;
    const aside = boardOf(reportOf([first, second, passed]));
    assert.deepEqual(
      rowsOf(aside, undefined, false).map((node) => node.category),
      ['connection', 'profile'],
    );
    const { description, state } = renderRow(aside, { kind: 'category', category: 'profile' });
    assert.deepEqual([description, state], ['2 skipped · The profile is not there.', 'collapsed']);
    const other = boardOf(reportOf([first, { ...first, id: 'bucket-uri', sentence: 'Another reason.' }, passed]));
    assert.equal(renderRow(other, { kind: 'category', category: 'profile' }).description, '2 skipped');
  });

  test('lists unknown results at their position with a separate label', () => {
    const result = { ...skipped, id: 'profile-complete', category: 'profile', cause: 'unknown' } as const;
    const doubtful = boardOf(reportOf([result, passed]));
    assert.deepEqual(
      rowsOf(doubtful, undefined, false).map((node) => node.category),
      ['profile', 'connection'],
    );
    const row = renderRow(doubtful, { kind: 'check', id: 'profile-complete', category: 'profile' });
    assert.match(row.description, /^not known · /);
    assert.equal(row.icon.id, 'question');
  });

  test('says how far a category is while it runs', () => {
    const running = [started('k8s-reach'), finished(passed), started('operator-pairing')].reduce(
      withEvent,
      startBoard('prod', headers),
    );
    assert.equal(renderRow(running, { kind: 'category', category: 'versions' }).description, '0 of 2');
    assert.equal(renderRow(running, { kind: 'category', category: 'versions' }).icon.id, 'loading~spin');
    assert.equal(renderRow(running, { kind: 'category', category: 'connection' }).description, '1 passed');
    assert.equal(renderRow(running, rowOf('operator-pairing')).icon.id, 'loading~spin');
    assert.equal(renderRow(running, rowOf('rbac-pods-watch')).description, 'waiting');
  });
});

suite('words about checks', () => {
  test('name what is there, the worst first', () => {
    assert.equal(
      countsText({ pass: 38, warn: 2, fail: 1, skipped: 0, blocked: 3 }),
      '1 failed, 2 warnings, 3 blocked, 38 passed',
    );
  });

  test('tell an age in one unit', () => {
    const now = Date.parse('2026-01-02T12:00:00Z');
    const ages = ['2026-01-02T11:59:30Z', '2026-01-02T11:57:00Z', '2026-01-02T09:59:00Z', '2025-12-30T12:00:00Z'];
    assert.deepEqual(
      ages.map((at) => ageText(at, now)),
      ['now', '3 min', '2 h', '3 d'],
    );
    assert.equal(ageText('2026-01-02T13:00:00Z', now), 'now', 'a clock that was set back');
  });
});
