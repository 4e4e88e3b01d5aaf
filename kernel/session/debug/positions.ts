/** A position in source text; line and column count from 0, as in the inspector. */
export type Place = { line: number; column: number };

/** Maps positions in generated code to the user's code; undefined for code that the compiler added. */
export type Positions = { original(at: Place): Place | undefined };

/** Positions of code that runs unchanged. */
export const asWritten: Positions = { original: (at) => at };

/** The part of a generated line that starts at `column`; it comes from the position `original`. */
type Segment = { column: number; original: Place | undefined };

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const valueOfDigit = new Map(Array.from(digits, (digit, value) => [digit, value]));

/**
 * Reads the `mappings` of a source map with one source. Node's own reader can't be used: for a line that the compiler
 * added, the reader returns an earlier line of the user, and a debugger must not pause at that line.
 */
export function readPositions(mappings: string): Positions {
  const at: Place = { line: 0, column: 0 };
  const lines = mappings.split(';').map((line) => {
    let column = 0;
    return line
      .split(',')
      .filter((segment) => segment !== '')
      .map((segment): Segment => {
        const [toColumn = 0, source, toLine = 0, toOriginal = 0] = numbersOf(segment);
        column += toColumn;
        if (source === undefined) return { column, original: undefined };
        at.line += toLine;
        at.column += toOriginal;
        return { column, original: { ...at } };
      });
  });
  return {
    original: ({ line, column }) => lines[line]?.findLast((segment) => segment.column <= column)?.original,
  };
}

/**
 * Decodes Base64 VLQ: the highest bit of a digit is set if more digits follow, and the lowest bit of the number is the
 * sign.
 */
function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
    const bits = valueOfDigit.get(digit) ?? 0;
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >>> 1) : value >>> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}
