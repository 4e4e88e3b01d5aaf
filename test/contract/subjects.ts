import { existsSync } from 'node:fs';
import type { Catalog } from '#client/catalog.ts';
import { EngineProcess } from '#client/engineProcess.ts';
import { openDir } from '#engine/dir.ts';
import { inRoot } from '../../scripts/paths.ts';
import { tempFolder } from '../harness/temp.ts';

/** The bundle of the engine process, as it is shipped. */
export function engineEntry(): string {
  const entry = inRoot('dist/engine.cjs');
  if (!existsSync(entry)) throw new Error(`There is no ${entry}: run "npm run build".`);
  return entry;
}

/** Starts the engine process on the Node that runs the tests. */
export const startEngine = (log?: (line: string) => void): Promise<EngineProcess> =>
  EngineProcess.start({ entry: engineEntry(), node: { path: process.execPath, env: {} }, log });

/** One implementation under test: how a catalog on a directory is opened with it. */
export type Subject = {
  readonly name: string;
  /** Before the first and after the last test. */
  start(): Promise<void>;
  stop(): Promise<void>;
  open(root: string): Promise<Catalog>;
};

function inProcess(): Subject {
  return {
    name: 'dir, in this process',
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    open: (root) => openDir({ root }),
  };
}

function overRest(): Subject {
  let engine: EngineProcess | undefined;
  return {
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

/** Runs the same tests against every implementation; `makeCatalog` gives a catalog on an empty directory. */
export function forEachSubject(
  title: string,
  define: (makeCatalog: () => Promise<{ db: Catalog; root: string }>) => void,
): void {
  for (const subject of [inProcess(), overRest()]) {
    suite(`${title}: ${subject.name}`, function () {
      this.timeout(30_000);
      suiteSetup(() => subject.start());
      suiteTeardown(() => subject.stop());
      define(async () => {
        const root = tempFolder();
        return { db: await subject.open(root), root };
      });
    });
  }
}
