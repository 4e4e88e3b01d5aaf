import { computedColumns, registerFunction } from '#jobs/definition/registration.ts';
import { readFunction } from '#jobs/definition/functionSource.ts';
import { accept, isAccepted } from '#jobs/definition/trust.ts';
import { onTable } from '#jobs/openTable.ts';
import type { JobsMethods } from '#shared/jobs/jobMessages.ts';
import type { Handlers } from '#shared/rpc.ts';

type Definition = 'readFunction' | 'register' | 'computedColumns' | 'accept' | 'isAccepted';

/** What an editor asks about computed columns. */
export const definitionHandlers: Pick<Handlers<JobsMethods>, Definition> = {
  readFunction: ({ table, column, source }, signal) =>
    // The editor names files by absolute paths.
    onTable(table, signal, (opened) => readFunction(source, { folder: process.cwd(), table: opened, column }, signal)),
  register: async ({ table, column, function: fn }, signal) => {
    // Whoever registers a function here has it from here, and need not be asked about it.
    accept(fn.hash, { name: fn.name, table: table.name });
    await onTable(table, signal, (opened) => registerFunction(opened, column, fn, { signal }));
    return null;
  },
  computedColumns: ({ table }, signal) => onTable(table, signal, (opened) => computedColumns(opened, signal)),
  accept: ({ hash }) => (accept(hash), null),
  isAccepted: ({ hash }) => isAccepted(hash),
};
