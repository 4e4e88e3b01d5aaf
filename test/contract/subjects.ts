import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { EngineProcess } from '#catalog/engineProcess.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { inRoot } from '../../scripts/paths.ts';
import { tempFolder } from '../harness/temp.ts';
import { ServePair } from './serve/servePair.ts';
import { type Serving, startServing } from './serve/serving.ts';
import { expectGaps } from './upstream/upstreamGaps.ts';
import { UpstreamServers } from './upstream/upstreamServers.ts';

/** Returns the shipped bundle of the engine process. */
export function engineEntry(): string {
  const entry = inRoot('dist/engine.cjs');
  if (!existsSync(entry)) throw new Error(`There is no ${entry}: run "npm run build".`);
  return entry;
}

/** Starts the engine process with the Node that runs the tests. */
export const startEngine = (log?: (line: string) => void): Promise<EngineProcess> =>
  EngineProcess.start({
    entry: engineEntry(),
    storeFiles: inRoot('dist/jobParts.cjs'),
    node: { path: process.execPath, env: {} },
    log,
  });

/** The implementation under test. */
export type SubjectId = 'dir' | 'engine' | 'serve' | 'mount' | 'pair' | 'upstream';

/** One implementation under test, and how it opens a catalog on a directory. */
export type Subject = {
  readonly id: SubjectId;
  readonly name: string;
  /** Runs before the first test; `stop` runs after the last one. */
  start(): Promise<void>;
  stop(): Promise<void>;
  open(root: string): Promise<Catalog>;
  /** Returns the location of a new root, if it is not a folder of this machine. */
  place?(): Promise<string>;
};

function inProcess(): Subject {
  return {
    id: 'dir',
    name: 'dir, in this process',
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    open: (root) => openDir({ root }),
  };
}

function overEngine(): Subject {
  let engine: EngineProcess | undefined;
  return {
    id: 'engine',
    name: 'rest, over the engine process',
    start: async () => {
      engine = await startEngine();
    },
    stop: async () => {
      await engine?.dispose();
    },
    open: (root) => {
      if (!engine) throw new Error('The engine is not started.');
      return Promise.resolve(engine.catalog(root));
    },
  };
}

function overServe(): Subject {
  const running: Serving[] = [];
  return {
    id: 'serve',
    name: 'rest, over our server by TCP with a key',
    start: () => {
      registerRest();
      return Promise.resolve();
    },
    stop: async () => {
      await Promise.all(running.map((server) => server.close()));
    },
    open: async (root) => {
      const server = await startServing(root);
      running.push(server);
      return connectNamespace('rest', { uri: server.uri, apiKey: server.key });
    },
  };
}

/** A namespace that is the root of a catalog. Its names occur in no test. */
const mounted = ['outer-one', 'inner-one'];

/**
 * A client whose root is a namespace of our server. `stop` fails if a response named the namespace, or if anything was
 * created beside it.
 */
function overMount(): Subject {
  const running: { readonly server: Serving; readonly root: string }[] = [];
  return {
    id: 'mount',
    name: 'rest, over a namespace of our server as the root',
    start: () => {
      registerRest();
      return Promise.resolve();
    },
    stop: async () => {
      for (const { server, root } of running) {
        await server.close();
        const whole = await openDir({ root });
        for (const [depth, name] of mounted.entries()) {
          const above = mounted.slice(0, depth);
          assert.deepEqual(await whole.listNamespaces(above), { namespaces: [name] });
          assert.deepEqual(await whole.tableNames(above), []);
        }
        await whole.close();
      }
    },
    open: async (root) => {
      const whole = await openDir({ root });
      for (const depth of mounted.keys()) await whole.createNamespace(mounted.slice(0, depth + 1));
      await whole.close();
      const server = await startServing(root, [mounted.join('/'), JSON.stringify(mounted).slice(1, -1)]);
      running.push({ server, root });
      return connectNamespace('rest', { uri: `${server.uri}/at/${mounted.join('%24')}`, apiKey: server.key });
    },
  };
}

