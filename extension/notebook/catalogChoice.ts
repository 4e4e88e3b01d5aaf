import { connectionLabel } from '../connections/connectionRules.ts';
import type { Connection } from '../explorer/node.ts';
import { asRecord } from '#shared/records.ts';
import { type InertMarkdown, markdown, plainText } from '../host/inertMarkdown.ts';

/**
 * The catalog that `db` opens in a notebook, and why it was chosen. `missing`: the notebook names, or was bound to, a
 * connection that does not exist.
 */
export type CatalogChoice =
  { kind: 'chosen' | 'bound' | 'only'; connection: Connection } | { kind: 'missing'; name: string } | { kind: 'none' };

/**
 * Chooses the connection that the notebook names, else the connection it was bound to earlier, else the only one. Does
 * not choose between several connections for the user, because the cells could write to the wrong catalog.
 */
export function chooseCatalog(
  named: string | undefined,
  connections: readonly Connection[],
  bound: string | undefined,
): CatalogChoice {
  const find = (name: string) => connections.find((one) => one.name === name);
  const chosen = named === undefined ? undefined : find(named);
  if (chosen) return { kind: 'chosen', connection: chosen };
  // `bound` is used even if the file names a connection that does not exist, because the user has selected `bound`
  // instead.
  const earlier = bound === undefined ? undefined : find(bound);
  if (earlier) return { kind: 'bound', connection: earlier };
  const missing = named ?? bound;
  if (missing !== undefined) return { kind: 'missing', name: missing };
  const [only] = connections;
  return only && connections.length === 1 ? { kind: 'only', connection: only } : { kind: 'none' };
}

export function describeChoice(choice: CatalogChoice): { text: string; tooltip: InertMarkdown } {
  switch (choice.kind) {
    case 'missing':
      return {
        text: `db: ${choice.name} is missing`,
        tooltip: markdown`This notebook uses the connection "${plainText(choice.name)}", which does not exist. Click to choose another.`,
      };
    case 'none':
      return {
        text: 'db: no catalog',
        tooltip: markdown`
Click to choose the catalog for \`db\` in this notebook.
        `,
      };
    case 'chosen':
    case 'bound':
    case 'only': {
      const { name, kind } = choice.connection;
      const what = kind === 'rest' ? 'the server' : 'the directory';
      const why = {
        chosen: 'chosen for this notebook',
        bound: 'used by this notebook before',
        only: 'the only connection',
      }[choice.kind];
      return {
        text: `db: ${name}`,
        tooltip: markdown`\`db\` is ${plainText(`${what} ${connectionLabel(choice.connection)}; ${why}`)}. Click to choose another.`,
      };
    }
  }
}

/**
 * Returns the connection that a notebook names. `metadata` is VS Code's metadata of the notebook, and its property
 * `metadata` is the metadata in the file.
 */
export function namedConnection(metadata: Record<string, unknown>): string | undefined {
  const name = asRecord(asRecord(metadata['metadata'])['lanceCatalog'])['connection'];
  return typeof name === 'string' ? name : undefined;
}

export function withConnection(metadata: Record<string, unknown>, name: string): Record<string, unknown> {
  const file = asRecord(metadata['metadata']);
  return { ...metadata, metadata: { ...file, lanceCatalog: { ...asRecord(file['lanceCatalog']), connection: name } } };
}
