import * as vscode from 'vscode';
import { isRecord } from '#shared/records.ts';
import { eventually } from '../support.ts';

// Actions of tests of debugging, and how they read the position of the paused code.

/** A position at which debugging is paused. */
export type Stop = { session: vscode.DebugSession; reason: unknown };
type Frame = { id: number; name: string; line: number; source?: { name: string; path: string } };

/** Sets a breakpoint. Lines count from 1. */
export function breakAt(cell: vscode.NotebookCell, line: number, condition?: string): void {
  const location = new vscode.Location(cell.document.uri, new vscode.Position(line - 1, 0));
  vscode.debug.addBreakpoints([new vscode.SourceBreakpoint(location, true, condition)]);
}

/** Returns the kinds of exceptions at which a debugger offers to stop. */
export const filtersIn = (all: unknown): unknown[] =>
  (Array.isArray(all) ? all : []).map((one: unknown) => isRecord(one) && one['filter']);

/**
 * Waits for the end of a cell's first run. Doesn't wait for its times, because VS Code records none for a cell that was
 * paused.
 */
export async function ended(notebook: vscode.NotebookDocument, index: number): Promise<boolean> {
  const cell = notebook.cellAt(index);
  await eventually(`the end of cell ${index}`, () => cell.executionSummary?.success !== undefined);
  // Wait a moment, because the last outputs may arrive later.
  await new Promise((resolve) => setTimeout(resolve, 100));
  return cell.executionSummary?.success === true;
}

export async function stackOf({ session }: Stop): Promise<Frame[]> {
  const { stackFrames } = (await session.customRequest('stackTrace', { threadId: 1 })) as { stackFrames: Frame[] };
  return stackFrames;
}

type Variable = { name: string; value: string; of: number };

/** Returns variables of the top frame from all scopes except the global one, the innermost last. */
async function variablesIn(stop: Stop): Promise<Variable[]> {
  const [frame] = await stackOf(stop);
  type Scope = { variablesReference: number; expensive?: boolean };
  const { scopes } = (await stop.session.customRequest('scopes', { frameId: frame?.id })) as { scopes: Scope[] };
  const found: Variable[] = [];
  for (const { variablesReference: of } of scopes.filter(({ expensive }) => expensive !== true).toReversed()) {
    type Variables = { variables: Omit<Variable, 'of'>[] };
    const { variables } = (await stop.session.customRequest('variables', { variablesReference: of })) as Variables;
    found.push(...variables.map((each) => ({ ...each, of })));
  }
  return found;
}

/** Returns variables of the top frame by name, from all scopes except the global one. */
export const variablesOf = async (stop: Stop): Promise<Record<string, string>> =>
  Object.fromEntries((await variablesIn(stop)).map(({ name, value }) => [name, value]));

/** Changes a variable, as a user does in the list of variables. */
export async function setVariable(stop: Stop, name: string, value: string): Promise<void> {
  const variable = (await variablesIn(stop)).findLast((each) => each.name === name);
  await stop.session.customRequest('setVariable', { variablesReference: variable?.of, name, value });
}