/** Suites that also run on `mount`. The others read the folder of the root, or would test the same code again. */
const inMount = [
  'branches',
  'capabilities',
  'columns',
  'copy',
  'creating tables',
  'declared tables',
  'errors',
  'full-text queries',
  'indexes',
  'merging',
  'metadata of columns and schema',
  'names',
  'namespaces',
  'optimizing',
  'query options',
  'registered tables',
  'renaming',
  'searches by several things',
  'statistics',
  'tables',
  'tables and namespaces of one name',
  'tags',
  'versions',
  'writing',
  'wrong queries',
];

/** Tests that `mount` skips, because they open the root beside the server or need ten levels below the root. */
const notInMount = [
  /^describe one version of themselves while/,
  /^follow another writer/,
  /^whose creation fails take none away/,
  /^makes the indexes of a table again/,
  /^that upstream made are listed, opened/,
  /^nest ten levels deep/,
  /^is seen by other clients of the same root/,
  /^names as long as the rule allows/,
  /^works beside clients that add/,
];

// One pair for all suites of this process, because starting its servers takes seconds.
const pair = new ServePair();

function overPair(): Subject {
  return {
    id: 'pair',
    name: 'rest, over two of our servers on one object store, in turns',
    start: () => {
      registerRest();
      return Promise.resolve();
    },
    stop: () => Promise.resolve(),
    open: async (root) => connectNamespace('rest', await pair.reach(root)),
    place: () => pair.place(),
  };
}

/**
 * Suites that also run on the pair of servers. They test that the servers keep no state of their own. The other suites
 * would test the same code again, and an object store is slow.
 */
const onPair = [
  'creating tables',
  'namespaces',
  'tables',
  'writing',
  'merging',
  'two writers at once',
  'versions',
  'tags',
  'branches',
  'renaming',
  'optimizing',
];

let servers: UpstreamServers | undefined;

/** Returns upstream's servers. One Python process serves all suites of this process and ends with this process. */
function upstreamServers(): UpstreamServers {
  return (servers ??= new UpstreamServers());
}

function overUpstream(): Subject {
  return {
    id: 'upstream',
    name: "rest, over upstream's server",
    start: () => {
      registerRest();
      return Promise.resolve();
    },
    stop: () => Promise.resolve(),
    open: async (root) => connectNamespace('rest', { uri: await upstreamServers().serve(root) }),
  };
}

type Define = (makeCatalog: () => Promise<{ db: Catalog; root: string }>, subject: Subject) => void;

/**
 * Runs the same tests on every implementation; `makeCatalog` returns a catalog on an empty directory. Operations that
 * upstream's server does not support are in `upstreamGaps.ts`, not in the tests.
 */
export function forEachSubject(title: string, define: Define): void {
  const onStore = onPair.includes(title) ? [overPair()] : [];
  const mount = inMount.includes(title) ? [overMount()] : [];
  forEach([inProcess(), overEngine(), overServe(), ...mount, ...onStore, overUpstream()], title, define);
}

/**
 * Runs tests on our implementations only, for behavior outside of the specification, for example after a directory was
 * damaged under its server.
 */
export function forEachOfOurs(title: string, define: Define): void {
  forEach([inProcess(), overEngine(), overServe()], title, define);
}

function forEach(subjects: readonly Subject[], title: string, define: Define): void {
  for (const subject of subjects) {
    suite(`${title}: ${subject.name}`, function () {
      this.timeout(30_000);
      suiteSetup(() => subject.start());
      suiteTeardown(() => subject.stop());
      const opened: Catalog[] = [];
      teardown(async () => {
        await Promise.all(opened.splice(0).map((db) => db.close()));
      });
      define(async () => {
        const root = (await subject.place?.()) ?? tempFolder();
        const db = await subject.open(root);
        opened.push(db);
        return { db, root };
      }, subject);
      if (subject.id === 'upstream') expectGaps(title, this);
      if (subject.id === 'mount')
        this.tests = this.tests.filter((each) => !notInMount.some((pattern) => pattern.test(each.title)));
    });
  }
}
