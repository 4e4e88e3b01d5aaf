import assert from 'node:assert/strict';
import { request } from 'undici';
import { tempFolder } from '../../harness/temp.ts';
import { arrowType, rows } from './serveProcess.ts';
import { type Serving, startServing } from './serving.ts';

/** Sends a request to our server as any HTTP client would, without our client. */
async function ask(
  server: Serving,
  method: 'GET' | 'POST',
  path: string,
  body?: Uint8Array,
): Promise<{ status: number; body: unknown }> {
  const type = body ? arrowType : { 'content-type': 'application/json' };
  const answer = await request(`${server.uri}${path}`, {
    method,
    headers: { 'x-api-key': server.key, ...type },
    ...(method === 'POST' && { body: body ?? '{}' }),
  });
  return { status: answer.statusCode, body: await answer.body.json() };
}

const refusal = (body: unknown): { error: string; code: number; detail: string } =>
  body as { error: string; code: number; detail: string };

suite('the four addresses of the service on our server', function () {
  this.timeout(30_000);
  let server: Serving;
  setup(async () => {
    server = await startServing(tempFolder());
  });
  teardown(() => server.close());

  test('list a table once it is created', async () => {
    assert.deepEqual(await ask(server, 'GET', '/v1/tables'), { status: 200, body: { tables: [] } });
    const created = await ask(server, 'POST', '/v1/tables/things', rows(3));
    assert.equal(created.status, 200, JSON.stringify(created.body));
    assert.deepEqual(await ask(server, 'GET', '/v1/tables'), { status: 200, body: { tables: ['things'] } });
    assert.deepEqual(await ask(server, 'POST', '/v1/table/things/count_rows'), { status: 200, body: 3 });
  });

  test('create a namespace, and list the table that is created in it by the specification', async () => {
    assert.equal((await ask(server, 'POST', '/v1/namespace/outer/create')).status, 200);
    assert.equal((await ask(server, 'POST', '/v1/table/outer$x/create', rows(2))).status, 200);
    const inNamespace = await ask(server, 'GET', '/v1/namespace/outer/list');
    assert.deepEqual(inNamespace.body, { namespaces: [], tables: ['x'] });
    assert.deepEqual((await ask(server, 'GET', '/v1/tables')).body, { tables: [] });
  });

  test('refuse to create a table that GET /v1/tables would not list, and name the address that creates it', async () => {
    await ask(server, 'POST', '/v1/namespace/outer/create');
    for (const [path, creating] of [
      ['/v1/tables/outer$a', '/v1/table/outer$a/create'],
      ['/v1/tables/outer%24b', '/v1/table/outer%24b/create'],
      ['/v1/tables/outer.c?delimiter=.', '/v1/table/outer.c/create?delimiter=.'],
    ] as const) {
      const { status, body } = await ask(server, 'POST', path, rows(2));
      const { error, code, detail } = refusal(body);
      assert.deepEqual([status, code], [400, 13], path);
      assert.match(error, /"outer\/[abc]".*root namespace/);
      assert.ok(detail.includes(`POST ${creating}.`), detail);
      assert.equal((await ask(server, 'POST', creating, rows(2))).status, 200, creating);
    }
    assert.deepEqual((await ask(server, 'GET', '/v1/table')).body, { tables: ['outer$a', 'outer$b', 'outer$c'] });
  });
});
