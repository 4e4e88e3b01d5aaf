import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { parseKernelArguments } from '#session/arguments.ts';
import { catalogOfArgument } from '#session/catalogArgument.ts';
import { chosenCatalog } from '#session/core/chosenCatalog.ts';
import { readConnection } from '#session/jupyter/connectionFile.ts';
import { dataFolder } from '#processes/userFolders.ts';
import { jupyterFolder, kernelsFolder, knownFolders } from '#session/kernelspecs/folders.ts';
import { isCatalogError } from '#shared/errors.ts';
import { tempFolder } from '../../harness/temp.ts';

const jupyter = (root: string | null, keepsHistory = true) => ({
  front: {
    kind: 'jupyter',
    connectionFile: 'c.json',
    catalog: root === null ? null : { implementation: 'dir', root },
    keepsHistory,
  },
});

suite('What a kernel is started with', () => {
  test('is a pipe, or a connection file with a catalog of the option before the environment', () => {
    assert.deepEqual(parseKernelArguments(['--pipe'], {}), { front: { kind: 'pipe' } });
    const env = { LANCE_CATALOG: '/environment' };
    assert.deepEqual(parseKernelArguments(['--connection-file=c.json'], {}), jupyter(null));
    assert.deepEqual(parseKernelArguments(['--connection-file=c.json'], env), jupyter('/environment'));
    assert.deepEqual(parseKernelArguments(['--connection-file=c.json', '--catalog=/x'], env), jupyter('/x'));
  });

  test('has a mode of type checks of the option, and is not told apart by what a front adds', () => {
    const file = '--connection-file=c.json';
    const { front } = jupyter(null);
    assert.deepEqual(parseKernelArguments([file, '--type-check=warn', 'some.ts'], {}), {
      front: { ...front, typeCheck: 'warn' },
    });
    assert.deepEqual(parseKernelArguments([file, '--type-check=some'], {}), {
      problem: 'Expected one of error, warn, off for --type-check, got "some".',
    });
  });

  test('has the language of the option, which is one that cells can be written in', () => {
    const file = '--connection-file=c.json';
    assert.deepEqual(parseKernelArguments([file, '--language=javascript'], {}), {
      front: { ...jupyter(null).front, language: 'javascript' },
    });
    assert.deepEqual(parseKernelArguments([file, '--language=python'], {}), {
      problem: 'Expected typescript or javascript for --language, got "python".',
    });
  });

  test('keeps a history unless the option or the environment says otherwise', () => {
    const file = '--connection-file=c.json';
    assert.deepEqual(parseKernelArguments([file, '--no-history'], {}), jupyter(null, false));
    assert.deepEqual(parseKernelArguments([file], { LANCE_CATALOG_HISTORY: 'off' }), jupyter(null, false));
    assert.deepEqual(parseKernelArguments([file], { LANCE_CATALOG_HISTORY: '' }), jupyter(null, true));
  });

  test('is refused with a sentence when it is nothing or unknown', () => {
    for (const args of [[], ['--nope'], ['file']]) assert.ok('problem' in parseKernelArguments(args, {}), args.join());
  });

  test('is a connection file that is whole', () => {
    const path = join(tempFolder(), 'connection.json');
    const good = {
      transport: 'tcp',
      ip: '127.0.0.1',
      key: 'k',
      signature_scheme: 'hmac-sha256',
      shell_port: 1,
      iopub_port: 2,
      stdin_port: 3,
      control_port: 4,
      hb_port: 5,
    };
    writeFileSync(path, JSON.stringify(good));
    assert.equal(readConnection(path).control_port, 'tcp://127.0.0.1:4');
    for (const bad of [{ transport: 'udp' }, { shell_port: '1' }, { key: 7 }, { signature_scheme: 'none' }]) {
      writeFileSync(path, JSON.stringify({ ...good, ...bad }));
      assert.throws(
        () => readConnection(path),
        (error) => isCatalogError(error, 'InvalidInput') && error.message.includes(path),
      );
    }
    assert.throws(() => readConnection(`${path}.none`), /can't be read/);
  });
});

suite('The catalog of a command line', () => {
  const env = { LANCE_CATALOG_API_KEY: 'k', LANCE_CATALOG_TOKEN: '', LANCE_CATALOG_DATABASE: 'sales' };
  const keyHint = 'To use another key, set LANCE_CATALOG_API_KEY, or LANCE_CATALOG_TOKEN, and start again.';
  const server = { implementation: 'rest', uri: 'https://c.example', keyHint, apiKey: 'k', database: 'sales' };

  test('is a server where an address is named, with key and database of the environment', () => {
    assert.deepEqual(catalogOfArgument('https://c.example', env), server);
    assert.deepEqual(catalogOfArgument(undefined, { ...env, LANCE_CATALOG: 'https://c.example' }), server);
    assert.deepEqual(catalogOfArgument('HTTP://127.0.0.1:1', { LANCE_CATALOG_TOKEN: 't' }), {
      implementation: 'rest',
      uri: 'HTTP://127.0.0.1:1',
      keyHint,
      token: 't',
    });
  });

  test('is a directory or an object store otherwise, whatever keys there are', () => {
    assert.deepEqual(catalogOfArgument('/data', env), { implementation: 'dir', root: '/data' });
    assert.deepEqual(catalogOfArgument('s3://bucket/a', env), { implementation: 'dir', root: 's3://bucket/a' });
    assert.deepEqual(catalogOfArgument('tables', {}), { implementation: 'dir', root: join(process.cwd(), 'tables') });
  });

  test('is none where nothing is named', () => {
    assert.equal(catalogOfArgument(undefined, env), null);
    assert.equal(catalogOfArgument(undefined, { LANCE_CATALOG: '' }), null);
  });
});

suite('Folders of a person', () => {
  const home = '/home/ada';
  test('follow each system', () => {
    assert.equal(dataFolder({ env: {}, platform: 'linux', home }), '/home/ada/.local/share/lance-catalog');
    assert.equal(dataFolder({ env: { XDG_DATA_HOME: '/x' }, platform: 'linux', home }), '/x/lance-catalog');
    // An empty or relative path would be a folder in the notebook's folder.
    for (const none of ['', 'x'])
      assert.equal(
        dataFolder({ env: { XDG_DATA_HOME: none }, platform: 'linux', home }),
        '/home/ada/.local/share/lance-catalog',
      );
    assert.equal(
      dataFolder({ env: {}, platform: 'darwin', home }),
      '/home/ada/Library/Application Support/lance-catalog',
    );
    assert.equal(jupyterFolder({ env: { JUPYTER_DATA_DIR: '/j' }, platform: 'linux', home }), '/j');
    assert.equal(jupyterFolder({ env: {}, platform: 'darwin', home }), '/home/ada/Library/Jupyter');
  });
});

suite('Kernelspecs', () => {
  const linux = { env: { JUPYTER_PATH: '/x:/y' }, platform: 'linux', home: '/home/ada' } as const;

  test('are where Jupyter looks for them', () => {
    assert.deepEqual(knownFolders(linux), [
      '/x/kernels',
      '/y/kernels',
      '/home/ada/.local/share/jupyter/kernels',
      '/usr/local/share/jupyter/kernels',
      '/usr/share/jupyter/kernels',
    ]);
    const env = { VIRTUAL_ENV: '/venv', CONDA_PREFIX: '/conda', JUPYTER_DATA_DIR: '/data' };
    assert.deepEqual(knownFolders({ ...linux, env }).slice(0, 2), ['/data/kernels', '/venv/share/jupyter/kernels']);
  });

  test('go to the person, to the active environment, or below a folder', () => {
    assert.equal(kernelsFolder({ kind: 'user' }, linux), '/home/ada/.local/share/jupyter/kernels');
    assert.equal(kernelsFolder({ kind: 'prefix', folder: '/opt' }, linux), '/opt/share/jupyter/kernels');
    const conda = { ...linux, env: { VIRTUAL_ENV: '', CONDA_PREFIX: '/conda' } };
    assert.equal(kernelsFolder({ kind: 'sys-prefix' }, conda), '/conda/share/jupyter/kernels');
    assert.throws(() => kernelsFolder({ kind: 'sys-prefix' }, linux), /no Python environment is active, .* Activate/);
  });
});

suite('db of a notebook without a catalog', () => {
  test('rejects every call, and says how to choose one', async () => {
    const db = chosenCatalog(null);
    for (const call of [() => db.listNamespaces(), () => db.openTable('t'), () => db.close()])
      await assert.rejects(
        call,
        (error) => isCatalogError(error, 'InvalidInput') && /LANCE_CATALOG/.test(error.message),
      );
  });

  test('says so of its jobs and their events too', async () => {
    const { jobs } = chosenCatalog(null);
    await assert.rejects(jobs.list(), /No catalog is chosen/);
    await assert.rejects(async () => {
      for await (const _ of jobs.events('job')) assert.fail('there is no event');
    }, /No catalog is chosen/);
  });

  test('shows where it is and none of its secrets', () => {
    const uri = 'https://catalog.example.com';
    const db = chosenCatalog({ implementation: 'rest', uri, apiKey: 'sesame', headers: { 'x-team': 'sesame' } });
    assert.equal(inspect(db), `Catalog rest ${uri}`);
    assert.doesNotMatch(inspect(db, { showHidden: true, depth: 9, customInspect: false }), /sesame/);
  });
});
