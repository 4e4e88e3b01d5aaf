import type { Engine } from '../host/engine.ts';
import type { Abilities } from './abilities.ts';
import type { Catalogs } from './catalogs.ts';
import type { Connections } from './connections.ts';
import { serverRemedy } from './failureWords.ts';
import type { TreeContext } from './tree.ts';

export type TreeParts = {
  connections: Connections;
  catalogs: Catalogs;
  engine: Engine;
  abilities: Abilities;
  report: (what: string, error: unknown) => void;
};

/** What the tree asks: catalogs for its rows, what can be done with them, and what mends a failure. */
export const treeContext = ({ connections, catalogs, engine, abilities, report }: TreeParts): TreeContext => ({
  catalog: (name) => catalogs.get(name),
  answered: (name, catalog) => void abilities.probe(name, catalog),
  abilities: (name) => abilities.of(name),
  remedy: (name, error) => {
    const isServer = connections.list().some((one) => one.name === name && one.kind === 'rest');
    if (isServer) return serverRemedy(error);
    return engine.problem ? 'restart' : 'retry';
  },
  report,
});
