import type { Field } from '#arrow';
import type { CatalogErrorKind } from '#shared/errors.ts';

/** What was being done, for the sentence: `Table "shop/orders"`, `Namespace "shop"`. */
export type Subject = {
  kind: 'table' | 'namespace';
  name: string;
  /** Of a table. */
  namespace?: string;
  version?: number | undefined;
  /** The columns of the table and the filter as it was written, where they are known. */
  fields?: readonly Field[] | undefined;
  filter?: string | undefined;
};

/** What a text of the engine means. */
export type Rule = {
  pattern: RegExp;
  kind: CatalogErrorKind;
  say(subject: Subject, found: RegExpExecArray): [string, string];
};

export const thing = (subject: Subject): string =>
  `${subject.kind === 'table' ? 'Table' : 'Namespace'} "${subject.name}"`;

/** The engine's sentence without its causes, prefixes, and the paths of the machine that it was built on. */
export function firstLine(text: string): string {
  const first = text.split(/\s*\n|\s+Caused by:/)[0]!;
  return first
    .replaceAll(/,? \/(?:[^\s,:]+\/)*[^\s,:/]+\.rs:\d+:\d+/g, '')
    .replace(
      /^(?:(?:Failed to execute query stream: GenericFailure|Failed to get next batch from stream|lance error|Runtime error|Namespace error|Invalid input|Invalid user input|LanceError\(\w+\))[,:] )+/,
      '',
    )
    .replace(/[.\s]+$/, '')
    .slice(0, 600);
}
