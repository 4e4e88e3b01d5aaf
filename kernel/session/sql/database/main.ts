import { endWithParent } from '#processes/running.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import type { SqlHostMethods, SqlMethods } from '#session/sql/sqlMessages.ts';
import { SqlDatabase } from './sqlDatabase.ts';

// The process that answers SQL queries. The kernel forks this process, because a process, unlike SQLite itself, can be
// stopped while it computes. The process receives requests over its IPC channel. It ends when the kernel disconnects or
// ends, even during a query.

process.on('disconnect', () => process.exit(0));
endWithParent(0);

let opened: SqlDatabase | undefined;
const database = (): SqlDatabase => (opened ??= new SqlDatabase());
const endpoint = new Endpoint<SqlMethods, SqlHostMethods>((frame) => process.send?.(frame), {
  missing: ({ text }) => database().missing(text),
  define: ({ fields, ...place }) => database().define(place, fields),
  columns: ({ text }) => database().columns(text),
  insert: ({ rows, ...place }) => database().insert(place, rows),
  isEnough: ({ wanted, ...query }) => database().isEnough(query, wanted),
  answer: (query) => database().answer(query),
  close: () => {
    opened?.close();
    opened = undefined;
    return process.memoryUsage.rss();
  },
});
process.on('message', (frame) => void endpoint.receive(frame));
