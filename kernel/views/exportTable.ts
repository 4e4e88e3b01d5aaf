import type { ExportedFile, ExportRequest } from '#shared/protocol/viewsMessages.ts';
import type { OpenCatalogs } from './openCatalogs.ts';

/** Minimum time between two reports. */
const reportMs = 250;

/**
 * Writes rows of a table to a file, in the format that the ending of the file stands for.
 * @throws CatalogError as `Catalog.export`; AbortError
 */
export function exportTable(
  catalogs: OpenCatalogs,
  { catalog, path, file, version, where, orderBy }: ExportRequest,
  { signal, report }: { signal: AbortSignal; report: (rows: number) => void },
): Promise<ExportedFile> {
  return catalogs.with({ catalog, others: {} }, async (opened) => {
    let reportedAt = performance.now();
    const { rows, bytes } = await opened.catalog.export(path, file, {
      overwrite: true,
      ...(version !== null && { version }),
      ...(where.trim() !== '' && { where }),
      ...(orderBy.length > 0 && { orderBy }),
      signal,
      onProgress: (progress) => {
        if (performance.now() - reportedAt < reportMs) return;
        reportedAt = performance.now();
        report(progress.rows);
      },
    });
    return { rows, bytes };
  });
}
