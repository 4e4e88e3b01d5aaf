import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, sep } from 'node:path';
import { connect as connectTo, onNewRoot } from '#catalog/connect.ts';
import { checkAddress, checkRoot, localRoot, makeRoot } from '#catalog/root.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { registerDir } from '#engine/register.ts';
import { databasesOf } from '#engine/serve/databases.ts';
import { isCatalogError } from '#shared/errors.ts';
import { tempFolder } from '../../harness/temp.ts';

const hintOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(isCatalogError(error, 'InvalidInput'), String(error));
  return error.hint;
};

suite('a root that is an address', () => {
  test('is of an object store that there is', () => {
    for (const root of ['s3://bucket/x', 'GS://bucket', 'az://container']) assert.equal(checkAddress(root), true);
    for (const root of ['./data', '/data', 'file:///data', 'C:\\data']) assert.equal(checkAddress(root), false);
  });

  test('of anything else is refused before an engine sees it', async () => {
    assert.match(await hintOf(openDir({ root: 'ftp://x/y' })), /s3:/);
    registerDir();
    assert.match(await hintOf(connectTo('https://x/y')), /"rest", \{ uri \}/);
    assert.throws(() => databasesOf('http://x', []), /"http:\/\/" is not the address/);
  });
});

suite('a root on this machine', () => {
  test('begins at the home directory where it begins with a tilde', () => {
    assert.equal(localRoot('~'), homedir());
    assert.equal(localRoot('~/'), homedir());
    assert.equal(localRoot('~/data/catalog'), join(homedir(), 'data', 'catalog'));
    assert.equal(localRoot('~other'), join(process.cwd(), '~other'));
    assert.equal(localRoot('data/~'), join(process.cwd(), 'data', '~'));
  });

  test('has one spelling', () => {
    const path = join(tempFolder(), 'catalog');
    assert.equal(localRoot(path + sep), path);
    assert.equal(localRoot(`file://${path}/`), path);
    assert.equal(localRoot(`${path}/./x/..//`), path);
    assert.equal(localRoot(sep), sep);
  });

  test('that is missing is reported with the command that creates it and its parents', async () => {
    const root = join(tempFolder(), 'parent', 'root');
    const command = process.platform === 'win32' ? 'mkdir ' : 'mkdir -p ';
    assert.ok((await hintOf(checkRoot(root))).includes(command + root));
    assert.ok((await hintOf(makeRoot(root))).includes(command + join(root, '..')));
    mkdirSync(join(root, '..'));
    assert.ok((await hintOf(checkRoot(root))).includes(`mkdir ${root}`));
  });

  test('that can not be created says why in words', async function () {
    if (process.platform !== 'linux') this.skip();
    // Nobody can create a folder there, not even root.
    const why = 'permission denied|the disk is read-only';
    const message = `Can't create the folder "/sys/catalog": (?:${why})\\. Choose a directory that you can write to`;
    await assert.rejects(makeRoot('/sys/catalog'), new RegExp(message));
  });

  test('that is missing is reported with the folder beside it that differs in a letter', async () => {
    const parent = tempFolder();
    mkdirSync(join(parent, 'Tables'));
    assert.equal(await hintOf(checkRoot(join(parent, 'tables'))), `Did you mean "${join(parent, 'Tables')}"?`);
    assert.match(await hintOf(checkRoot(join(parent, 'photos'))), /^Correct the path, or create it with: mkdir /);
  });

  test('that connect creates is said, once, with the folder that may have been meant', async () => {
    registerDir();
    const lines: string[] = [];
    onNewRoot((line) => lines.push(line));
    const parent = tempFolder();
    const [tables, misspelled] = [join(parent, 'tables'), join(parent, 'tabels')];
    for (const root of [tables, tables, misspelled]) await (await connectTo(root)).close();
    assert.deepEqual(lines, [
      `Created the folder "${tables}" for a new catalog.`,
      `Created the folder "${misspelled}" for a new catalog. Did you mean "${tables}"?`,
    ]);
    onNewRoot(() => {});
  });
});
