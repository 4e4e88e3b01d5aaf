import assert from 'node:assert/strict';
import { type CachedModule, unfinishedModules } from '#session/run/cellModules.ts';

type Made = { loaded: boolean; children: CachedModule[] };

const made = (loaded: boolean): Made => ({ loaded, children: [] });

suite('Modules that an interrupt cut off', () => {
  test('are none where all are whole', () => {
    const [outer, inner] = [made(true), made(true)];
    outer.children.push(inner);
    assert.deepEqual(unfinishedModules({ outer, inner }), []);
  });

  test('are those that were being loaded, and not what those had loaded whole', () => {
    const [before, outer, whole, inner] = [made(true), made(false), made(true), made(false)];
    outer.children.push(whole, inner);
    assert.deepEqual(unfinishedModules({ before, outer, whole, inner }), ['outer', 'inner']);
  });

  test('have with them what took the half of one of them, at any distance', () => {
    const [outer, nearer, far, apart] = [made(false), made(true), made(true), made(true)];
    outer.children.push(far, apart);
    far.children.push(nearer);
    nearer.children.push(outer);
    assert.deepEqual(unfinishedModules({ outer, far, nearer, apart }), ['outer', 'far', 'nearer']);
  });

  test('leave alone who loads something of theirs only later: it was whole before', () => {
    const [lazy, late] = [made(true), made(false)];
    lazy.children.push(late);
    assert.deepEqual(unfinishedModules({ lazy, gone: undefined, late }), ['late']);
  });
});
