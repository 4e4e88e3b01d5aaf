import type { Field } from '#arrow';
import type { CatalogErrorKind } from '#shared/errors.ts';

/** What the operation acts on, for the message: `Table "shop/orders"`, `Namespace "shop"`. */
export type Subject = {
  kind: 'table' | 'namespace';
  name: string;
  /** Set only for a table. */
  namespace?: string;
  version?: number | undefined;
  /** The columns of the table and the filter as written, if known. */
  fields?: readonly Field[] | undefined;
  filter?: string | undefined;
};

/** Maps an engine message to an error kind and a message with a hint. */
export type ErrorRule = {
  pattern: RegExp;
  kind: CatalogErrorKind;
  say(subject: Subject, found: RegExpExecArray): [string, string];
};

export const subjectText = (subject: Subject): string =>
  `${subject.kind === 'table' ? 'Table' : 'Namespace'} "${subject.name}"`;

/**
 * Returns a message without the words that the engine adds when a query or a merge fails at its start. So the message
 * is the same as that of a plan that fails.
 */
export const withoutQueryStart = (text: string): string =>
  text
    .replace(/^Failed to execute (?:query stream|merge insert): GenericFailure, /, '')
    .replace(/^Invalid input, Failed to parse UpdateIf condition: Invalid user input: /, 'Invalid input, ');

/** Returns the engine's sentence without its causes, prefixes and build machine paths. */
export function firstSentence(text: string): string {
  const first = text.split(/\s*\n|\s+Caused by:/)[0]!;
  return first
    .replaceAll(/,? \/(?:[^\s,:]+\/)*[^\s,:/]+\.rs:\d+:\d+/g, '')
    .replace(
      /^(?:(?:Failed to get next batch from stream|lance error|Runtime error|Namespace error|Invalid input|Invalid user input|LanceError\(\w+\))[,:] )+/,
      '',
    )
    .replace(/[.\s]+$/, '')
    .slice(0, 600);
}
