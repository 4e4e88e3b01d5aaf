import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandEnvironment, recordWindowData } from '../../../scripts/start/windowData.ts';
import { tempFolder } from '../../harness/temp.ts';

suite('The data folder of "npm run lance-catalog"', () => {
  const folder = tempFolder();
  const place = { catalog: join(folder, '.sample/catalog'), profile: join(folder, '.sample/window') };
  const home = join(place.profile, 'home');
  const dataHome = join(home, '.local/share');
  const user = { HOME: '/home/ada', XDG_DATA_HOME: '/home/ada/data' };
  const run = (args: readonly string[], env: Record<string, string> = {}, platform: NodeJS.Platform = 'linux') =>
    commandEnvironment({ args, env: { ...user, ...env }, cwd: folder, place, platform });

  suiteSetup(() => {
    mkdirSync(place.catalog, { recursive: true });
    mkdirSync(place.profile, { recursive: true });
  });
  setup(() => recordWindowData(place.profile, { HOME: home, XDG_DATA_HOME: dataHome, SECRET: 'not recorded' }));

  test("is the user's without a sample window, and after it was opened in a desktop VS Code", () => {
    recordWindowData(place.profile, undefined);
    assert.deepEqual(run(['jobs', '--catalog', '.sample/catalog']), { env: user, hint: undefined });
  });

  test('is that of the sample window for a command on the sample', () => {
    for (const { env } of [
      run(['backfill', 'products', '--catalog', '.sample/catalog']),
      run(['backfill', 'products', `--catalog=${place.catalog}/`]),
      run(['jobs'], { LANCE_CATALOG: './.sample/catalog' }),
    ])
      assert.deepEqual([env['XDG_DATA_HOME'], env['HOME']], [dataHome, user.HOME]);
  });

  test('is below the home folder on macOS', () => {
    const { env } = run(['jobs'], { LANCE_CATALOG: place.catalog }, 'darwin');
    assert.deepEqual([env['HOME'], env['XDG_DATA_HOME']], [home, user.XDG_DATA_HOME]);
  });

  test("is the user's for any other catalog, and the user is told of jobs of the window", () => {
    assert.deepEqual(run(['jobs']), { env: user, hint: undefined });
    mkdirSync(join(dataHome, 'lance-catalog/jobs/bf-1'), { recursive: true });
    assert.match(run(['jobs']).hint ?? '', /LANCE_CATALOG=\.sample\/catalog npm run lance-catalog -- jobs$/);
    assert.deepEqual(run(['jobs']).env, user);
    assert.equal(run(['jobs', '--catalog', 'https://example.com']).hint, undefined);
    assert.equal(run(['backfill', 'products', '--catalog', 'data']).hint, undefined);
  });
});
