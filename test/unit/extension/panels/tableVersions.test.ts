import assert from 'node:assert/strict';
import { versionChoices } from '../../../../extension/panels/tableVersions.ts';
import { versionNotice } from '../../../../webviews/table/versionBar.ts';

const versions = [3, 2, 1].map((version) => ({ version, timestamp: new Date(Date.UTC(2026, 0, version)) }));

const rowsOf = (...args: Parameters<typeof versionChoices>) =>
  versionChoices(...args).map(({ label, description, value }) => [label, description?.split(' · ').slice(1), value]);

suite('The list of versions', () => {
  test('has tags, then the newest version first, which stays the newest', () => {
    assert.deepEqual(rowsOf({ versions, tags: { gold: 2, first: 1 } }, 2, ''), [
      ['gold', [], 2],
      ['first', [], 1],
      ['Version 3', ['newest'], 'newest'],
      ['Version 2', ['shown', 'tag gold'], 2],
      ['Version 1', ['tag first'], 1],
    ]);
  });

  test('offers a number that is typed and not in the list', () => {
    assert.deepEqual(versionChoices({ versions, tags: {} }, 3, ' 17 ')[0]?.value, 17);
    assert.equal(versionChoices({ versions, tags: {} }, 3, '2').length, 3);
    assert.equal(versionChoices({ versions, tags: {} }, 3, '0').length, 3);
    assert.equal(versionChoices({ versions, tags: {} }, 3, '-1').length, 3);
  });

  test('says why a server has no list, and keeps its tags', () => {
    const [first, second] = versionChoices({ versions: [], tags: { gold: 2 }, problem: 'Not supported.' }, 3, '');
    assert.deepEqual(first?.detail, 'Not supported. Type the number of a version to open it.');
    assert.deepEqual([first.value, second?.value], ['newest', 2]);
    const [typed] = versionChoices({ versions: [], tags: {}, problem: 'Not supported.' }, 3, '2');
    assert.equal(typed?.value, 2);
  });
});

suite('The bar of versions', () => {
  test('says that a chosen version is read-only, and that a newer one is available', () => {
    assert.deepEqual(versionNotice({ version: 3, newest: 8, isPinned: true }), {
      text: 'Version 3 of 8 · read-only',
      button: 'Show Newest',
    });
    assert.equal(versionNotice({ version: 3, isPinned: true })?.text, 'Version 3 · read-only');
    assert.deepEqual(versionNotice({ version: 3, newest: 8 }), { text: 'Version 8 is available', button: 'Show' });
  });

  test('is absent for the newest version and for rows without versions', () => {
    assert.equal(versionNotice({ version: 8, newest: 8 }), undefined);
    assert.equal(versionNotice({ version: 8 }), undefined);
    assert.equal(versionNotice({ version: null, newest: 8 }), undefined);
  });
});
