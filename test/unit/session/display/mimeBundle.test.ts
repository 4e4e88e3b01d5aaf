import assert from 'node:assert/strict';
import { jsonBundle } from '#session/display/mimeBundle.ts';
import { isCatalogError } from '#shared/errors.ts';

suite('A MIME bundle of a cell', () => {
  test('has bigints as numbers where those are exact, else as text', () => {
    assert.deepEqual(jsonBundle({ 'x/y': 1n, 'application/json': [{ id: -3n, big: 2n ** 60n }] }), {
      'x/y': 1,
      'application/json': [{ id: -3, big: '1152921504606846976' }],
    });
  });

  test('has the bytes of an image as base64 text', () => {
    assert.deepEqual(jsonBundle({ 'image/png': new Uint8Array([1, 2, 3]).subarray(1) }), { 'image/png': 'AgM=' });
  });

  test('has what a value says of itself for JSON', () => {
    assert.deepEqual(jsonBundle({ 'application/json': { at: new Date(0) } }), {
      'application/json': { at: '1970-01-01T00:00:00.000Z' },
    });
  });

  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  for (const [what, form] of [
    ['circle', circle],
    ['function', () => 1],
    ['nothing', undefined],
    ['symbol', Symbol('s')],
  ] as const) {
    test(`names its form that is a ${what}`, () => {
      assert.throws(
        () => jsonBundle({ 'text/plain': 'a', 'application/x-bad': form }),
        (error) =>
          isCatalogError(error, 'InvalidInput') && /Can't send the form "application\/x-bad"/.test(error.message),
      );
    });
  }

  for (const data of [null, undefined, 'text', ['text/plain'], { plain: 'text' }]) {
    test(`is not ${JSON.stringify(data)}`, () => {
      assert.throws(
        () => jsonBundle(data),
        (error) =>
          isCatalogError(error, 'InvalidInput') &&
          /(expected a MIME bundle, got a value of type \w+|is not a MIME type)\. Pass /.test(error.message),
      );
    });
  }
});
