import { isCatalogError, messageOf } from '#shared/errors.ts';
import type { Remedy } from './node.ts';

/**
 * What went wrong and what to do about it here. A server that does not know the key tells programs how to send one; who
 * reads it in the editor has only to type another.
 */
export function failureWords(error: unknown, remedy: Remedy): { what: string; hint: string } {
  if (!isCatalogError(error)) return { what: messageOf(error), hint: '' };
  const { error: what, detail } = error.toJSON();
  return { what, hint: remedy === 'key' && isCatalogError(error, 'Unauthenticated') ? 'Correct the API key.' : detail };
}
