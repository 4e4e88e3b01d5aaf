import type { Duplex } from 'node:stream';
import { encodeFrame, readFrames } from '#shared/protocol/frames.ts';
import { checkedHandlers, Endpoint } from '#shared/protocol/rpc.ts';
import { viewsChecks, type ViewsHostMethods, type ViewsMethods } from '#shared/protocol/viewsMessages.ts';
import { openSqlEngine } from '#sql/sqlEngine.ts';
import { exportTable } from './exportTable.ts';
import { explainSql } from './explainSql.ts';
import { findTarget } from './findTarget.ts';
import { OpenCatalogs } from './openCatalogs.ts';
import { checkStatements, readPurpose } from './readStatements.ts';
import { TableChanges } from './tableChanges.ts';
import { SqlResults } from './sqlResults.ts';
import { TableViews } from './tableViews.ts';

/**
 * Serves the requests of one window.
 * @param pipe connection to the window; the caller handles its close
 * @param end called when the data from the window can no longer be parsed
 */
export function serveViews(pipe: Duplex, end: () => void): void {
  const engine = openSqlEngine();
  const catalogs = new OpenCatalogs();
  const results = new SqlResults({
    engine,
    catalogs,
    // The request fails only when the pipe closes, and the caller handles that.
    report: (id, state) => void window.request('resultChanged', { id, state }).catch(() => {}),
  });
  const tables = new TableViews({
    catalogs,
    report: (id, state) => void window.request('viewChanged', { id, state }).catch(() => {}),
  });
  const changes = new TableChanges({
    catalogs,
    report: (id, state) => void window.request('changesAdvanced', { id, state }).catch(() => {}),
  });
  const handlers = checkedHandlers<ViewsMethods>(
    {
      checkSyntax: ({ texts }, signal) => checkStatements(engine, texts, signal),
      readPurpose: ({ text }) => readPurpose(text),
      findTarget: (request, signal) => findTarget(catalogs, request, signal),
      explainSql: (request, signal) => explainSql({ engine, catalogs }, request, signal),
      startSql: (request) => (results.start(request), null),
      readRows: async ({ id, start, end: last }) => Buffer.from(await results.read(id, start, last)).toString('base64'),
      cancelSql: async ({ id }) => (await results.cancel(id), null),
      closeResult: async ({ id }) => (await results.close(id), null),
      exportTable: (request, signal) =>
        exportTable({ catalogs, tables, changes }, request, {
          signal,
          report: (rows) => void window.request('exportAdvanced', { id: request.id, rows }).catch(() => {}),
        }),
      openView: (request, signal) => tables.open(request, signal),
      readView: async (request, signal) => Buffer.from(await tables.read(request, signal)).toString('base64'),
      readRowIds: (request, signal) => tables.rowIds(request, signal),
      cancelView: ({ id }) => (tables.cancel(id), null),
      closeView: async ({ id }) => (await tables.close(id), null),
      hasRowIds: (request, signal) => changes.hasRowIds(request, signal),
      openChanges: (request, signal) => changes.open(request, signal),
      readChanges: async (request) => Buffer.from(await changes.read(request)).toString('base64'),
      cancelChanges: ({ id }) => (changes.cancel(id), null),
      closeChanges: async ({ id }) => (await changes.close(id), null),
      filterByCell: (request, signal) => tables.filterByCell(request, signal),
      countValues: (request, signal) => tables.countValues(request, signal),
    },
    viewsChecks,
    'the views process',
  );
  const window = new Endpoint<ViewsMethods, ViewsHostMethods>((frame) => void pipe.write(encodeFrame(frame)), handlers);
  readFrames(pipe, (message) => void window.receive(message), end);
  window.request('ready', null).catch(() => {});
}
