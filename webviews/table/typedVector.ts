import { parseRow } from '../grid/goToRow.ts';
import { cutText } from '#shared/format/markup.ts';
import { type VectorType, vectorProblem } from '#shared/vectorTypes.ts';

/** What the user typed to search by: a row of the shown rows, from 0, or vectors. */
export type TypedVector = { row: number } | { vectors: number[][] } | { problem: string };

/**
 * Reads a row number, or a vector as JSON, as numbers between spaces, commas or semicolons, or as numpy prints it. A single number
 * is a row, and in brackets a vector.
 */
export function parseVector(typed: string, type: VectorType, numRows: number): TypedVector {
  const text = typed.trim();
  const { dimension, isMulti } = type;
  const wanted = isMulti
    ? `lists of ${dimension} numbers`
    : `${dimension} ${dimension === 1 ? 'number in brackets' : 'numbers'}`;
  if (text === '') return { problem: `Expected a row number or ${wanted}, got nothing.` };
  // A row number may have commas or spaces between its digits, and so may the numbers of a vector.
  const isRow = /^\d+$/.test(text) || (/^\d{1,3}([,_ ']\d{3})+$/.test(text) && numbersOf(text).length !== dimension);
  if (isRow) return parseRow(text, numRows);
  const lists = isMulti ? listsOf(text) : [inBrackets(text)];
  const vectors: number[][] = [];
  for (const list of lists) {
    const parts = numbersOf(list);
    const wrong = parts.findIndex((part) => part !== 'NaN' && (part === '' || Number.isNaN(Number(part))));
    if (wrong >= 0)
      return { problem: `Expected numbers, got "${cutText(parts[wrong]!, maxShown)}" at position ${wrong + 1}.` };
    vectors.push(parts.map(Number));
  }
  const problem = vectorProblem(vectors, type);
  return problem === undefined ? { vectors } : { problem: `${problem}.` };
}

const maxShown = 40;

/** Removes what surrounds the numbers in JSON, and in `array([0.1, 0.2], dtype=float32)` of numpy. */
const inBrackets = (text: string): string =>
  text
    .replace(/^(?:np\.)?array\(/, '')
    .replace(/(?:,\s*dtype=[\w.]+)?\)$/, '')
    .replace(/^\s*\[/, '')
    .replace(/\]\s*$/, '')
    .trim();

/** Returns the text of each list in a list of lists; a single list is one. */
function listsOf(text: string): string[] {
  const inner = inBrackets(text);
  const lists = inner.match(/\[[^[\]]*\]/g);
  return lists ? lists.map(inBrackets) : [inner];
}

const numbersOf = (text: string): string[] => (text === '' ? [] : text.split(/\s*[,;]\s*|\s+/));
