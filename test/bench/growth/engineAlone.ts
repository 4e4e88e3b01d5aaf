// Shows the least that a page costs in a server in Node: it asks the engine and sends its bytes as they are. It has no
// keys, limits, checks, log or cancellation, and finds no table by its name.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from '@lancedb/lancedb';
import { isRecord } from '#shared/records.ts';

const [root] = process.argv.slice(2);
if (root === undefined) throw new Error('Say which folder to serve.');
// As of our server and upstream's, an answer has the newest rows.
const table = await (await connect(root, { readConsistencyInterval: 0 })).openTable('t');

type Buffers = { next(): Promise<Buffer | null> };

/** Reads a request as `/v1/table/t/query` has it: a number of rows, an offset and columns. */
function queryOf(body: unknown) {
  const { k, offset, columns } = isRecord(body) ? body : {};
  const query = table.query().limit(Number(k));
  if (offset !== undefined) query.offset(Number(offset));
  const names = isRecord(columns) ? columns['column_names'] : undefined;
  if (Array.isArray(names)) query.select(names.map(String));
  return query;
}

const server = createServer((request, response) => {
  void (async () => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(request, 'end');
    const query = queryOf(JSON.parse(Buffer.concat(chunks).toString()));
    // As our server does: the method is not public, and the public ones decode the rows.
    const batches = await (query as unknown as { nativeExecute(): Promise<Buffers> }).nativeExecute();
    const files: Buffer[] = [];
    for (let file = await batches.next(); file; file = await batches.next()) files.push(file);
    response.end(Buffer.concat(files));
  })();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
console.log((server.address() as AddressInfo).port);
// Ends with the parent process.
process.stdin.resume().once('end', () => process.exit(0));
