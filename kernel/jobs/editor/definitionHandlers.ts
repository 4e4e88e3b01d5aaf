import { onCatalog } from '#jobs/openCatalog.ts';
import type { Table } from '#client/table.ts';
import type { TableReference } from '#shared/jobs/backfill.ts';
import type { JobsMethods } from '#shared/jobs/jobMessages.ts';
import type { Handlers } from '#shared/rpc.ts';

// What an editor asks about computed columns. Each loads what it needs: most windows never ask.

export const definitionHandlers: Pick<Handlers<JobsMethods>, 'readFunction'> = {
  readFunction: ({ table, column, source }, signal) =>
    onTable(table, signal, async (opened) => {
      const { readFunction } = await import('#jobs/definition/functionSource.ts');
      // The editor names files by absolute paths.
      return readFunction(source, { folder: process.cwd(), table: opened, column }, signal);
    }),
};

const onTable = <T>(
  { catalog, namespacePath, name }: TableReference,
  signal: AbortSignal,
  call: (table: Table) => Promise<T>,
): Promise<T> =>
  onCatalog(catalog, signal, async (opened) => call(await opened.openTable(name, { namespacePath, signal })));
