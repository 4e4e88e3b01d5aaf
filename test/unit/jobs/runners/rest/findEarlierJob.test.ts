import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openRest } from '#catalog/rest/restCatalog.ts';
import { findEarlierJob } from '#jobs/runners/rest/findEarlierJob.ts';

/** Looks for a job on a server that responds to every request with a status. */
async function find(status: number): Promise<string | undefined> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'text/plain' }).end('no');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const catalog = await openRest({ uri, retries: 0 });
  const { signal } = new AbortController();
  try {
    return await findEarlierJob({ catalog, table: 't', column: 'c', id: 'job-1', askedAt: undefined, signal });
  } finally {
    await catalog.close();
    server.closeAllConnections();
    server.close();
  }
}

suite('The job of an earlier process', () => {
  for (const status of [404, 410])
    test(`is forgotten if the server answers ${status}`, async () => assert.equal(await find(status), undefined));

  for (const status of [401, 403, 408, 429, 503])
    test(`is unknown if the server answers ${status}`, () => assert.rejects(find(status), { status }));
});
