import type { Table } from '@lancedb/lancedb';
import { DataType, type Field } from '#arrow';
import { findColumn } from '#catalog/arrow/emptyStruct.ts';
import { CatalogError } from '#shared/errors.ts';

// The engine stores a type as a string such as `timestamp:us:UTC`, and can't read it back if the time zone has a colon.
// Then it panics. It can add rows with such a time zone to a column with another one.

/** @throws CatalogError InvalidInput (13) naming a column whose time zone the engine can't store */
export function checkTimeZones(fields: readonly Field[]): void {
  let zone = '';
  const path = findColumn(fields, (type) => {
    zone = (DataType.isTimestamp(type) && type.timezone) || '';
    return zone.includes(':');
  });
  if (path === undefined) return;
  throw new CatalogError(
    'InvalidInput',
    `The column "${path}" has the time zone "${zone}", which the engine can't store.`,
    'Use the name of a zone, such as "Europe/Berlin", or "UTC". The instants stay the same.',
  );
}

/**
 * Checks the type of a column that SQL computes, as `checkTimeZones` does. SQL sets a time zone only by `arrow_cast`. Only
 * then the query is planned for its type, because planning takes time.
 */
export async function checkTimeZonesOfSql(native: Table, column: string, sql: string): Promise<void> {
  if (!/\barrow_cast\b[^]*\btimestamp\b[^:]*:/i.test(sql)) return;
  // The engine plans no query without a column of the table.
  const first = (await native.schema()).fields[0]?.name ?? '';
  const columns = new Map([
    [first, `\`${first}\``],
    [column, sql],
  ]);
  const { fields } = await native.query().select(columns).outputSchema();
  checkTimeZones(fields.filter(({ name }) => name === column));
}
