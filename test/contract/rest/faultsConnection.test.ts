import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../eventually.ts';
import { fails } from '../expect.ts';
import { Connecting } from './connecting.ts';
import { bytes, inTurn, json, readBody, refusal } from './faultyServer.ts';

const key = 'key-1234567890-secret';
const noTables = json({ tables: [] });
const namespaces = { operation: 'ListNamespaces', id: [] } as const;
const describeA = { operation: 'DescribeTable', id: ['a'], json: {} } as const;

/** Yields a body that fails after its first part. */
async function* breakingOff(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(10);
  await sleep(50);
  throw new Error('the disk is gone');
}

suite('a connection to a server', function () {
  this.timeout(20_000);
  const here = new Connecting();
  teardown(() => here.end());

  suite('that fails for a moment', () => {
    test('is asked again after 503 and after a connection that broke, and then it works', async () => {
      const broken = inTurn(
        bytes(503, 'text/plain', 'busy'),
        ({ response }) => void response.destroy(),
        json({ namespaces: ['a'] }),
      );
      const server = await here.serve({ '*': broken });
      const wire = here.open({ uri: server.uri, retries: 3 });
      assert.deepEqual(await wire.json(namespaces), { namespaces: ['a'] });
      assert.equal(server.seen.length, 3);
    });

    test('is asked again when the answer broke off in the middle', async () => {
      const half = inTurn(
        ({ response }) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
          response.write('{"namespaces":');
          setTimeout(() => response.destroy(), 20);
        },
        json({ namespaces: [] }),
      );
      const server = await here.serve({ '*': half });
      assert.deepEqual(await here.open({ uri: server.uri, retries: 1 }).json(namespaces), { namespaces: [] });
    });

    test('is given the time that it asks for by Retry-After, in seconds or as a date', async () => {
      for (const after of ['1', () => new Date(Date.now() + 2000).toUTCString()]) {
        const value = typeof after === 'string' ? after : after();
        const behavior = inTurn(json({ error: 'slow down', code: 21 }, 429, { 'retry-after': value }), noTables);
        const server = await here.serve({ 'GET /v1/namespace/%24/list': behavior });
        const began = Date.now();
        await here.open({ uri: server.uri, retries: 1 }).json(namespaces);
        const waited = Date.now() - began;
        assert.ok(waited >= 900 && waited < 15_000, `waited ${waited} ms for ${value}`);
      }
    });

    test('is believed and not waited for when it asks for an hour', async () => {
      const server = await here.serve({
        '*': json({ error: 'come back later', code: 21 }, 429, { 'retry-after': '3600' }),
      });
      const wire = here.open({ uri: server.uri, retries: 3 });
      const error = await fails(() => wire.json(namespaces), 'Throttling', 'come back later', '3600 s');
      assert.equal(error.status, 429);
      assert.equal(server.seen.length, 1);
    });

    test('gets nothing twice that could be done twice', async () => {
      const server = await here.serve({ '*': bytes(503, '') });
      const wire = here.open({ uri: server.uri, retries: 5 });
      await fails(
        () => wire.json({ operation: 'CreateTable', id: ['s', 'a'], arrow: new Uint8Array(8) }),
        'ServiceUnavailable',
      );
      await fails(
        () => wire.json({ operation: 'RenameTable', id: ['a'], json: { new_table_name: 'b' } }),
        'ServiceUnavailable',
      );
      await fails(
        () => wire.json({ operation: 'InsertIntoTable', id: ['a'], arrow: new Uint8Array(8) }),
        'ServiceUnavailable',
      );
      await fails(() => wire.json({ operation: 'DropTable', id: ['a'], json: {} }), 'ServiceUnavailable');
      assert.equal(server.calls.filter((call) => call.startsWith('POST')).length, 4);
    });

    test('is not waited for by a call that is cancelled', async () => {
      const server = await here.serve({ '*': json({ error: 'x', code: 17 }, 503, { 'retry-after': '20' }) });
      const wire = here.open({ uri: server.uri, retries: 3 });
      const abort = new AbortController();
      setTimeout(() => abort.abort(new Error('enough')), 100);
      await assert.rejects(wire.json({ ...namespaces, signal: abort.signal }), { message: 'enough' });
    });
  });

  suite('that is slow', () => {
    test('to answer ends with a sentence, and not asked again', async () => {
      const server = await here.serve({ '*': () => undefined });
      const wire = here.open({ uri: server.uri, retries: 3, timeouts: { headers: 200 } });
      await fails(() => wire.json(namespaces), 'ServiceUnavailable', 'took too long', 'timeouts.headers');
      assert.equal(server.seen.length, 1);
    });

    test('in the middle of an answer ends with another', async () => {
      const server = await here.serve({ '*': ({ response }) => void response.writeHead(200).write('{"names') });
      const wire = here.open({ uri: server.uri, timeouts: { body: 200 } });
      await fails(() => wire.json(namespaces), 'ServiceUnavailable', 'stopped sending in the middle', 'timeouts.body');
    });

    test('sees the connection close when the call is cancelled, before and in the middle of an answer', async () => {
      for (const begin of [false, true]) {
        let closed: Promise<unknown> | undefined;
        const server = await here.serve({
          '*': ({ request, response }) => {
            closed = once(request.socket, 'close');
            if (begin) response.writeHead(200).write('{');
            setTimeout(() => abort.abort(), 50);
          },
        });
        const abort = new AbortController();
        await assert.rejects(here.open({ uri: server.uri }).json({ ...namespaces, signal: abort.signal }), {
          name: 'AbortError',
        });
        await closed;
      }
    });
  });

  suite('that breaks off', () => {
    test('in the middle of rows fails with who it was, and not as an end', async () => {
      const server = await here.serve({
        '*': ({ response }) => {
          response
            .writeHead(200, { 'content-type': 'application/vnd.apache.arrow.stream' })
            .write(new Uint8Array(1000));
          setTimeout(() => response.destroy(), 50);
        },
      });
      const { body } = await here.open({ uri: server.uri }).send({ operation: 'QueryTable', id: ['a'], json: {} });
      const read = async () => {
        for await (const chunk of body) assert.ok(chunk.length > 0);
      };
      await fails(read, 'ServiceUnavailable', `127.0.0.1:${server.port}`, 'closed the connection');
    });

    test('leaves nothing behind when its answer is not read', async () => {
      const server = await here.serve({
        '*': ({ response }) => {
          response.writeHead(200, { 'content-type': 'application/vnd.apache.arrow.stream' }).write('x');
          setTimeout(() => response.destroy(), 50);
        },
      });
      // An unhandled error would end this process.
      await here.open({ uri: server.uri }).send({ operation: 'QueryTable', id: ['a'], json: {} });
      await sleep(150);
    });

    test('is not reachable: the sentence has the address and the reason', async () => {
      const server = await here.serve({});
      const { uri } = server;
      await here.end();
      const error = await fails(() => here.open({ uri }).json(namespaces), 'ServiceUnavailable', uri, 'ECONNREFUSED');
      assert.equal(error.operation, 'ListNamespaces');
      assert.equal(error.identifier, '/');
    });
  });

  suite('that sends an upload', () => {
    test('as it comes, and no further than the server reads', async () => {
      let sent = 0;
      const server = await here.serve({
        'POST /v1/table/a%24b/create': async (turn) => {
          await sleep(300);
          const before = sent;
          const { length } = await readBody(turn);
          turn.response.end(JSON.stringify({ before, length }));
        },
        '*': noTables,
      });
      const total = 64;
      const pieces = async function* () {
        for (; sent < total; sent++) yield new Uint8Array(1024 * 1024);
      };
      const answer = await here.open({ uri: server.uri }).json({
        operation: 'CreateTable',
        id: ['a', 'b'],
        arrow: pieces(),
      });
      assert.ok(typeof answer === 'object' && answer !== null && 'before' in answer && 'length' in answer);
      assert.equal(answer.length, total * 1024 * 1024);
      assert.ok(Number(answer.before) < total / 2, `${String(answer.before)} MB were sent to one who did not read`);
    });

    test('whose source fails breaks off for the server, and fails as the source did', async () => {
      let ended: 'whole' | 'broken' | undefined;
      const server = await here.serve({
        'POST /v1/table/a%24b/create': async (turn) => {
          ended = await readBody(turn).then(
            () => 'whole',
            () => 'broken',
          );
        },
        '*': noTables,
      });
      const wire = here.open({ uri: server.uri });
      await fails(
        () => wire.json({ operation: 'CreateTable', id: ['a', 'b'], arrow: breakingOff() }),
        'InvalidInput',
        'the disk is gone',
      );
      await eventually(() => assert.equal(ended, 'broken'));
    });

    test('that is cancelled lets go of a source that hangs', async () => {
      const server = await here.serve({ '*': noTables, 'POST /v1/table/a%24b/create': () => undefined });
      const abort = new AbortController();
      const pieces = async function* () {
        yield new Uint8Array(10);
        setTimeout(() => abort.abort(new Error('enough')), 50);
        await new Promise(() => undefined);
      };
      const create = { operation: 'CreateTable', id: ['a', 'b'], arrow: pieces(), signal: abort.signal } as const;
      await assert.rejects(here.open({ uri: server.uri }).json(create), { message: 'enough' });
    });
  });

  test('is kept for the next call', async () => {
    const server = await here.serve({ '*': noTables });
    const wire = here.open({ uri: server.uri });
    for (let call = 0; call < 20; call++) await wire.json(namespaces);
    // Two connections are allowed, because the next call may start before the pool has read the end of the earlier
    // response.
    assert.ok(server.connections <= 2, `${server.connections} connections for calls one after the other`);
  });

  test('that was closed rejects all calls, even running ones', async () => {
    const server = await here.serve({ '*': () => undefined });
    const wire = here.open({ uri: server.uri });
    const call = wire.json(describeA);
    setTimeout(() => void wire.close(), 50);
    await fails(() => call, 'InvalidInput', 'closed by this client');
    await fails(() => wire.json(describeA), 'InvalidInput', 'closed by this client');
  });

  test('keeps its keys out of what a server repeats of them', async () => {
    const server = await here.serve({ '*': refusal(401, 16, `The key ${key} is not one of ours.`) });
    const error = await fails(
      () => here.open({ uri: server.uri, apiKey: key }).json(namespaces),
      'Unauthenticated',
      '…',
    );
    assert.doesNotMatch(`${error.message} ${String(error.cause)}`, new RegExp(key));
  });
});
