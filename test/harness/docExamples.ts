import { readFileSync } from 'node:fs';
import { inRoot } from '../../scripts/paths.ts';

/** A fenced block of a documentation page. */
export type DocExample = {
  readonly language: string;
  /** The words after the language: `file=words.ts`, `ray`. */
  readonly words: readonly string[];
  readonly text: string;
  /** The line of the page where the text starts. */
  readonly line: number;
};

/** Returns the fenced blocks of a page, in order. */
export function readDocExamples(page: string): readonly DocExample[] {
  const text = readFileSync(inRoot(page), 'utf8');
  return [...text.matchAll(/^```(\w+)([^\n]*)\n([^]*?)^```$/gm)].map((found) => ({
    language: found[1] ?? '',
    words: (found[2] ?? '').trim().split(' '),
    text: found[3] ?? '',
    line: text.slice(0, found.index).split('\n').length + 1,
  }));
}

/** Returns the name of a block for the title of a test. */
export const titleOfExample = ({ language, text }: DocExample): string =>
  `${language}: ${text.split('\n', 1)[0] ?? ''}`;
