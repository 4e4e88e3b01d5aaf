import * as vscode from 'vscode';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { pickOne, askText, withProgress } from '../../host/ask.ts';
import { pickItems } from '../../host/messages.ts';
import type { ReadFunction } from './backfillWizard.ts';
import type { ColumnChoice } from './columnChoices.ts';
import { pythonFunctions, typescriptFunctions } from './functionNames.ts';

/** Asks for the file of a function and reads it. Returns `undefined` if the user cancels. */
export async function askFileFunction(
  kind: 'typescript' | 'python',
  choice: ColumnChoice,
  columns: readonly ColumnInfo[],
  read: ReadFunction,
): Promise<ComputedFunction | undefined> {
  const source = kind === 'typescript' ? await askTypescript() : await askPython(choice, columns);
  return source && withProgress('Reading the function…', (signal) => read(source, signal));
}

async function askFile(language: string, ...endings: string[]): Promise<vscode.Uri | undefined> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: `Select the ${language} File of the Function`,
      openLabel: 'Use This File',
      filters: { [language]: endings },
    })) ?? [];
  return file;
}

async function readDocument(file: vscode.Uri): Promise<string> {
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
}

async function askTypescript(): Promise<FunctionSource | undefined> {
  const file = await askFile('TypeScript', 'ts', 'mts', 'js', 'mjs');
  if (!file) return undefined;
  const names = typescriptFunctions(await readDocument(file));
  const name = names.length > 1 ? await pickOne('Select a function', names.map(choiceOf)) : (names[0] ?? 'default');
  if (name === undefined) return undefined;
  return { kind: 'typescript', file: file.fsPath, ...(name !== 'default' && { export: name }) };
}

async function askPython(choice: ColumnChoice, columns: readonly ColumnInfo[]): Promise<FunctionSource | undefined> {
  const file = await askFile('Python', 'py');
  if (!file) return undefined;
  const found = pythonFunctions(await readDocument(file));
  const [only] = found;
  const entry =
    found.length > 1
      ? await pickOne(
          'Select a function',
          found.map((one) => ({ label: one.name, description: one.parameters.join(', '), value: one })),
        )
      : only;
  if (!entry) {
    if (!only) throw new Error(`Can't find a function in "${file.fsPath}". Define one at the top level of the file.`);
    return undefined;
  }
  const takes = entry.parameters.length === 1 && entry.parameters[0] === 'batch' ? 'batch' : 'row';
  const inputs = await askInputs(entry.parameters, columns);
  if (!inputs) return undefined;
  const output = await askText({
    title: `Return type of "${entry.name}"`,
    prompt: 'A type such as int32, double, string, bool, float[768], list<string> or timestamp[us].',
    ...(choice.kind === 'plain' && { value: choice.type }),
    ...(choice.kind === 'computed' && { value: choice.computed.type }),
    check: (typed) => (typed.trim() === '' ? 'A column needs a type.' : undefined),
  });
  if (output === undefined) return undefined;
  return { kind: 'python', file: file.fsPath, entry: entry.name, takes, inputs, output };
}

/**
 * Returns the columns that have the names of the parameters. If there are no parameters, or a parameter has no such
 * column, prompts the user to select the columns.
 */
async function askInputs(
  parameters: readonly string[],
  columns: readonly ColumnInfo[],
): Promise<readonly string[] | undefined> {
  const names = new Set(columns.map(({ name }) => name));
  if (parameters.length > 0 && parameters.every((one) => names.has(one))) return parameters;
  const picked = await pickItems(
    columns.map(({ name, type }) => ({ label: name, description: type, value: name })),
    { title: 'Select the columns that the function reads (passed in the order of the table)' },
  );
  return picked && picked.length > 0 ? picked : undefined;
}

const choiceOf = (name: string): { label: string; value: string } => ({ label: name, value: name });
