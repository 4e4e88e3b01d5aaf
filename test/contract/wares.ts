import type { Table } from '#catalog/table/table.ts';

/** Three rows to write. */
export const rows = [
  { id: 1, name: 'mug', price: 9.5 },
  { id: 2, name: 'lamp', price: 59 },
  { id: 3, name: 'chair', price: 120 },
];

/** Returns all rows of a table sorted by id, because no order is guaranteed. */
export const sorted = async (table: Table): Promise<unknown[]> =>
  (await table.query().toArray()).toSorted((a, b) => Number(a['id']) - Number(b['id']));
