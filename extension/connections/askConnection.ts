import * as vscode from 'vscode';
import type { Connection } from '../explorer/node.ts';
import { type Choice, pickOne } from '../host/ask.ts';
import type { CommandId } from '../manifest.ts';
import { connectionLabel } from './connectionRules.ts';
import type { Connections } from './connections.ts';

type ConnectionAnswer = { name: string | undefined };

/** Returns the connection that the user picks or adds now; `undefined` if the user cancels. */
export async function askConnection(
  title: string,
  connections: Connections,
  others: readonly Choice<ConnectionAnswer>[] = [],
): Promise<ConnectionAnswer | undefined> {
  const chosen = await pickOne<ConnectionAnswer | { add: CommandId }>(title, [
    ...connections.list().map((one) => ({
      label: one.name,
      description: connectionLabel(one),
      icon: 'database',
      value: { name: one.name },
    })),
    { label: 'Add Directory…', icon: 'add', value: { add: 'lanceCatalog.connection.add' } },
    { label: 'Add REST Connection…', icon: 'plug', value: { add: 'lanceCatalog.connection.addRest' } },
    ...others,
  ]);
  if (!chosen || 'name' in chosen) return chosen;
  const added = await vscode.commands.executeCommand<Connection | undefined>(chosen.add);
  return added && { name: added.name };
}
