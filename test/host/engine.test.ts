import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ExtensionApi } from '../../extension/extension.ts';
import { eventually, extensionApi, failuresOf, makeCatalog, nameOf, rowsAt, run, temporaryFolder } from './support.ts';

const native = (maps: string): string[] => maps.split('\n').filter((line) => /lancedb[^/]*\.node$/.test(line));

suite('the engine process', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, folder.path);
    await api.connections.add('engine', folder.path);
  });
  suiteTeardown(async () => {
    await api.connections.remove('engine');
    folder.remove();
  });

  test('holds the native module, and the extension host never does', async () => {
    await rowsAt(api, 'engine', 'shop', 'eu', 'orders');
    const pid = await api.engine.pid();
    // The mappings of a process show every library that it has loaded.
    assert.notDeepEqual(native(readFileSync(`/proc/${pid}/maps`, 'utf8')), []);
    assert.deepEqual(native(readFileSync('/proc/self/maps', 'utf8')), []);
  });

  test('starts again by itself when it is killed, and asks when it is killed again', async () => {
    await rowsAt(api, 'engine', 'shop');
    const pid = await api.engine.pid();
    assert.ok(pid !== undefined);
    let changes = 0;
    const listening = api.engine.onDidChange(() => changes++);
    process.kill(pid, 'SIGKILL');
    await eventually('the end of the engine is noticed', () => changes > 0);
    listening.dispose();
    assert.deepEqual((await rowsAt(api, 'engine', 'shop', 'eu')).map(nameOf), ['orders']);
    const second = await api.engine.pid();
    assert.ok(second !== undefined && second !== pid);
    const shown = await failuresOf(async () => {
      process.kill(second, 'SIGKILL');
      await eventually('the second end is noticed', () => api.engine.problem);
    });
    assert.deepEqual(shown, ['The table engine stopped unexpectedly.']);
    assert.match(api.engine.problem?.message ?? '', /stopped unexpectedly \(SIGKILL\)/);
    const [error] = await rowsAt(api, 'engine');
    assert.ok(error?.kind === 'error');
    assert.equal(error.remedy, 'restart');
    assert.match(error.hint, /Restart Lance Engine/);
    assert.equal(api.tree.getTreeItem(error).command?.command, 'lanceCatalog.engine.restart');

    await run('lanceCatalog.engine.restart');
    assert.equal(api.engine.problem, undefined);
    assert.deepEqual((await rowsAt(api, 'engine', 'shop', 'eu')).map(nameOf), ['orders']);
    assert.notEqual(await api.engine.pid(), second);
  });
});
