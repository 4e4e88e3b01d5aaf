import { isCatalogError, messageOf, type CatalogErrorKind } from '#shared/errors.ts';
import type { Remedy } from '../explorer/node.ts';

const keyHints: { readonly [K in CatalogErrorKind]?: string } = {
  Unauthenticated: 'Correct the API key.',
  PermissionDenied: 'Use an API key that may do this, or ask for access.',
};

/**
 * What went wrong and what to do about it here. A server that does not know the key tells programs how to send one; who
 * reads it in the editor has only to type another.
 */
export function failureWords(error: unknown, remedy: Remedy): { what: string; hint: string } {
  if (!isCatalogError(error)) return { what: messageOf(error), hint: '' };
  const { error: what, detail } = error.toJSON();
  return { what, hint: remedy === 'key' ? (keyHints[error.kind] ?? detail) : detail };
}

/** A server that says who may come in says so of the key; whatever else is wrong with it may be over the next time. */
export const serverRemedy = (error: unknown): Remedy =>
  isCatalogError(error, 'Unauthenticated') || isCatalogError(error, 'PermissionDenied') ? 'key' : 'retry';
