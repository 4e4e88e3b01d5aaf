/** Reads the value at an index of a column. */
export type ReadValue = (index: number) => unknown;

/**
 * Returns a function that makes a reader of rows from readers of columns. A row is a plain object with these names, in
 * this order. The code of the reader is generated with the names as literals, because filling an object in a loop takes
 * several times as long.
 */
export function createObjectMaker(
  names: readonly string[],
): (readers: readonly ReadValue[]) => (index: number) => Record<string, unknown> {
  const members = names.map((name, index) => `${keyCode(name)}: read${index}(index)`);
  const readers = names.map((_, index) => `read${index}`);
  const body = `const [${readers.join(', ')}] = readers; return (index) => ({ ${members.join(', ')} });`;
  // oxlint-disable-next-line typescript/no-implied-eval -- the code contains only names that are written as JSON
  return new Function('readers', body) as ReturnType<typeof createObjectMaker>;
}

// `__proto__` without brackets would set the prototype.
const keyCode = (name: string): string => (name === '__proto__' ? '["__proto__"]' : JSON.stringify(name));
