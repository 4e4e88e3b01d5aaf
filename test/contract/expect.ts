import assert from 'node:assert/strict';
import { isCatalogError, messageOf, type CatalogError, type CatalogErrorKind } from '#shared/errors.ts';

/** Asserts that a call fails with a kind of error whose message contains all `words`. Returns the error. */
export async function fails(
  call: () => Promise<unknown>,
  kind: CatalogErrorKind,
  ...words: readonly string[]
): Promise<CatalogError> {
  let thrown: unknown;
  try {
    await call();
  } catch (error) {
    thrown = error;
  }
  assert.ok(thrown !== undefined, `nothing failed, expected ${kind}`);
  assert.ok(isCatalogError(thrown), `not a CatalogError: ${messageOf(thrown)}`);
  assert.equal(thrown.kind, kind, `${thrown.kind} instead of ${kind}: ${thrown.message}`);
  for (const word of words) assert.ok(thrown.message.includes(word), `"${thrown.message}" does not say "${word}"`);
  // An error must not show where the engine was built.
  assert.doesNotMatch(thrown.message, /\.rs:\d+|\/rustc\/|\/home\/runner|cargo/);
  return thrown;
}
