import { writeExport } from '#catalog/export/exportTable.ts';
import { readViewRows } from '#catalog/view/tableRows.ts';
import type { ExportedFile, ExportRequest, RowSelection } from '#shared/protocol/viewsMessages.ts';
import { type OpenCatalogs, openTable } from './openCatalogs.ts';
import { type TableViews, toNearestSpec } from './tableViews.ts';

/** Minimum time between two reports. */
const reportMs = 250;

type ExportDeps = { readonly catalogs: OpenCatalogs; readonly tables: TableViews };
type ExportCall = {
  readonly signal: AbortSignal;
  /** Called with the number of written rows. */
  readonly report: (rows: number) => void;
};

/**
 * Writes rows of a table to a file, in the format that the ending of the file stands for.
 * @throws CatalogError as `Catalog.export`, InvalidInput (13) if the view of the rows is closed; AbortError
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
  const { catalog, path, file, version, where, orderBy, selection, nearest } = request;
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
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: { rows: number }) => void },
): Promise<ExportedFile> {
  const write = async (read: Parameters<typeof writeExport>[2]): Promise<ExportedFile> => {
    const { rows, bytes } = await writeExport(request.file, { overwrite: true, onProgress }, read);
    return { rows, bytes };
  };
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
