import assert from 'node:assert/strict';
import { CatalogError } from '#shared/errors.ts';
import { Endpoint, type Frame, type Handlers, isFrame, RemoteError } from '#shared/protocol/rpc.ts';

type Host = { add: [{ a: number; b: number }, number]; wait: [null, null]; fail: [null, null] };
type View = { show: [string, null] };

// Copies a message and delivers it later, as a transport does.
const later = (deliver: (frame: unknown) => void) => (frame: Frame) => {
  const copy = structuredClone(frame);
  queueMicrotask(() => deliver(copy));
};

function pair(): { view: Endpoint<View, Host>; host: Endpoint<Host, View>; aborted: () => number } {
  let aborts = 0;
  const hostHandlers: Handlers<Host> = {
    add: ({ a, b }) => a + b,
    wait: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborts++;
          reject(Object.assign(new Error('stopped'), { name: 'AbortError' }));
        });
      }),
    fail: () => {
      throw new CatalogError('TableNotFound', 'Table "t" does not exist.', '');
    },
  };
  const host: Endpoint<Host, View> = new Endpoint<Host, View>(
    later((frame) => void view.receive(frame)),
    hostHandlers,
  );
  const view: Endpoint<View, Host> = new Endpoint<View, Host>(
    later((frame) => void host.receive(frame)),
    { show: () => null },
  );
  return { view, host, aborted: () => aborts };
}

const withCode = (code: string) => (error: unknown) => error instanceof RemoteError && error.code === code;

suite('requests between two ends', () => {
  test('are answered, in both directions', async () => {
    const { view, host } = pair();
    assert.equal(await view.request('add', { a: 1, b: 2 }), 3);
    assert.equal(await host.request('show', 'x'), null);
  });

  test('that fail carry the kind and the sentence', async () => {
    const { view } = pair();
    await assert.rejects(view.request('fail', null), (error: unknown) => {
      return withCode('TableNotFound')(error) && (error as Error).message === 'Table "t" does not exist.';
    });
  });

  test('for an unknown method also get a response, even for a method of every object', async () => {
    const { view } = pair();
    for (const method of ['nope', 'toString', '__proto__', 'constructor']) {
      await assert.rejects(view.request(method as 'add', { a: 1, b: 2 }), withCode('unknown-method'));
    }
  });

  test('that are cancelled stop their handler on the other side', async () => {
    const { view, aborted } = pair();
    const abort = new AbortController();
    const call = view.request('wait', null, abort.signal);
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    await assert.rejects(call, withCode('cancelled'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(aborted(), 1);
    await assert.rejects(view.request('add', { a: 1, b: 1 }, AbortSignal.abort()), withCode('cancelled'));
  });

  test('in flight are rejected when their end closes, and handlers of the closed side stop', async () => {
    const { view, host, aborted } = pair();
    const call = view.request('wait', null);
    await new Promise((resolve) => setImmediate(resolve));
    host.close();
    assert.equal(aborted(), 1);
    view.close();
    await assert.rejects(call, withCode('closed'));
    await assert.rejects(view.request('add', { a: 1, b: 1 }), withCode('closed'));
  });

  test('ignore invalid frames and unexpected replies', async () => {
    const { host } = pair();
    for (const junk of [null, 1, 'x', {}, { v: 2, id: 1, method: 'add' }, { v: 1, re: 99, ok: true, result: 1 }]) {
      await host.receive(junk);
    }
    assert.ok(!isFrame({ v: 1, re: 1, ok: false, error: { code: 1, message: 'x' } }));
    const frame: Frame = { v: 1, cancel: 3 };
    assert.ok(isFrame(frame));
  });
});
