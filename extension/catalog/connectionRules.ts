import * as path from 'node:path';
import { fieldsOf } from '../host/shape.ts';
import type { Connection } from './node.ts';

/** What is wrong with the name of a new connection, as a sentence; `undefined` when it is fine. */
export function connectionNameProblem(name: string, existing: readonly { name: string }[]): string | undefined {
  if (name.trim() === '') return 'A connection needs a name.';
  if (existing.some((one) => one.name === name)) return `There is a connection "${name}" already.`;
  return undefined;
}

/** A name for a directory that no other connection has: its own, else with a number. */
export function suggestName(root: string, existing: readonly { name: string }[]): string {
  const base = path.basename(path.resolve(root)) || 'catalog';
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base} ${n}`;
    if (!existing.some((one) => one.name === name)) return name;
  }
}

/**
 * The connections in a stored or set value. What has another shape is left out: it was written by hand or by another
 * version, and one bad entry must not hide the good ones. `${workspaceFolder}` stands for `folder`.
 */
export function readConnections(value: unknown, source: Connection['source'], folder?: string): Connection[] {
  if (!Array.isArray(value)) return [];
  const found = new Map<string, Connection>();
  for (const entry of value) {
    const { name, root } = fieldsOf(entry);
    if (typeof name !== 'string' || typeof root !== 'string' || name.trim() === '' || root === '') continue;
    if (root.includes('${workspaceFolder}') && folder === undefined) continue;
    const where = folder === undefined ? root : root.replace('${workspaceFolder}', () => folder);
    if (!found.has(name)) found.set(name, { name, kind: 'dir', root: where, source });
  }
  return [...found.values()];
}
