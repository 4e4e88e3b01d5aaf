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
    pattern: /sql parser error|Error parsing statement|Error during planning|\bInvalidInput \{|Invalid user input/,
    means: () => ({ kind: 'InvalidInput' }),
  },
];

/**
 * What a server's text means where its code says nothing: upstream's own answers nearly everything that the engine
 * refuses as Internal (18), and a missing column as bad input. Any other code stands as it is.
 */
export function meaningOf(kind: CatalogErrorKind, text: string, { operation, id }: Asked): Meaning | undefined {
  if (kind !== 'Internal' && kind !== 'InvalidInput') return undefined;
  const about = `${operations[operation].subject === 'table' ? 'Table' : 'Namespace'} "${displayPath(id)}"`;
  for (const { pattern, means } of rules) {
    const found = pattern.exec(text);
    if (!found) continue;
    const meaning = means(about, found);
    // Bad input is what the code says already; the text may hold the words of another rule by chance.
    return kind === 'InvalidInput' && meaning.kind !== 'ColumnNotFound' ? undefined : meaning;
  }
  return undefined;
}

/** The first sentence of a text, without its causes and the paths of the machine that its server was built on. */
export function firstLine(text: string): string {
  const first = text.split(/\s*\n|\s+Caused by:|,?\s*\blocation: Location \{/i)[0] ?? '';
  return first
    .replace(/\b(?:InvalidInput|\w*Error|Internal|NotSupported) \{ source: "(.*?)"?$/, '$1')
    .replaceAll(/,?\s*(?:[A-Za-z]:)?[^\s,:"'`(]*[/\\][^\s,:"'`]+\.rs:\d+(?::\d+)?/g, '')
    .replace(/[\s,;:]+$/, '')
    .slice(0, 600);
}
