import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProfiles } from '#cluster/profiles/findProfiles.ts';
import { tempFolder } from '../../../harness/temp.ts';

const settings = `{
  // The cluster that the team shares.
  "lanceCatalog.cluster.profiles": {
    "prod": { "context": "prod", "kubeconfig": "kube/config", },
    "broken": {
      "headGroup": { "memory": true },
    },
  },
}`;

suite('Profiles that no editor hands over', () => {
  let folder: string;
  setup(() => {
    folder = tempFolder('profiles-');
    mkdirSync(join(folder, 'a', 'b', '.vscode'), { recursive: true });
    mkdirSync(join(folder, '.vscode'));
  });
  const write = (text: string, file = join(folder, '.vscode', 'settings.json')): string => {
    writeFileSync(file, text);
    return file;
  };
  const find = (environment: Record<string, string> = {}, settingsFile?: string) =>
    findProfiles({ folder: join(folder, 'a', 'b'), environment, settings: settingsFile });

  test('are those of the nearest settings upwards that have some, comments and trailing commas allowed', async () => {
    const file = write(settings);
    write('{ "editor.fontSize": 12 }', join(folder, 'a', 'b', '.vscode', 'settings.json'));
    const found = await find();
    assert.equal(found.source, file);
    assert.deepEqual(found.names, ['prod', 'broken']);
  });

  test('have paths from the folder that the settings are of', async () => {
    write(settings);
    const { auth } = (await find()).profile('prod');
    assert.equal(auth.configMethod === 'LOCAL' && auth.kubeconfig, join(folder, 'kube', 'config'));
  });

  test('are refused with file and line, and a mistake in one does no harm to another', async () => {
    const file = write(settings);
    const found = await find();
    assert.equal(found.profile('prod').name, 'prod');
    assert.throws(() => found.profile('broken'), {
      what: `${file}:6: lanceCatalog.cluster.profiles.broken.headGroup.memory must be a number of MiB, or a string such as "8Gi", but is true.`,
    });
  });

  test('are listed when another one is asked for', async () => {
    write(settings);
    const found = await find();
    assert.throws(() => found.profile('test'), /no cluster profile "test" in .*\. It has prod, broken\./);
  });

  test('come from the environment before any file', async () => {
    write(settings);
    const found = await find({ LANCE_CATALOG_CLUSTERS: '{"ci": {"namespace": "ci"}}' });
    assert.equal(found.source, 'LANCE_CATALOG_CLUSTERS');
    assert.equal(found.profile('ci').namespace, 'ci');
  });

  test('come from a file that is named before the environment', async () => {
    const file = write(settings, join(folder, 'other.json'));
    const found = await find({ LANCE_CATALOG_CLUSTERS: '{"ci": {}}' }, file);
    assert.deepEqual(found.names, ['prod', 'broken']);
    const { auth } = found.profile('prod');
    assert.equal(auth.configMethod === 'LOCAL' && auth.kubeconfig, join(dirname(file), 'kube', 'config'));
  });

  test('are none where none are, which says where to write one', async () => {
    const found = await findProfiles({ folder, environment: {} });
    assert.deepEqual([found.source, found.names], [undefined, []]);
    assert.throws(() => found.profile('prod'), /none were found\. Write it into \.vscode\/settings\.json/);
  });

  test('are refused with the line where settings are no JSON', async () => {
    const file = write('{\n  "lanceCatalog.cluster.profiles": {\n    "prod": {\n');
    await assert.rejects(find(), { what: new RegExp(`^${file}:\\d+ is not JSON`) });
  });

  test('are refused with what is wrong with JSON in words, without the rest of the line', async () => {
    write('{\n  "a": "planted"\n  "b": 2\n}');
    await assert.rejects(find(), (error: Error) => {
      assert.match(error.message, /settings\.json:3 is not JSON: a comma is missing\./);
      assert.ok(!error.message.includes('planted'));
      return true;
    });
  });

  test('are looked for further up where settings are an empty file, as an editor leaves it', async () => {
    const file = write(settings);
    write('\n', join(folder, 'a', 'b', '.vscode', 'settings.json'));
    assert.equal((await find()).source, file);
  });

  test('are refused where a variable holds a list', async () => {
    await assert.rejects(
      find({ LANCE_CATALOG_CLUSTERS: '[]' }),
      /LANCE_CATALOG_CLUSTERS:1: .* must be an object with profiles/,
    );
  });

  test('are refused where the file that is named is not there', async () => {
    await assert.rejects(find({}, join(folder, 'none.json')), /There is no settings file .*none\.json/);
  });
});
