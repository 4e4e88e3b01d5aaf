import type { RecordBatch } from '#arrow';
import { valueReader, type ReadValue } from './plainValues.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Made of the readers of the columns of a batch. */
type MakeRow = (readers: readonly ReadValue[]) => (row: number) => Row;

/**
 * Makes what gives the rows of batches as plain objects with these columns, so that `{ ...row }` and JSON work as anywhere.
 * Its code is written for the names: an object that is filled by a loop takes several times as long.
 */
export function rowMaker(names: readonly string[]): (batch: RecordBatch) => (row: number) => Row {
  // In brackets, since "__proto__" would be no property otherwise.
  const members = names.map((name, index) => `[${JSON.stringify(name)}]: read${index}(row)`);
  const readers = names.map((_, index) => `read${index}`);
  const body = `const [${readers.join(', ')}] = readers; return (row) => ({ ${members.join(', ')} });`;
  // oxlint-disable-next-line typescript/no-implied-eval -- of names that are written as JSON
  const make = new Function('readers', body) as MakeRow;
  return (batch) => make(names.map((name) => valueReader(batch.getChild(name)!)));
}
