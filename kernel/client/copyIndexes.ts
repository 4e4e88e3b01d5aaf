import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import type { CallOptions } from './callOptions.ts';
import { indexSettings } from './indexSettings.ts';
import { indexTypeName, indexTypes } from './indexTypes.ts';
import type { IndexInfo, IndexType, Table } from './table.ts';

/**
 * Makes the indexes of a table again on its copy: the same names, columns, kinds, distances, and the settings that the
 * source tells. One that can't be made is a warning and no failure, since the rows are there.
 */
export async function copyIndexes(
  source: Table,
  copy: Table,
  options: CallOptions,
): Promise<{ indexes: string[]; warnings: string[] }> {
  const indexes: string[] = [];
  const warnings: string[] = [];
  const wanted = await source.listIndices(options).catch((error: unknown) => {
    warnings.push(`Which indexes there are is not known: ${toldAs(error)}`);
    return [];
  });
  if (wanted.length === 0) return { indexes, warnings };
  const there = await copy.listIndices(options).catch((error: unknown) => void toldAs(error));
  for (const index of wanted) {
    const problem = there?.some(({ name }) => name === index.name)
      ? undefined
      : await make(source, copy, index, options).catch((error: unknown) => toldAs(error));
    if (problem === undefined) indexes.push(index.name);
    else warnings.push(`The index "${index.name}" was not made: ${problem}`);
  }
  return { indexes, warnings };
}

const isKnown = (type: string): type is IndexType => Object.hasOwn(indexTypes, type);

/** @returns why it can't be made, if so */
async function make(source: Table, copy: Table, index: IndexInfo, options: CallOptions): Promise<string | undefined> {
  const { name, columns, details } = index;
  const [column, ...more] = columns;
  if (column === undefined || more.length > 0) return `it is on ${columns.length} columns.`;
  const type = indexTypeName(index.type ?? '');
  if (!isKnown(type)) return `its kind is ${type === '' ? 'not known' : `"${type}"`}.`;
  const settings = indexSettings(type, details);
  if (indexTypes[type] === 'vector') settings.distanceType ??= await distanceOf(source, name, options);
  await copy.createIndex(column, { ...settings, ...options, type, name, replace: true });
  return undefined;
}

async function distanceOf(source: Table, name: string, options: CallOptions) {
  const stats = await source.indexStats(name, options).catch((error: unknown) => void toldAs(error));
  return (['l2', 'cosine', 'dot'] as const).find((known) => known === stats?.distanceType?.toLowerCase());
}

/** Failures that pass, or after which nothing more would work: those end the copy, which can be gone on with. */
const fatal = ['ServiceUnavailable', 'Throttling', 'Unauthenticated'] as const;

/** The text of an error that a copy can live with; throws the others. */
function toldAs(error: unknown): string {
  if (isCatalogError(error) && !fatal.some((kind) => kind === error.kind)) return error.message;
  throw error instanceof Error ? error : new CatalogError('Internal', messageOf(error), '');
}
