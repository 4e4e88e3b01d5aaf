import type { GridColumn } from './columnTree.ts';

/** Types of columns whose values may be images. */
const imageType = /^(?:(?:large_)?binary(?:_view)?$|fixed_size_binary|blob$)/;

export const isImageColumn = ({ type }: Pick<GridColumn, 'type'>): boolean => imageType.test(type);

/** Types of columns whose values make no caption: bytes, vectors and nested values. */
const withoutCaption = /binary|^blob$|list|^map|^struct|union/;

export const isCaptionColumn = ({ type }: Pick<GridColumn, 'type'>): boolean => !withoutCaption.test(type);

/** Names of columns that describe a row, the best first. */
const idName = /^id$|_id$/i;
const captionNames = [
  /caption/i,
  /title/i,
  /^(?:label|name|alt)s?$/i,
  /label|name|descri|prompt|text|alt/i,
  /file|path|url|uri|key/i,
  idName,
];

/** Returns the column that describes the images best, by type and name; `undefined` if there is none. */
export function guessCaption(columns: readonly Pick<GridColumn, 'name' | 'type'>[]): number | undefined {
  const positions = [...columns.keys()];
  const strings = positions.filter((column) => /utf8/.test(columns[column]!.type) && isCaptionColumn(columns[column]!));
  for (const wanted of captionNames) {
    const found = strings.find((column) => wanted.test(columns[column]!.name));
    if (found !== undefined) return found;
  }
  if (strings[0] !== undefined) return strings[0];
  const ids = positions.filter((column) => isCaptionColumn(columns[column]!));
  return ids.find((column) => idName.test(columns[column]!.name));
}
