import { writeExport } from '#catalog/export/exportTable.ts';
import { readChangeRows } from '#catalog/view/changeRows.ts';
import { compareTables } from '#catalog/view/compareTables.ts';
import { readViewRows } from '#catalog/view/tableRows.ts';
import type { ExportedChanges, ExportedFile, ExportRequest, RowSelection } from '#shared/protocol/viewsMessages.ts';
import { type OpenCatalogs, openTable } from './openCatalogs.ts';
import { openTables, type TableChanges } from './tableChanges.ts';
import { type TableViews, toNearestSpec } from './tableViews.ts';

/** Minimum time between two reports. */
const reportMs = 250;

type ExportDeps = { readonly catalogs: OpenCatalogs; readonly tables: TableViews; readonly changes: TableChanges };
type WriteOptions = {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { rows: number }) => void;
};
type ExportCall = {
  readonly signal: AbortSignal;
  /** Called with the number of written rows. */
  readonly report: (rows: number) => void;
};

/**
 * Writes rows of a table, or of a comparison, to a file, in the format that the ending of the file stands for.
 * @throws CatalogError as `Catalog.export`, InvalidInput (13) if the view or the comparison of the rows is closed; AbortError
 */
export async function exportTable(
  deps: ExportDeps,
  request: ExportRequest,
  { signal, report }: ExportCall,
): Promise<ExportedFile> {
  let reportedAt = performance.now();
  const onProgress = (progress: { rows: number }): void => {
    if (performance.now() - reportedAt < reportMs) return;
    reportedAt = performance.now();
    report(progress.rows);
  };
  const { catalog, path, file, version, where, orderBy, selection, nearest, changes } = request;
  if (changes) return exportChanges(deps, request, changes, { signal, onProgress });
  if (selection) return exportSelection(deps, request, selection, { signal, onProgress });
  return deps.catalogs.with({ catalog }, async (opened) => {
    const { rows, bytes } = await opened.catalog.export(path, file, {
      overwrite: true,
      ...(version !== null && { version }),
      ...(where.trim() !== '' && { where }),
      ...(orderBy.length > 0 && { orderBy }),
      ...(nearest && { nearest: toNearestSpec(nearest) }),
      signal,
      onProgress,
    });
    return { rows, bytes };
  });
}

async function exportSelection(
  { catalogs, tables }: ExportDeps,
  request: ExportRequest,
  { view, start, end, columns }: RowSelection,
  { signal, onProgress }: WriteOptions,
): Promise<ExportedFile> {
  const write = (read: ReadRows): Promise<ExportedFile> => writeRows(request.file, { signal, onProgress }, read);
  if (view !== null) {
    const range = { start, end, columns: columns ?? undefined };
    return tables.use(view, (open) => write(() => readViewRows(open, range, { signal })));
  }
  return catalogs.with(request, async ({ catalog }) => {
    const table = await openTable(catalog, request, signal);
    const query = table
      .query()
      .offset(start)
      .limit(end - start);
    return write(() => (columns ? query.select(columns) : query).execute({ signal }));
  });
}

/** Writes rows that differ between two tables. They are compared again if the comparison that is shown has not kept all. */
async function exportChanges(
  { catalogs, changes }: ExportDeps,
  { catalog: config, file, selection }: ExportRequest,
  { id, kind, key, before, after }: ExportedChanges,
  options: WriteOptions,
): Promise<ExportedFile> {
  if (selection) {
    const { start, end, columns: select } = selection;
    return changes.use(id, { kind, start, end, select }, (rows) => writeRows(file, options, async () => rows));
  }
  if (changes.hasAll(id, kind)) return changes.useAll(id, kind, (rows) => writeRows(file, options, async () => rows));
  const { signal } = options;
  return catalogs.with({ catalog: config }, async ({ catalog }) => {
    const tables = await openTables(catalog, { before, after }, signal);
    const compare = () => compareTables(...tables, { ...(key && { key }), signal });
    return writeRows(file, options, async () => readChangeRows(await compare(), kind));
  });
}

type ReadRows = Parameters<typeof writeExport>[2];

async function writeRows(file: string, options: WriteOptions, read: ReadRows): Promise<ExportedFile> {
  const { rows, bytes } = await writeExport(file, { overwrite: true, ...options }, read);
  return { rows, bytes };
}
