import { readFile } from 'node:fs/promises';
import type { Catalog, ExportOptions } from '#catalog/catalog.ts';
import { openPinned } from '#catalog/table/openPinned.ts';
import { maxNearest, type NearestSpec } from '#catalog/view/nearestSpec.ts';
import { fileProblem } from '#processes/fileProblem.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { cutText } from '#shared/format/markup.ts';
import { displayPath } from '#shared/names.ts';
import { distanceTypes, parseVectorType } from '#shared/vectorTypes.ts';
import { choiceArgument, UsageError, wholeNumberArgument } from './command.ts';

/** The options of a search by vector. */
export const nearestArguments = {
  nearest: { type: 'string' },
  'nearest-column': { type: 'string' },
  'nearest-limit': { type: 'string' },
  'distance-type': { type: 'string' },
  'bypass-vector-index': { type: 'boolean' },
} as const;

type NearestValues = {
  readonly [Name in keyof typeof nearestArguments]?:
    ((typeof nearestArguments)[Name]['type'] extends 'boolean' ? boolean : string) | undefined;
};

/** The number of rows of a search without a limit, as in LanceDB. */
const defaultLimit = 10;

export const nearestHelp = `  --nearest VECTOR         only the rows nearest to a vector, the nearest first: "[0.1, 0.2]", or @FILE with such JSON
  --nearest-column COLUMN  the column of vectors to search (default: the only one)
  --nearest-limit COUNT    at most this many nearest rows, up to ${maxNearest} (default: --limit, or ${defaultLimit})
  --distance-type TYPE     ${distanceTypes.join(', ')} (default: that of the index; without an index l2, for bytes hamming)
  --bypass-vector-index    compare the vector with every row, also if there is an index`;

/** A search by vector, whose column may be the only one with vectors. */
export type NearestArgument = Omit<NearestSpec, 'column'> & { readonly column: string | undefined };

/**
 * Reads the options of a search by vector; `undefined` if there is none.
 * @param limit the number of rows to write
 * @throws UsageError
 */
export async function nearestArgument(
  values: NearestValues,
  limit: number | undefined,
): Promise<NearestArgument | undefined> {
  if (values.nearest === undefined) {
    const alone = (Object.keys(nearestArguments) as (keyof NearestValues)[]).find((name) => values[name] !== undefined);
    if (alone !== undefined) throw new UsageError(`--${alone} needs --nearest VECTOR.`);
    return undefined;
  }
  const k = wholeNumberArgument('--nearest-limit', values['nearest-limit'], { most: maxNearest });
  return {
    column: values['nearest-column'],
    vector: await readVector(values.nearest),
    k: k ?? Math.min(Math.max(limit ?? defaultLimit, 1), maxNearest),
    distanceType: choiceArgument('--distance-type', values['distance-type'], distanceTypes),
    ...(values['bypass-vector-index'] === true && { useIndex: false }),
  };
}

/** Reads a vector, or several for a column of lists of vectors. @throws UsageError */
async function readVector(given: string): Promise<NearestSpec['vector']> {
  const isFile = given.startsWith('@');
  const text = isFile ? await readVectorFile(given.slice(1)) : given;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message below says what is expected.
  }
  if (isVector(value)) return value;
  if (Array.isArray(value) && value.length > 0 && value.every((one) => isVector(one))) return value;
  const hint = isFile ? `got other content in "${given.slice(1)}"` : `got "${cutText(given, 40)}"`;
  throw new UsageError(`Expected a vector such as "[0.1, 0.2]", or @FILE, for --nearest, ${hint}.`);
}

const isVector = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number');

async function readVectorFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`Can't read the vector of --nearest from "${file}": ${fileProblem(error)}.`, { cause: error });
  }
}

/**
 * Returns the search with its column.
 * @throws UsageError if no column is named and the table has none or several; CatalogError as `openTable`
 */
export async function withVectorColumn(
  catalog: Catalog,
  path: readonly string[],
  nearest: NearestArgument,
  options: Pick<ExportOptions, 'version' | 'tag' | 'branch' | 'signal'>,
): Promise<NearestSpec> {
  const { column } = nearest;
  if (column !== undefined) return { ...nearest, column };
  const { table } = await openPinned(catalog, path, options);
  const { fields } = await table.schema({ signal: options.signal });
  const names = fields.filter(({ type }) => parseVectorType(typeText(type))).map(({ name }) => name);
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0) return { ...nearest, column: only };
  const what =
    only === undefined
      ? `"${displayPath(path)}" has no column of vectors to search.`
      : `"${displayPath(path)}" has several columns of vectors. Add --nearest-column with one of ${names.join(', ')}.`;
  throw new UsageError(what);
}
