import { displayPath } from '#shared/names.ts';
import type { CatalogErrorKind } from '#shared/errors.ts';
import { operations } from './operations.ts';
import type { Asked } from './transportWords.ts';

/** What a text means, and the sentence for it where its own words are not for people. */
type Meaning = { kind: CatalogErrorKind; what?: string; hint?: string };

type Rule = { pattern: RegExp; means: (about: string, found: RegExpExecArray) => Meaning };

const noColumn = (about: string, found: RegExpExecArray): Meaning => {
  const name = found.slice(1).find((group) => group !== undefined) ?? '';
  return { kind: 'ColumnNotFound', what: `${about} has no column "${name}".`, hint: 'See schema() for those it has.' };
};

/** First match wins. */
const rules: readonly Rule[] = [
  {
    pattern: /\bnot implemented\b|^\s*(?:not supported|unsupported)\b/i,
    means: () => ({ kind: 'Unsupported' }),
  },
  {
    pattern: /_versions\/(\d+)\.manifest was not found|\bversion (?:\w+:)?(\d+) (?:not found|does not exist)/i,
    means: (about, found) => ({
      kind: 'VersionNotFound',
      what: `${about} has no version ${found[1] ?? found[2]}.`,
      hint: 'See listVersions() for those it has.',
    }),
  },
  {
    pattern: /^tag '([^']+)'/i,
    means: (about, found) => ({ kind: 'TagNotFound', what: `${about} has no tag "${found[1]}".` }),
  },
  {
    pattern: /\bindex not found: name=([^\s,]+?)\.?(?:\s|,|$)/i,
    means: (about, found) => ({ kind: 'IndexNotFound', what: `${about} has no index "${found[1]}".` }),
  },
  { pattern: /FieldNotFound \{ field: Column \{[^}]*\bname: "([^"]*)"/, means: noColumn },
  { pattern: /No field named ["`]?([^\s"`]+?)["`]?\.(?:\s|$)/i, means: noColumn },
  { pattern: /\bcolumn '?([^\s']+)'? does not exist/i, means: noColumn },
  {
    pattern: /Commit conflict|Retryable commit|Too many concurrent writers/i,
    means: (about) => ({
      kind: 'ConcurrentModification',
      what: `${about} was changed by someone else at the same time.`,
      hint: 'Try again.',
    }),
  },
  {
    pattern: /does not have sufficient data, len|Invalid range \d+\.\.\d+ for object|file size is too small/,
    means: (about) => ({
      kind: 'InvalidTableState',
      what: `${about} can't be read: its files are broken or incomplete.`,
      hint: 'Restore them from a backup, or drop the table.',
    }),
  },
  {
    pattern: /sql parser error|Error parsing statement|Error during planning|\bInvalidInput \{|Invalid user input/,
    means: () => ({ kind: 'InvalidInput' }),
  },
];

/**
 * What a server's text means where its code says nothing: upstream's own answers nearly everything that the engine
 * refuses as Internal (18), and a missing column as bad input. Any other code stands as it is, and may find its sentence.
 */
export function meaningOf(kind: CatalogErrorKind, text: string, asked: Asked): Meaning | undefined {
  const about = thingOf(asked);
  for (const { pattern, means } of rules) {
    const found = pattern.exec(text);
    const meaning = found && means(about, found);
    if (!meaning) continue;
    const isRefined = kind === 'Internal' || (kind === 'InvalidInput' && meaning.kind === 'ColumnNotFound');
    if (isRefined || meaning.kind === kind) return meaning;
  }
  return undefined;
}

/** What a request was about, at the beginning of a sentence; nothing where it was about the whole server. */
export function thingOf({ operation, id }: Asked): string {
  const { subject } = operations[operation];
  if (subject === 'none') return 'The catalog';
  return `${subject === 'table' ? 'Table' : 'Namespace'} "${displayPath(id)}"`;
}

/** The first sentence of a text, without its causes, what the engine prints of itself, and paths of other machines. */
export function firstLine(text: string): string {
  const first = text.split(/\s*\n|\s+Caused by:|,?\s*\blocation: Location \{|:?\s*Schema \{ fields:/i)[0] ?? '';
  return first
    .replace(/\b(?:InvalidInput|\w*Error|Internal|NotSupported) \{ source: "(.*?)"?$/, '$1')
    .replace(/(?::\s*\w+)?\s*\{\s*(?:source|uri|store|field)\b.*$/, '')
    .replaceAll(/,?\s*(?:[A-Za-z]:)?[^\s,:"'`(]*[/\\][^\s,:"'`]+\.rs:\d+(?::\d+)?/g, '')
    .replaceAll(/\s*\bat ['"`]?[a-z][a-z0-9+.-]*:\/\/[^\s'"`,]*['"`]?/g, '')
    .replace(/[\s,;:]+$/, '')
    .slice(0, 600);
}
