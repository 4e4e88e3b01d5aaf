import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openDir } from '#engine/dir/dirCatalog.ts';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { type ServeProcess, startServe } from '../../contract/serve/serveProcess.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command, errorOf, run, startKernel } from '../support.ts';

suite('A backfill that a server refuses, since the column has no function,', function () {
  this.timeout(120_000);
  const folder = tempFolder();
  const env = { XDG_DATA_HOME: join(folder, 'state') };
  let server: ServeProcess;
  let kernel: KernelProcess;

  suiteSetup(async () => {
    const root = join(folder, 'data');
    for (const path of [root, env.XDG_DATA_HOME]) mkdirSync(path);
    const db = await openDir({ root });
    await db.createTable('products', [{ id: 1, caption: 'a mug', plain: 3 }]);
    await db.close();
    server = await startServe(['--jobs', '--no-auth', '--root', root], { env });
    kernel = await startKernel({ cwd: folder, env, catalog: { implementation: 'rest', uri: server.address } });
  });
  suiteTeardown(async () => {
    await kernel?.shutdown();
    await server?.stop();
  });

  const refusal = /^The server refused to compute products\.plain: /;

  test('is never shown as running in a cell, and not as something to go on with', async () => {
    const { outputs } = await run(
      kernel,
      "const table = await db.openTable('products'); await table.backfill('plain', { runner: 'rest' });",
    );
    assert.match(errorOf(outputs)?.evalue ?? '', refusal);
    const shown = outputs.flatMap(({ content }) => ('data' in content ? [String(content.data['text/plain'])] : []));
    assert.match(shown.at(-1) ?? '', /The server refused to compute products\.plain: /);
    for (const text of shown) assert.doesNotMatch(text, /running|%|to go on|to continue/);
  });

  test('is never shown as running in a terminal', async () => {
    const args = [cliEntry, 'backfill', 'products', 'plain', '--runner', 'rest', '--yes', '--catalog', server.address];
    const { code, stderr } = await command(process.execPath, args, { cwd: folder, env });
    assert.equal(code, 1, stderr);
    assert.match(stderr, /The server refused to compute products\.plain: /);
    assert.doesNotMatch(stderr, /running|%|to go on|to continue/);
  });
});
