/** A place in a text; line and column count from 0, as the inspector has them. */
export type Place = { line: number; column: number };

/** Where places of generated code are in what the person wrote; undefined for code that the compiler added. */
export type Positions = { original(at: Place): Place | undefined };

/** Of code that runs as it was written. */
export const asWritten: Positions = { original: (at) => at };

/** From a column of a generated line on, `original` is what it stands for. */
type Segment = { column: number; original: Place | undefined };

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const valueOfDigit = new Map(Array.from(digits, (digit, value) => [digit, value]));

/**
 * Reads the `mappings` of a source map of one source. Node's own reader gives a place for every position, which is that of
 * an earlier line where the compiler added a line of its own; a debugger must not stop there.
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

/** Base64 digits of which the highest bit says that more follow, the lowest bit of the whole its sign. */
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
