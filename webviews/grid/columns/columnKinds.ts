/** The kinds of columns that a user can look for. */
export const columnKinds = ['number', 'text', 'boolean', 'time', 'vector', 'binary', 'nested', 'other'] as const;
export type ColumnKind = (typeof columnKinds)[number];

export const kindLabels: Readonly<Record<ColumnKind, string>> = {
  number: 'Number',
  text: 'Text',
  boolean: 'Boolean',
  time: 'Date and time',
  vector: 'Vector',
  binary: 'Image and binary',
  nested: 'Nested',
  other: 'Other',
};

const numberType = /^(?:u?int\d+|halffloat|float|double|decimal)/;
const kindPatterns: readonly (readonly [ColumnKind, RegExp])[] = [
  ['number', numberType],
  ['text', /^(?:large_)?utf8/],
  ['boolean', /^bool$/],
  ['time', /^(?:timestamp|date|time|duration|interval)/],
  ['vector', /^fixed_size_list<(?:u?int\d+|halffloat|float|double)>/],
  ['binary', /^(?:(?:large_|fixed_size_)?binary|blob)/],
  ['nested', /^(?:struct|list|large_list|fixed_size_list|map|dense_union|sparse_union)/],
];

/** Returns the kind of a column by its formatted type. A dictionary is of the kind of its values. */
export function columnKind(type: string): ColumnKind {
  const values = /^dictionary<[^,]*, (.*)>$/.exec(type)?.[1] ?? type;
  return kindPatterns.find(([, pattern]) => pattern.test(values))?.[0] ?? 'other';
}
