import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import type { CallOptions } from './callOptions.ts';
import type { IndexInfo, IndexType, Table } from './table.ts';

/** Kinds of indexes by the words that engines and servers have for them, without case and punctuation. */
const types: Readonly<Record<string, IndexType>> = {
  BTREE: 'BTREE',
  BITMAP: 'BITMAP',
  LABELLIST: 'LABEL_LIST',
  FTS: 'FTS',
  INVERTED: 'FTS',
  IVFFLAT: 'IVF_FLAT',
  IVFSQ: 'IVF_SQ',
  IVFPQ: 'IVF_PQ',
  IVFRQ: 'IVF_RQ',
  IVFHNSWFLAT: 'IVF_HNSW_FLAT',
  IVFHNSWSQ: 'IVF_HNSW_SQ',
  IVFHNSWPQ: 'IVF_HNSW_PQ',
};

const typeOf = (word: string | undefined): IndexType | undefined =>
  types[(word ?? '').toUpperCase().replaceAll(/[^A-Z0-9]/g, '')];

/**
 * Makes the indexes of a table again on its copy: the same names, columns, kinds and distances. Other settings of an
 * index are told by no catalog, so they are the engine's. One that can't be made is a warning, since the rows are there.
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

async function make(source: Table, copy: Table, index: IndexInfo, options: CallOptions): Promise<string | undefined> {
  const { name, columns } = index;
  const [column, ...more] = columns;
  const type = typeOf(index.type);
  if (column === undefined || more.length > 0) return `it is on ${columns.length} columns.`;
  if (type === undefined) return `its kind is ${index.type === undefined ? 'not known' : `"${index.type}"`}.`;
  const distanceType = type.startsWith('IVF') ? await distanceOf(source, name, options) : undefined;
  await copy.createIndex(column, { ...options, type, name, replace: true, ...(distanceType && { distanceType }) });
  return undefined;
}

async function distanceOf(source: Table, name: string, options: CallOptions) {
  const { distanceType } = await source.indexStats(name, options).catch((error: unknown) => {
    toldAs(error);
    return { distanceType: undefined };
  });
  return (['l2', 'cosine', 'dot'] as const).find((known) => known === distanceType?.toLowerCase());
}

/** The text of an error that a copy can live with; throws the others: those pass, or nothing more would work. */
function toldAs(error: unknown): string {
  const isLasting =
    isCatalogError(error) &&
    !(['ServiceUnavailable', 'Throttling', 'Unauthenticated'] as const).some((kind) => error.kind === kind);
  if (!isLasting) throw error instanceof Error ? error : new CatalogError('Internal', messageOf(error), '');
  return error.message;
}
