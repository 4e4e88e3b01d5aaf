// A minimal server in Node.js. It measures the lower bound for the cost of a page: it queries the engine and sends the
// bytes unchanged. It has no keys, limits, checks, log or cancellation, and serves a single table.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from '@lancedb/lancedb';
import { isRecord } from '#shared/records.ts';

const [root] = process.argv.slice(2);
if (root === undefined) throw new Error('Pass the folder to serve.');
// Responses contain the newest rows, as with our server and upstream's.
const table = await (await connect(root, { readConsistencyInterval: 0 })).openTable('t');

type Buffers = { next(): Promise<Buffer | null> };

/** Reads the number of rows, the offset and the columns from the body of a `/v1/table/t/query` request. */
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
    // Our server also calls this method. It is not public, but the public methods decode the rows.
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
