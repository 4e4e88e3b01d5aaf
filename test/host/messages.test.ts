import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ExtensionApi } from '../../extension/extension.ts';
import { notifyFinishedJobs } from '../../extension/jobs/jobNotices.ts';
import { someJob } from '../unit/extension/jobs/someJob.ts';
import { profileFor, setProfiles } from './cluster/clusterSupport.ts';
import { KubeApiStandIn } from './cluster/kubeApiStandIn.ts';
import { chooseInLists } from './jobs/listStandIn.ts';
import { closeNotebooks, execute, openCells } from './notebook/notebookCells.ts';
import { PersonStandIn } from './person.ts';
import { hostile, ShownTexts } from './shownTexts.ts';
import { extensionApi, run, tableNode, temporaryFolder } from './support.ts';

/**
 * Stands in for an attacker's server, because no real server has hostile names and errors. A drop takes long on this
 * server.
 */
class HostileServerStandIn {
  readonly #server: Server;
  isWelcoming = true;

  constructor() {
    this.#server = createServer((request, response) => {
      const { url = '' } = request;
      const isList = url.includes('/list') && this.isWelcoming;
      const [status, body] = isList
        ? [200, url.includes('table') ? { tables: [hostile('table')] } : { namespaces: [hostile('namespace')] }]
        : [400, { error: hostile('server'), code: 13, detail: hostile('detail') }];
      const answer = (): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      };
      // Progress is shown only for slow operations.
      setTimeout(answer, url.includes('/drop') ? 1500 : 0);
    });
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

suite('text from outside in messages', function () {
  this.timeout(120_000);
  const folder = temporaryFolder();
  const server = new HostileServerStandIn();
  let api: ExtensionApi;
  let address: string;

  suiteSetup(async () => {
    api = await extensionApi();
    address = await server.start();
    await api.connections.addServer({ name: 'evil', uri: address, secrets: {} });
  });

  suiteTeardown(async () => {
    for (const { name } of api.connections.list()) await api.connections.remove(name);
    server.stop();
    folder.remove();
  });

  test('is no link in the question after a server refused a new connection', async () => {
    server.isWelcoming = false;
    try {
      const shown = new ShownTexts({ types: [address, '', '', '', 'worse'], chooses: [undefined] });
      await shown.during(() => run('lanceCatalog.connection.addRest'));
      shown.areInert('server');
    } finally {
      server.isWelcoming = true;
    }
  });

  test('is no link in names of tables and in progress, nor in the error of the server', async () => {
    const shown = new ShownTexts({ chooses: ['Drop Table'] });
    const path = [hostile('namespace')];
    await shown.during(() => run('lanceCatalog.table.drop', tableNode('evil', path, hostile('table'))));
    shown.areInert('namespace', 'table', 'server');
    assert.ok(
      shown.texts.some((text) => text.startsWith('Dropping ')),
      'progress is among them',
    );
  });

  test('is no link in the prompt and the validation message of a box', async () => {
    const shown = new ShownTexts({ types: ['other', null] });
    await shown.during(() =>
      run('lanceCatalog.namespace.create', { kind: 'namespace', connection: 'evil', path: [hostile('namespace')] }),
    );
    shown.areInert('namespace', 'server');
  });

  test('is no link where columns are listed and a function is refused', async () => {
    const catalog = await api.engine.catalog(folder.path);
    await catalog.createTable('odd', [{ id: 1, [hostile('column')]: 'a' }]);
    await api.connections.add('local', folder.path);
    const shown = new ShownTexts({
      types: ['made', 'length(`' + hostile('function') + '`)', `id + ${hostile('function')}`, null],
    });
    await shown.during(async () => {
      const lists = chooseInLists(['New Column…', 'SQL Expression']);
      try {
        await run('lanceCatalog.backfill.column', tableNode('local', [], 'odd'));
      } finally {
        lists.dispose();
        shown.addLists(lists.shown);
      }
    });
    shown.areInert('column', 'function');
  });

  test('is no link in what is said of a job', async () => {
    const shown = new ShownTexts();
    await shown.during(async () => {
      await run('lanceCatalog.jobs.open', { kind: 'job', id: hostile('job') });
      const sentence = hostile('sentence');
      for (const state of ['failed', 'succeeded', 'interrupted'] as const)
        await notifyFinishedJobs([someJob({ state, sentence, column: hostile('column') })], {
          isSeen: () => false,
          show: () => {},
          act: () => Promise.resolve(),
        });
    });
    shown.areInert('job', 'column');
  });

  test('is no link in what a Kubernetes API server says', async () => {
    const kube = await KubeApiStandIn.start(folder.path);
    kube.failure = hostile('cluster');
    try {
      await setProfiles(api, { local: profileFor(kube) });
      const shown = new ShownTexts({ chooses: ['Create Anyway', 'Create the RayCluster Anyway'] });
      await shown.during(() => run('lanceCatalog.ray.createCluster'));
      shown.areInert('cluster');
    } finally {
      await setProfiles(api, undefined);
      await kube.stop();
    }
  });

  test('is no link in what a Ray dashboard says', async () => {
    const shown = new ShownTexts({ types: [address, null] });
    await shown.during(() => run('lanceCatalog.ray.connect'));
    shown.areInert('server');
  });

  test('is no link in what a cell asks', async () => {
    const notebook = await openCells(
      join(folder.path, 'asks.ipynb'),
      '1',
      `await input(${JSON.stringify(hostile('cell'))}).catch(() => undefined)`,
    );
    // Before the first cell of a notebook runs, the user must choose a connection.
    await new PersonStandIn({ picks: ['Run Without a Catalog'] }).during(() => execute(notebook, 0));
    const shown = new ShownTexts();
    await shown.during(() => execute(notebook, 1));
    shown.areInert('cell');
    await closeNotebooks(api);
  });
});
