import { connectionLabel } from '../connections/connectionRules.ts';
import type { Connection } from '../explorer/node.ts';
import { asRecord } from '#shared/records.ts';

/** The catalog that `db` is in a notebook, and why. `missing`: the notebook names a connection that does not exist. */
export type CatalogChoice =
  { kind: 'chosen' | 'only' | 'last'; connection: Connection } | { kind: 'missing'; name: string } | { kind: 'none' };

/** Chooses the connection that the notebook names, else the only one, else the one used last. */
export function chooseCatalog(
  named: string | undefined,
  connections: readonly Connection[],
  lastUsed: string | undefined,
): CatalogChoice {
  const find = (name: string) => connections.find((one) => one.name === name);
  if (named !== undefined) {
    const connection = find(named);
    return connection ? { kind: 'chosen', connection } : { kind: 'missing', name: named };
  }
  const [only] = connections;
  if (only && connections.length === 1) return { kind: 'only', connection: only };
  const last = lastUsed === undefined ? undefined : find(lastUsed);
  return last ? { kind: 'last', connection: last } : { kind: 'none' };
}

export function describeChoice(choice: CatalogChoice): { text: string; tooltip: string } {
  switch (choice.kind) {
    case 'missing':
      return {
        text: `db: ${choice.name} is missing`,
        tooltip: `This notebook uses the connection "${choice.name}", which does not exist. Click to choose another.`,
      };
    case 'none':
      return { text: 'db: no catalog', tooltip: 'Click to choose the catalog for `db` in this notebook.' };
    case 'chosen':
    case 'only':
    case 'last': {
      const { name, kind } = choice.connection;
      const what = kind === 'rest' ? 'the server' : 'the directory';
      const why = {
        chosen: 'chosen for this notebook',
        only: 'the only connection',
        last: 'the connection used last',
      }[choice.kind];
      return {
        text: `db: ${name}`,
        tooltip: `\`db\` is ${what} ${connectionLabel(choice.connection)}; ${why}. Click to choose another.`,
      };
    }
  }
}

/** Returns the connection that a notebook names. `metadata` is from VS Code, with that of the file under `metadata`. */
export function namedConnection(metadata: Record<string, unknown>): string | undefined {
  const name = asRecord(asRecord(metadata['metadata'])['lanceCatalog'])['connection'];
  return typeof name === 'string' ? name : undefined;
}

export function withConnection(metadata: Record<string, unknown>, name: string): Record<string, unknown> {
  const file = asRecord(metadata['metadata']);
  return { ...metadata, metadata: { ...file, lanceCatalog: { ...asRecord(file['lanceCatalog']), connection: name } } };
}
