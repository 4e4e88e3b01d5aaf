import { Table as ArrowTable, type RecordBatch } from '#arrow';
import { checkChoice, checkOneVersion, checkOptions } from '#catalog/arguments/options.ts';
import { checkCount, checkTexts } from '#catalog/arguments/tableArguments.ts';
import type { Catalog, ComparedTable, CompareOptions, CompareResult } from '#catalog/catalog.ts';
import { openPinned } from '#catalog/table/openPinned.ts';
import { checkKnownPath } from '#shared/names.ts';
import { changeKinds, countOfKind } from '#shared/protocol/changes.ts';
import { changeColumns, ChangeRows } from './changeRows.ts';
import { compareTables } from './compareTables.ts';

const optionNames = [
  'key',
  'columns',
  'kind',
  'limit',
  'onProgress',
  'signal',
] as const satisfies readonly (keyof CompareOptions)[];
const sideNames = ['path', 'catalog', 'version', 'tag', 'branch'] as const;
const defaultLimit = 1_000;

/** Milliseconds between two calls of `onProgress`. */
const progressMs = 100;

/** Compares two tables, or two versions of a table; see `Catalog.compare`. */
export async function compareInCatalog(
  catalog: Catalog,
  before: ComparedTable,
  after: ComparedTable,
  options: CompareOptions = {},
): Promise<CompareResult> {
  checkOptions('compare', options, optionNames);
  const { key, columns, limit = defaultLimit, onProgress, signal } = options;
  const kind = checkChoice('compare', 'kind', options.kind, changeKinds);
  if (limit !== 0) checkCount('compare', 'limit', limit);
  const keys = typeof key === 'string' ? [key] : key;
  if (keys) checkTexts('compare', 'key column', keys);
  if (columns) checkTexts('compare', 'column', columns);
  const [old, young] = await Promise.all([before, after].map((side) => openSide(catalog, side, signal)));
  const comparison = await compareTables(old!.table, young!.table, { key: keys, columns, signal });
  const { columnChanges, rowsRead } = comparison;
  const shown = changeColumns(comparison);
  const rows = new ChangeRows(shown);
  const batches: RecordBatch[] = [];
  const counts = { added: 0, removed: 0, changed: 0 };
  let [kept, toldAt] = [0, 0];
  for await (const change of comparison.changes) {
    counts[change.kind]++;
    if (kept < limit && (kind === undefined || kind === change.kind)) {
      kept++;
      const batch = rows.add(change);
      if (batch) batches.push(batch);
    }
    if (performance.now() - toldAt < progressMs) continue;
    toldAt = performance.now();
    onProgress?.({ ...counts, rows: rowsRead.before + rowsRead.after });
  }
  const last = rows.take();
  if (last) batches.push(last);
  return {
    ...counts,
    compared: rowsRead.before + counts.added,
    columnChanges: [...columnChanges],
    ...(comparison.key && { key: [...comparison.key] }),
    rows: batches.length > 0 ? new ArrowTable(shown.schema, batches) : new ArrowTable(shown.schema),
    isWhole: kept === countOfKind(counts, kind ?? null),
    ...(old!.version !== undefined && { before: old!.version }),
    ...(young!.version !== undefined && { after: young!.version }),
  };
}

function openSide(
  catalog: Catalog,
  side: ComparedTable,
  signal: AbortSignal | undefined,
): ReturnType<typeof openPinned> {
  const { path, catalog: other = catalog, ...at } = isPath(side) ? { path: side } : side;
  checkKnownPath(path);
  if (!isPath(side)) checkOptions('compare', side, sideNames);
  checkOneVersion('compare', at);
  return openPinned(other, path, { ...at, signal });
}

const isPath = (value: ComparedTable): value is readonly string[] => Array.isArray(value);
