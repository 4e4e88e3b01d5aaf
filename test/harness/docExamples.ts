import { readFileSync } from 'node:fs';
import { inRoot } from '../../scripts/paths.ts';

/** A fenced block of a page of the documentation. */
export type DocExample = {
  readonly language: string;
  /** What follows the language: `file=words.ts`, `ray`. */
  readonly words: readonly string[];
  readonly text: string;
  /** Line of the page that the text begins at. */
  readonly line: number;
};

/** The fenced blocks of a page, in their order. */
export function readDocExamples(page: string): readonly DocExample[] {
  const text = readFileSync(inRoot(page), 'utf8');
  return [...text.matchAll(/^```(\w+)([^\n]*)\n([^]*?)^```$/gm)].map((found) => ({
    language: found[1] ?? '',
    words: (found[2] ?? '').trim().split(' '),
    text: found[3] ?? '',
    line: text.slice(0, found.index).split('\n').length + 1,
  }));
}

/** Name of a block for the title of a test. */
export const titleOfExample = ({ language, text }: DocExample): string =>
  `${language}: ${text.split('\n', 1)[0] ?? ''}`;
