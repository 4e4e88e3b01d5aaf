import type { Engine } from '../host/engine.ts';
import type { Abilities } from './abilities.ts';
import type { Catalogs } from './catalogs.ts';
import type { Connections } from './connections.ts';
import type { CatalogHealth } from './health.ts';
import { serverRemedy } from './failureWords.ts';
import type { TreeContext } from './tree.ts';

export type TreeParts = {
  connections: Connections;
  catalogs: Catalogs;
  engine: Engine;
  abilities: Abilities;
  health: CatalogHealth;
  report: (what: string, error: unknown) => void;
};

/** What the tree asks: catalogs for its rows, what can be done with them, and what mends a failure. */
export const treeContext = ({ connections, catalogs, engine, abilities, health, report }: TreeParts): TreeContext => ({
  catalog: (name) => catalogs.get(name),
  answered: ({ connection, path }, catalog) => {
    void abilities.probe(connection, catalog);
    if (path.length === 0) void health.inspect(connections.get(connection));
  },
  problems: (name) => health.of(name),
  abilities: (name) => abilities.of(name),
  remedy: (name, error) => {
    const isServer = connections.list().some((one) => one.name === name && one.kind === 'rest');
    if (isServer) return serverRemedy(error);
    return engine.problem ? 'restart' : 'retry';
  },
  report,
});
