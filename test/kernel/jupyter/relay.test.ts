import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { sleep, until } from '../support.ts';
import { RelayedKernel, type Told } from './relayedKernel.ts';

const soon = <T>(what: string, find: () => T | undefined | false): Promise<T> => until(what, find, 20);

suite('A kernel with a relay', function () {
  this.timeout(60_000);
  let kernel: RelayedKernel;
  setup(async () => {
    kernel = await RelayedKernel.make();
  });
  teardown(() => kernel.end());

  const reply = (id: string, type: string): Promise<Told> =>
    soon(`${type} to ${id}`, () => kernel.answers(id).find((each) => each.type === type));
  const idle = (id: string): Promise<Told> =>
    soon(`idle after ${id}`, () => kernel.answers(id).find(({ content }) => content['execution_state'] === 'idle'));
  const run = (code: string, id: string) => kernel.request('execute_request', { code, silent: false }, id);
  const kinds = (id: string) =>
    kernel
      .answers(id)
      .filter(({ type }) => !type.endsWith('_reply'))
      .map(({ type, content }) => content['execution_state'] ?? type);

  test('is announced before it has started, and then gets the earlier requests', async () => {
    kernel.relay();
    kernel.listen();
    const client = kernel.dealer();
    const [first] = await soon('a welcome', () => kernel.told.length > 0 && kernel.told);
    assert.equal(first?.type, 'iopub_welcome');
    await client.send(kernel.request('kernel_info_request', {}, 'early'));
    const { content, session } = await reply('early', 'kernel_info_reply');
    await idle('early');
    assert.deepEqual(kinds('early'), ['busy', 'idle']);
    await client.send(run('const a = 20; a + 1', 'cell'));
    await sleep(200);
    assert.deepEqual(kernel.answers('cell'), []);
    kernel.kernel();
    assert.equal((await reply('cell', 'execute_reply')).content['status'], 'ok');
    await idle('cell');
    assert.deepEqual(kinds('cell'), ['busy', 'execute_input', 'execute_result', 'idle']);
    // The kernel itself must send the same reply as its relay, under the same session id.
    await client.send(kernel.request('kernel_info_request', {}, 'late'));
    const late = await reply('late', 'kernel_info_reply');
    assert.deepEqual([late.content, late.session], [content, session]);
    // The kernel must not report `starting`, because its relay has already reported it before a client listened.
    assert.equal(
      kernel.told.some((each) => each.content['execution_state'] === 'starting'),
      false,
    );
  });

  test('disconnects a client whose message does not end, and takes a large one that does', async () => {
    const { pid } = kernel.relay();
    const client = kernel.dealer();
    await client.send(kernel.request('kernel_info_request', {}, 'early'));
    await reply('early', 'kernel_info_reply');
    const megabytes = (): number =>
      Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    const before = megabytes();
    const part = Buffer.alloc(1 << 20, 'x');
    for (const port of ['shell_port', 'control_port', 'stdin_port', 'iopub_port']) {
      const stranger = connect(kernel.ports[port]!, '127.0.0.1');
      stranger.on('error', () => undefined);
      let isClosed = false;
      stranger.resume().on('close', () => (isClosed = true));
      // ZMTP 3.0 without security: a greeting, READY as a DEALER, and frames with the flag "more".
      const signature = Buffer.from('ff00000000000000017f03004e554c4c', 'hex');
      stranger.write(Buffer.concat([signature, Buffer.alloc(64 - signature.length)]));
      const ready = Buffer.from('\x05READY\x0bSocket-Type\0\0\0\x06DEALER', 'latin1');
      stranger.write(Buffer.concat([Buffer.from([4, ready.length]), ready]));
      const frame = Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 0, 16, 0, 0]), part]);
      // oxlint-disable-next-line no-await-in-loop -- each chunk is written when the one before it was taken
      for (let sent = 0; sent < 150 && !stranger.destroyed; sent++)
        await new Promise((resolve) => stranger.once('close', resolve).write(frame, resolve));
      await sleep(300);
      assert.equal(isClosed, true, `${port} takes a message without an end`);
    }
    assert.ok(megabytes() - before < 250, `${Math.round(before)} MB became ${Math.round(megabytes())} MB`);
    const parts = Array.from({ length: 40 }, () => part);
    await client.send([...kernel.request('kernel_info_request', {}, 'large'), ...parts]);
    await reply('large', 'kernel_info_reply');
  });

  test('tells the language of its cells as its relay does', async () => {
    kernel.relay(process.pid, '--language=javascript');
    const client = kernel.dealer();
    await client.send(kernel.request('kernel_info_request', {}, 'early'));
    const { content } = await reply('early', 'kernel_info_reply');
    assert.deepEqual(content['language_info'], {
      name: 'javascript',
      version: process.versions.node,
      mimetype: 'text/javascript',
      file_extension: '.js',
      pygments_lexer: 'javascript',
      codemirror_mode: 'javascript',
      nbconvert_exporter: 'script',
    });
    kernel.kernel('--language=javascript');
    await client.send(kernel.request('kernel_info_request', {}, 'late'));
    assert.deepEqual((await reply('late', 'kernel_info_reply')).content, content);
  });

  test('does not answer what its relay has answered', async () => {
    kernel.relay();
    const client = kernel.dealer();
    const heard = kernel.request('kernel_info_request', {}, 'heard');
    await client.send(heard);
    await reply('heard', 'kernel_info_reply');
    kernel.kernel();
    await client.send(heard);
    await client.send(kernel.request('kernel_info_request', {}, 'after'));
    await reply('after', 'kernel_info_reply');
    assert.equal(kernel.answers('heard').length, 1);
  });

  test('tells a listener that comes late all of its first cell', async () => {
    kernel.relay();
    kernel.kernel();
    const client = kernel.dealer();
    await client.send(kernel.request('kernel_info_request', {}, 'up'));
    await reply('up', 'kernel_info_reply');
    await client.send(run('console.log("heard"); 1', 'first'));
    await sleep(400);
    kernel.listen();
    await reply('first', 'execute_reply');
    await idle('first');
    assert.deepEqual(kinds('first'), ['busy', 'execute_input', 'stream', 'execute_result', 'idle']);
  });

  test('runs cells for who listens to nothing', async () => {
    kernel.relay();
    kernel.kernel();
    const client = kernel.dealer();
    await client.send(run('1', 'deaf'));
    await reply('deaf', 'execute_reply');
  });

  test('ends with its relay, and the relay with it', async () => {
    const relay = kernel.relay();
    const other = kernel.kernel();
    const client = kernel.dealer();
    await client.send(run('1', 'up'));
    await reply('up', 'execute_reply');
    assert.equal(existsSync(kernel.path), false);
    relay.kill('SIGKILL');
    const said = text(other.stderr!);
    assert.deepEqual(await once(other, 'exit'), [1, null]);
    assert.match(await said, /^The process that listens for the kernel has ended$/m);

    const second = await RelayedKernel.make();
    const left = second.relay();
    second.kernel();
    const dealer = second.dealer();
    await dealer.send(second.request('shutdown_request', { restart: false }, 'end'));
    await soon('the reply to the end', () => second.answers('end').find(({ type }) => type === 'shutdown_reply'));
    await soon('the end of the relay', () => left.signalCode ?? undefined);
    await second.end();
  });

  test('listens itself if the relay is missing or can not listen, and reports why not', async () => {
    const client = kernel.dealer();
    kernel.kernel();
    await client.send(run('1', 'alone'));
    // This reply may take three seconds, because a kernel looks for its relay for so long.
    await reply('alone', 'execute_reply');

    const taken = await RelayedKernel.make();
    const server = createServer().listen(taken.ports['shell_port'], '127.0.0.1');
    await once(server, 'listening');
    const relay = taken.relay();
    const refused = taken.kernel();
    const said = text(refused.stderr!);
    assert.deepEqual(await once(refused, 'exit'), [1, null]);
    assert.match(await said, /Can't open the connection of the kernel: .*[Aa]ddress (already )?in use/);
    await soon('the end of the relay', () => relay.signalCode ?? undefined);
    server.close();
    await taken.end();
  });

  test('has a relay that ends when the kernel does not come up', async () => {
    // Start a relay whose parent process is not the kernel.
    const relay = kernel.relay(1);
    assert.deepEqual(await once(relay, 'exit'), [null, 'SIGKILL']);
    assert.equal(existsSync(kernel.path), false);
  });

  test('leaves its ports to the next one at once when it is killed before it is up', async () => {
    const idler = kernel.idler();
    await soon('the relay', () => existsSync(kernel.path));
    // From now on the relay watches its kernel.
    const since = Date.now();
    idler.kill('SIGKILL');
    await soon('the end of the relay', () => !existsSync(kernel.path));
    assert.ok(Date.now() - since < 300);
  });

  test('has a relay that only its person can connect to', async () => {
    kernel.relay();
    await soon('the relay', () => existsSync(kernel.path));
    assert.equal(statSync(kernel.path).mode & 0o777, 0o700);
  });

  test('is found by its relay where another process has left its path', async () => {
    writeFileSync(kernel.path, '');
    kernel.relay();
    const client = kernel.dealer();
    await client.send(kernel.request('kernel_info_request', {}, 'early'));
    const { session } = await reply('early', 'kernel_info_reply');
    kernel.kernel();
    await client.send(run('1', 'cell'));
    assert.equal((await reply('cell', 'execute_reply')).session, session);
  });

  test('decides itself what the signals mean that reach its relay too', async () => {
    const relay = kernel.relay();
    kernel.kernel();
    const client = kernel.dealer();
    await client.send(run('1', 'before'));
    await reply('before', 'execute_reply');
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) relay.kill(signal);
    await client.send(run('2', 'after'));
    assert.equal((await reply('after', 'execute_reply')).content['status'], 'ok');
  });

  test('has a relay that ends over anybody who does not speak as a kernel', async () => {
    const relay = kernel.relay();
    const stranger = await kernel.stranger();
    stranger.write(Buffer.alloc(16, 255));
    await soon('the end of the relay', () => relay.signalCode ?? undefined);
  });
});
