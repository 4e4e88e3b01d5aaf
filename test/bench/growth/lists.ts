import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, connectNamespace } from '@lancedb/lancedb';
import type { Catalog } from '#catalog/catalog.ts';
import { openRest } from '#catalog/rest/restCatalog.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { UpstreamServers } from '../../contract/upstream/upstreamServers.ts';
import { benchFolder } from '../data.ts';
import { startOurs } from './servers.ts';
import { inTurns, lineOf, type Figure } from '../report.ts';

export type ListsOptions = {
  /** Number of measured runs of each way. */
  runs: number;
  /** Numbers of tables of a directory, and of versions of a table. */
  sizes: readonly number[];
  say: (line: string) => void;
};

/**
 * Measures lists of the tables of a directory and of the versions of a table. The cost should not grow with the square
 * of the length. The peers are upstream's plain connection, its namespace and its server, in turns in the same run.
 */
export async function measureLists({ runs, sizes, say }: ListsOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const size of sizes) {
    for (const measure of [measureTables, measureVersions]) {
      for (const figure of await measure(size, runs, say)) {
        figures.push(figure);
        say(lineOf(figure));
      }
    }
  }
  return figures;
}

async function measureTables(size: number, runs: number, say: (line: string) => void): Promise<Figure[]> {
  const root = await benchFolder(`tables-${size}-v1`, (folder) => makeTables(folder, size), say);
  return withServers(root, async ({ dir, rest, upstreamUri }) => {
    const plain = await connect(root);
    const theirs = await connectNamespace('dir', { root }, { readConsistencyInterval: 0 });
    const page = { limit: 100 };
    const first = await inTurns(
      {
        dir: () => dir.listTables([], page),
        serve: () => rest.listTables([], page),
        tree: () => Promise.all([rest.listNamespaces([], page), rest.listTables([], page)]),
        connect: () => plain.tableNames(page),
        namespace: () => theirs.listTables([], page),
        adapter: () => read(`${upstreamUri}/v1/namespace/%24/table/list?limit=100`),
      },
      runs,
    );
    const all = await inTurns(
      {
        names: () => dir.tableNames(),
        dir: () => allTables(dir, 100),
        serve: () => allTables(rest, 1000),
        connect: () => plain.tableNames({ limit: size }),
      },
      Math.min(runs, 3),
    );
    plain.close();
    theirs.close();
    const of = `${size} tables`;
    return [
      { name: `${of}: first page of 100, dir`, value: first.dir, unit: 'ms', goal: Math.max(20, first.connect) },
      { name: `${of}: first page of 100, serve`, value: first.serve, unit: 'ms' },
      { name: `${of}: both lists of the tree, serve`, value: first.tree, unit: 'ms' },
      { name: `${of}: first page of 100, upstream's connection`, value: first.connect, unit: 'ms' },
      { name: `${of}: first page of 100, upstream's namespace`, value: first.namespace, unit: 'ms' },
      { name: `${of}: first page of 100, upstream's server`, value: first.adapter, unit: 'ms' },
      { name: `${of}: all names, dir`, value: all.names, unit: 'ms' },
      { name: `${of}: all in pages of 100, dir`, value: all.dir, unit: 'ms' },
      { name: `${of}: all in pages of 1,000, serve`, value: all.serve, unit: 'ms' },
      { name: `${of}: all names, upstream's connection`, value: all.connect, unit: 'ms' },
    ];
  });
}

async function measureVersions(size: number, runs: number, say: (line: string) => void): Promise<Figure[]> {
  const root = await benchFolder(`versions-${size}-v1`, (folder) => makeVersions(folder, size), say);
  return withServers(root, async ({ dir, rest, uri, upstreamUri }) => {
    const [local, remote] = [await dir.openTable('t'), await rest.openTable('t')];
    const newest = '/v1/table/t/version/list?descending=true&limit=10';
    const one = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"version":1}' };
    const times = await inTurns(
      {
        dir: () => local.listVersions(),
        rest: () => remote.listVersions(),
        newest: () => read(`${uri}${newest}`, { method: 'POST' }),
        adapter: () => read(`${upstreamUri}${newest}`, { method: 'POST' }),
        one: () => read(`${uri}/v1/table/t/version/describe`, one),
      },
      runs,
    );
    const of = `${size} versions`;
    return [
      { name: `${of}: all, dir`, value: times.dir, unit: 'ms' },
      { name: `${of}: all, rest on serve`, value: times.rest, unit: 'ms' },
      { name: `${of}: all, rest on serve / dir`, value: times.rest / times.dir, unit: '×', goal: 1.5 },
      { name: `${of}: the newest ten, serve`, value: times.newest, unit: 'ms', goal: 20 },
      { name: `${of}: the newest ten, upstream's server`, value: times.adapter, unit: 'ms' },
      { name: `${of}: one, serve`, value: times.one, unit: 'ms' },
    ];
  });
}

async function allTables(catalog: Catalog, limit: number): Promise<void> {
  let pageToken: string | undefined;
  do ({ pageToken } = await catalog.listTables([], { limit, pageToken }));
  while (pageToken !== undefined);
}

async function read(url: string, request: RequestInit = {}): Promise<unknown> {
  const response = await fetch(url, request);
  if (!response.ok) throw new Error(`The server answered ${response.status}: ${await response.text()}`);
  return response.json();
}

type Served = { dir: Catalog; rest: Catalog; uri: string; upstreamUri: string };

async function withServers<T>(root: string, use: (served: Served) => Promise<T>): Promise<T> {
  const server = await startOurs(root);
  const upstream = new UpstreamServers();
  const [dir, rest] = [await openDir({ root }), await openRest({ uri: server.address })];
  try {
    return await use({ dir, rest, uri: server.address, upstreamUri: await upstream.serve(root) });
  } finally {
    await Promise.all([dir.close(), rest.close(), upstream.stop(), server.stop()]);
  }
}

const tableName = (index: number): string => `t${String(index).padStart(6, '0')}`;

/** Creates one table and copies its folder, because a list reads only the folders. */
async function makeTables(folder: string, size: number): Promise<void> {
  const catalog = await openDir({ root: folder });
  await catalog.createTable(tableName(0), [{ id: 1 }]);
  await catalog.close();
  const first = join(folder, `${tableName(0)}.lance`);
  for (let index = 1; index < size; index++)
    await cp(first, join(folder, `${tableName(index)}.lance`), { recursive: true });
}

async function makeVersions(folder: string, size: number): Promise<void> {
  const connection = await connect(folder);
  const table = await connection.createTable('t', [{ id: 1 }]);
  for (let index = 1; index < size; index++)
    await table.updateFieldMetadata([{ path: 'id', metadata: { n: String(index) } }]);
  connection.close();
}
