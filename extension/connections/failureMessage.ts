import { isCatalogError, messageOf, type CatalogErrorKind } from '#shared/errors.ts';
import { nextStepIn } from '#shared/nextSteps.ts';
import type { ErrorAction } from '../explorer/node.ts';

const keyHints: { readonly [K in CatalogErrorKind]?: string } = {
  Unauthenticated: 'Correct the API key.',
  PermissionDenied: 'Use an API key with permission for this, or request access.',
};

/**
 * Returns message and hint for a failure. If the server rejected the key, replaces the server's hint, which is written
 * for programs: in VS Code the user only has to enter another key.
 */
export function failureMessage(error: unknown, remedy: ErrorAction): { what: string; hint: string } {
  if (!isCatalogError(error)) return { what: messageOf(error), hint: '' };
  const { error: what, detail } = error.toJSON();
  const hint = nextStepIn('editor', detail);
  return { what, hint: remedy === 'key' ? (keyHints[error.kind] ?? hint) : hint };
}

/** Returns `key` if the server rejected the credentials, else `retry`: other failures may be temporary. */
export const serverErrorAction = (error: unknown): ErrorAction =>
  isCatalogError(error, 'Unauthenticated') || isCatalogError(error, 'PermissionDenied') ? 'key' : 'retry';
