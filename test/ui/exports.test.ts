import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inRoot } from '../../scripts/paths.ts';
import { tempFolder } from '../harness/temp.ts';
import { installedExtensions, openWindow, shoot, type Window } from '../harness/window.ts';

suite('The packaged extension beside another one', function () {
  this.timeout(240_000);
  let window: Window;
  let other: string;

  suiteSetup(async () => {
    const [installed, extensions] = [await installedExtensions(), tempFolder('lance-two-')];
    // VS Code lists the extensions in a folder that has no list file.
    for (const name of readdirSync(installed).filter((one) => one.startsWith('lance-catalog.')))
      symlinkSync(join(installed, name), join(extensions, name), 'dir');
    other = join(extensions, 'lance-catalog-tests.api-reader-1.0.0');
    cpSync(inRoot('test/fixtures/apiReader'), other, { recursive: true });
    window = await openWindow({}, undefined, extensions);
  });

  suiteTeardown(() => window?.close());

  teardown(async function () {
    if (this.currentTest?.state === 'failed') await shoot(window, 'failed-exports');
  });

  test('gives it nothing: neither services nor secrets', async () => {
    const seen = join(other, 'seen.json');
    for (const end = Date.now() + 90_000; !existsSync(seen); await sleep(100))
      assert.ok(Date.now() < end, 'the other extension ran');
    const expected = { isActive: true, returned: 'undefined', exports: 'undefined', names: [] };
    assert.deepEqual(JSON.parse(readFileSync(seen, 'utf8')), expected);
  });
});
