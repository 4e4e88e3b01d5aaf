import { DataType, type Field } from '#arrow';
import { CatalogError } from '#shared/errors.ts';

// Types of columns that the engine can't store.
//
// The engine stores nothing for a struct without fields. A scan of all columns then reads the columns after the struct
// from the wrong place, and optimizing the table stores these wrong values. A scan that does not select the struct
// returns the right values.
//
// The engine stores a type as a string such as `timestamp:us:UTC`. If the time zone has a colon, the engine panics when
// it reads the string. Rows with such a time zone can still be added to a column that has another time zone.

/** Returns the path of the first struct without fields, as in `place.tags` or `places[].tags`. */
export const findEmptyStruct = (fields: readonly Field[]): string | undefined =>
  findColumn(fields, (type) => DataType.isStruct(type) && type.children.length === 0);

/** Returns the path of the first column, or part of one, whose type is wanted. */
export function findColumn(fields: readonly Field[], isWanted: (type: DataType) => boolean): string | undefined {
  for (const { name, type } of fields) {
    const found = inType(type as DataType, name, isWanted);
    if (found !== undefined) return found;
  }
  return undefined;
}

function inType(type: DataType, path: string, isWanted: (type: DataType) => boolean): string | undefined {
  if (DataType.isDictionary(type)) return inType(type.dictionary as DataType, path, isWanted);
  if (isWanted(type)) return path;
  const children = (type.children ?? []) as readonly Field[];
  if (DataType.isMap(type)) {
    const [key, value] = children[0]!.type.children as readonly Field[];
    return (
      inType(key!.type as DataType, `${path}[key]`, isWanted) ??
      inType(value!.type as DataType, `${path}[value]`, isWanted)
    );
  }
  const isNamed = DataType.isStruct(type) || DataType.isUnion(type);
  for (const child of children) {
    const found = inType(child.type as DataType, isNamed ? `${path}.${child.name}` : `${path}[]`, isWanted);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @throws CatalogError InvalidInput (13) naming the path of a struct without fields */
export function checkNoEmptyStruct(fields: readonly Field[]): void {
  const path = findEmptyStruct(fields);
  if (path !== undefined) throw emptyStructError(path);
}

export const emptyStructError = (path: string): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `The column "${path}" is an object without fields, which the engine can't store.`,
    'Leave it out, or give it at least one field.',
  );

/** @throws CatalogError InvalidInput (13) naming a column whose time zone has a colon */
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
