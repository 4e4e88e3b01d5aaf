import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { ForwardedRequest } from '#catalog/engineProcess.ts';
import { retryAfterOf } from '#catalog/transport/retry.ts';
import { type PoolOptions, type PooledRequest, QueryPool, type StopReason } from '#engine/pool/queryPool.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';

type Call = {
  readonly path: string;
  readonly body: PassThrough;
  answer(status?: number, rows?: unknown): void;
  break(): void;
};

/**
 * Stands in for a process for queries. It answers when a test says so, because a real engine can't be made to fail at a
 * given moment.
 */
class QueryProcessStandIn {
  readonly calls: Call[] = [];
  isKilled = false;
  isDisposed = false;
  isFull = false;
  readonly #listeners: ((exit: { code: number | null; signal: NodeJS.Signals | null }) => void)[] = [];

  forward({ path, body: sent }: ForwardedRequest, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const body = new PassThrough();
      body.on('error', () => undefined);
      const breaks = (cause: Error): void => {
        reject(cause);
        body.destroy(cause);
      };
      signal.addEventListener('abort', () => breaks(signal.reason as Error));
      const answer = (status = 200, value?: unknown): void => {
        resolve(Object.assign(body, { statusCode: status, headers: {} }) as unknown as IncomingMessage);
        if (value !== undefined) body.end(JSON.stringify(value));
      };
      this.calls.push({ path, body, answer, break: () => breaks(new Error('It ended by SIGABRT.')) });
      if (!(sent instanceof Uint8Array))
        void (async () => {
          for await (const _ of sent);
        })().catch(breaks);
    });
  }

  onDidExit(listener: (exit: { code: number | null; signal: NodeJS.Signals | null }) => void): { dispose(): void } {
    this.#listeners.push(listener);
    return { dispose: () => undefined };
  }

  /** Ends like a process that has run out of memory. */
  crash(): void {
    for (const listener of this.#listeners) listener({ code: null, signal: 'SIGABRT' });
    for (const call of this.calls) call.break();
  }

  kill(): void {
    this.isKilled = true;
    for (const listener of this.#listeners) listener({ code: null, signal: 'SIGKILL' });
  }

  dispose(): Promise<void> {
    this.isDisposed = true;
    return Promise.resolve();
  }
}

const request = (path: string, more: Partial<PooledRequest> = {}): PooledRequest => ({
  method: 'POST',
  path,
  headers: {},
  body: Buffer.from('{}'),
  config: { root: '/r' },
  owner: 'ana',
  sameAs: path,
  time: 10_000,
  ...more,
});

const refusal = async (answer: Promise<unknown>): Promise<CatalogError> => {
  try {
    await answer;
  } catch (error) {
    if (isCatalogError(error)) return error;
    throw error;
  }
  throw new Error('It was answered.');
};

suite('the pool of processes for queries', () => {
  let processes: QueryProcessStandIn[];
  let stops: StopReason[];
  let pool: QueryPool<QueryProcessStandIn>;
  const never = new AbortController().signal;

  const make = (options: Partial<PoolOptions<QueryProcessStandIn>> = {}): QueryPool<QueryProcessStandIn> =>
    new QueryPool({
      start: () => {
        const process = new QueryProcessStandIn();
        processes.push(process);
        return Promise.resolve(process);
      },
      processes: 3,
      processesPerOwner: 3,
      waitTime: 10_000,
      isFull: ({ isFull }) => isFull,
      onStopped: (reason) => stops.push(reason),
      ...options,
    });
  setup(() => {
    processes = [];
    stops = [];
    pool = make();
  });

  /** Runs a request and returns the whole body of its response. */
  const all = async (asked: PooledRequest, signal = never): Promise<string> => {
    const { chunks } = await pool.run(asked, signal);
    let text = '';
    for await (const chunk of chunks) text += Buffer.from(chunk).toString();
    return text;
  };

  /** Waits until a request with this path runs. Returns the request and its process. */
  const called = async (path: string): Promise<{ call: Call; process: QueryProcessStandIn }> => {
    for (let turns = 0; turns < 1000; turns++) {
      for (const process of processes) {
        const call = process.calls.findLast((one) => one.path === path);
        if (call) return { call, process };
      }
      await turn();
    }
    throw new Error(`No request ${path} runs.`);
  };

  /** Returns the number of running requests of each process, without idle processes. */
  const loads = (): number[] =>
    processes.map(({ calls }) => calls.filter(({ body }) => !body.writableEnded).length).filter((count) => count > 0);

  /** Lets requests of a kind share a process. */
  const learn = async (path: string): Promise<void> => {
    const answer = all(request(path));
    (await called(path)).call.answer(200, []);
    await answer;
  };

  test('runs new kinds of requests in processes of their own, one process less than there may be', async () => {
    const answers = ['a', 'b', 'c'].map((path) => all(request(path)));
    const first = await called('a');
    const second = await called('b');
    assert.notEqual(first.process, second.process);
    for (let turns = 0; turns < 20; turns++) await turn();
    assert.deepEqual([processes.length, processes.flatMap(({ calls }) => calls).length], [2, 2]);
    first.call.answer(200, 1);
    const third = await called('c');
    assert.equal(third.process, first.process);
    second.call.answer(200, 2);
    third.call.answer(200, 3);
    assert.deepEqual(await Promise.all(answers), ['1', '2', '3']);
  });

  test('runs kinds that ended well together, eight in a process', async () => {
    for (const path of ['a', 'b']) await learn(path);
    const answers = Array.from({ length: 9 }, (_, index) => all(request(index % 2 === 0 ? 'a' : 'b')));
    for (let turns = 0; turns < 50; turns++) await turn();
    assert.deepEqual(
      processes.map(({ calls }) => calls.length - (calls.length > 2 ? 2 : 0)),
      [8, 1],
    );
    for (const { calls } of processes) for (const call of calls) call.answer(200, []);
    await Promise.all(answers);
  });

  test('keeps a process for known kinds, also if new ones wait', async () => {
    await learn('known');
    const answers = ['a', 'b', 'c'].map((path) => all(request(path)));
    await called('b');
    const known = all(request('known'));
    for (let turns = 0; turns < 20; turns++) await turn();
    const last = processes[2]?.calls.at(-1);
    assert.equal(last?.path, 'known');
    last.answer(200, 'k');
    assert.equal(await known, '"k"');
    for (const path of ['a', 'b', 'c']) (await called(path)).call.answer(200, path);
    await Promise.all(answers);
  });

  test('refuses only the request whose process ends, and says when to send it again', async () => {
    const [lost, kept] = [refusal(all(request('lost'))), all(request('kept'))];
    const { process } = await called('lost');
    const other = await called('kept');
    process.crash();
    const error = await lost;
    assert.equal(error.kind, 'ServiceUnavailable');
    assert.equal(error.what, 'The request was stopped because it needed too much memory, or the engine failed.');
    assert.equal(retryAfterOf(error), 60_000);
    other.call.answer(200, 'here');
    assert.equal(await kept, '"here"');
    assert.deepEqual(stops, ['ended']);
    // Another process replaces the ended one, so two more requests can run.
    const again = all(request('again'));
    const third = all(request('third'));
    (await called('again')).call.answer(200, 1);
    (await called('third')).call.answer(200, 2);
    assert.deepEqual(await Promise.all([again, third]), ['1', '2']);
  });

  test('kills a process that takes too long, before its response and within it', async () => {
    const slow = refusal(all(request('slow', { time: 30 })));
    const { process } = await called('slow');
    assert.equal((await slow).what, 'The request was stopped because it took longer than 0.03 seconds.');
    assert.ok(process.isKilled);
    const halting = refusal(all(request('halting', { time: 30 })));
    const halted = await called('halting');
    halted.call.answer();
    halted.call.body.write('half');
    assert.equal((await halting).kind, 'ServiceUnavailable');
    assert.ok(halted.process.isKilled);
    assert.deepEqual(stops, ['time', 'time']);
  });

  test('does not count the time in which the caller reads nothing', async () => {
    const reply = pool.run(request('read slowly', { time: 40 }), never);
    const { call } = await called('read slowly');
    call.answer();
    call.body.write('one');
    const { chunks } = await reply;
    await chunks.next();
    await new Promise((resolve) => setTimeout(resolve, 80));
    call.body.end('two');
    assert.equal(Buffer.from((await chunks.next()).value!).toString(), 'two');
    assert.ok((await chunks.next()).done);
    assert.deepEqual(stops, []);
  });

  test('kills the process of a caller that leaves, since the engine would go on', async () => {
    const gone = new AbortController();
    const left = all(request('left'), gone.signal);
    const { process } = await called('left');
    gone.abort();
    await assert.rejects(left, { name: 'AbortError' });
    assert.ok(process.isKilled);
    const { chunks } = await (async () => {
      const reply = pool.run(request('half read'), never);
      const half = await called('half read');
      half.call.answer();
      half.call.body.write('rows');
      return reply;
    })();
    await chunks.next();
    await chunks.return();
    assert.ok(processes[1]?.isKilled);
    assert.deepEqual(stops, []);
  });

  test('lets those that share a process go on when one of them leaves, and gives it no more', async () => {
    await learn('known');
    const gone = new AbortController();
    const left = all(request('known'), gone.signal);
    const first = await called('known');
    const stays = all(request('known'));
    for (let turns = 0; turns < 20; turns++) await turn();
    const calls = first.process.calls.slice(-2);
    gone.abort();
    await assert.rejects(left, { name: 'AbortError' });
    assert.ok(!first.process.isKilled);
    const next = all(request('known'));
    for (let turns = 0; turns < 20; turns++) await turn();
    assert.equal(processes.length, 2);
    calls[1]!.answer(200, 'stayed');
    assert.equal(await stays, '"stayed"');
    assert.ok(first.process.isKilled);
    processes[1]!.calls[0]!.answer(200, 'next');
    assert.equal(await next, '"next"');
  });

  test('runs a kind alone again after it was stopped', async () => {
    await learn('a');
    await learn('b');
    const stopped = refusal(all(request('a')));
    const { process } = await called('a');
    process.crash();
    await stopped;
    const answers = [all(request('b')), all(request('a'))];
    for (let turns = 0; turns < 50; turns++) await turn();
    assert.equal(processes.length, 3);
    assert.deepEqual(
      processes.slice(1).map(({ calls }) => calls.length),
      [1, 1],
    );
    for (const { calls } of processes.slice(1)) calls[0]!.answer(200, 0);
    await Promise.all(answers);
  });

  test('leaves processes to other owners', async () => {
    pool = make({ processes: 4, processesPerOwner: 2 });
    const ana = ['a', 'b', 'c'].map((path) => all(request(path)));
    await called('b');
    const ben = all(request('d', { owner: 'ben' }));
    (await called('d')).call.answer(200, 'ben');
    assert.equal(await ben, '"ben"');
    assert.ok(!processes.some(({ calls }) => calls.some(({ path }) => path === 'c')));
    for (const path of ['a', 'b', 'c']) (await called(path)).call.answer(200, path);
    await Promise.all(ana);
  });

  test('gives no owner more processes for known kinds either, and mixes owners only if there is no other', async () => {
    pool = make({ processes: 4, processesPerOwner: 2 });
    await learn('a');
    const held = Array.from({ length: 20 }, () => all(request('a')));
    for (let turns = 0; turns < 50; turns++) await turn();
    assert.deepEqual(loads(), [8, 8]);
    const ben = all(request('a', { owner: 'ben' }));
    const eve = all(request('a', { owner: 'eve' }));
    for (let turns = 0; turns < 50; turns++) await turn();
    assert.deepEqual(loads(), [8, 8, 1, 1]);
    // All processes have an owner now.
    const sam = all(request('a', { owner: 'sam' }));
    for (let turns = 0; turns < 50; turns++) await turn();
    assert.deepEqual(
      loads().toSorted((a, b) => a - b),
      [1, 2, 8, 8],
    );
    for (let rounds = 0; rounds < 5; rounds++) {
      for (const { calls } of processes) for (const call of calls) call.answer(200, []);
      for (let turns = 0; turns < 20; turns++) await turn();
    }
    await Promise.all([...held, ben, eve, sam]);
  });

  test('refuses a request that finds no process in time, and one whose process can not start', async () => {
    pool = make({ processes: 1, processesPerOwner: 1, waitTime: 30 });
    const first = all(request('first'));
    await called('first');
    const second = await refusal(all(request('second')));
    assert.equal(second.what, 'The server has too many queries at the moment.');
    (await called('first')).call.answer(200, 1);
    assert.equal(await first, '1');

    const causes: unknown[] = [];
    pool = make({
      start: () => Promise.reject(new Error('no memory for /usr/bin/node')),
      onNotStarted: (cause) => causes.push(cause),
    });
    const refused = await Promise.all(['a', 'b'].map((path) => refusal(all(request(path)))));
    for (const error of refused) assert.equal(error.what, "The server can't start a process for queries.");
    assert.equal(causes.length >= 2, true);
  });

  test('passes on errors of a request, and keeps its process', async () => {
    const wrong = refusal(all(request('wrong')));
    const { call, process } = await called('wrong');
    call.answer(404, { error: 'Table "t" does not exist.', code: 4, detail: 'List them.', instance: 't' });
    const error = await wrong;
    assert.deepEqual(
      [error.kind, error.status, error.what, error.hint, error.identifier],
      ['TableNotFound', 404, 'Table "t" does not exist.', 'List them.', 't'],
    );
    const next = all(request('next'));
    const later = await called('next');
    assert.equal(later.process, process);
    later.call.answer(200, 1);
    await next;
  });

  test('fails with the error of a body that fails, and does not call it stopped', async () => {
    const fault = new CatalogError('InvalidInput', 'The request body paused.', '', { status: 408 });
    const body = (async function* (): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.from('a'));
      throw fault;
    })();
    assert.equal(await refusal(all(request('paused', { body, sameAs: undefined }))), fault);
    assert.deepEqual(stops, []);
  });

  test('ends a process that has taken much memory after its request', async () => {
    const answer = all(request('large'));
    const { call, process } = await called('large');
    process.isFull = true;
    call.answer(200, []);
    await answer;
    assert.ok(process.isDisposed && !process.isKilled);
    assert.equal(pool.size, 0);
  });

  test('refuses what waits when it closes, and ends its processes', async () => {
    pool = make({ processes: 1 });
    const running = all(request('running'));
    const { call, process } = await called('running');
    const waiting = refusal(all(request('waiting')));
    await pool.close();
    assert.equal((await waiting).what, 'The server is shutting down.');
    assert.ok(process.isDisposed);
    call.answer(200, 1);
    await running;
    assert.equal((await refusal(all(request('late')))).what, 'The server is shutting down.');
  });
});
