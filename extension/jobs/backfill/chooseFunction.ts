import * as vscode from 'vscode';
import { messageOf } from '#shared/errors.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { pickOne, askText, withProgress } from '../../host/ask.ts';
import { pickItems } from '../../host/messages.ts';
import type { Ask } from '../../host/askStep.ts';
import type { ColumnChoice } from './columnChoices.ts';
import { pythonFunctions, typescriptFunctions } from './functionNames.ts';

/** Reads and bundles a function without running it. @throws JobError if the function is not valid */
type ReadFunction = (source: FunctionSource, signal: AbortSignal) => Promise<ComputedFunction>;

type ChooseFunctionDeps = { readonly ask: Ask; readonly read: ReadFunction };

/**
 * Returns the function that the user chooses for the column. `stored` means the function that is stored with the table.
 * `undefined` if the user cancels.
 */
export async function chooseFunction(
  choice: ColumnChoice,
  columns: readonly ColumnInfo[],
  parts: ChooseFunctionDeps,
): Promise<ComputedFunction | 'stored' | undefined> {
  const { read } = parts;
  const way = await askWay(choice);
  switch (way) {
    case undefined:
    case 'stored':
      return way;
    case 'sql':
      return askSql(choice.name, columns, parts);
    case 'typescript': {
      const source = await askTypescript();
      return source && withProgress('Reading the function…', (signal) => read(source, signal));
    }
    case 'python': {
      const source = await askPython(choice, columns);
      return source && withProgress('Reading the function…', (signal) => read(source, signal));
    }
  }
}

type Way = 'stored' | 'sql' | 'typescript' | 'python';

function askWay(choice: ColumnChoice): Promise<Way | undefined> {
  const stored = choice.kind === 'computed' ? choice.computed : undefined;
  return pickOne<Way>(`Select the function that computes "${choice.name}"`, [
    ...(stored
      ? [
          {
            label: `Function "${stored.function.name}" stored with the table`,
            description: `by ${stored.author}`,
            icon: 'symbol-function',
            value: 'stored' as const,
          },
        ]
      : []),
    { label: 'SQL Expression…', description: 'length(caption)', icon: 'symbol-operator', value: 'sql' },
    { label: 'TypeScript File…', description: 'exports udf(…)', icon: 'file-code', value: 'typescript' },
    { label: 'Python File…', description: 'defines a function', icon: 'snake', value: 'python' },
  ]);
}

/** Prompts for an SQL expression and shows its errors or its input columns while the user types. */
async function askSql(
  column: string,
  columns: readonly ColumnInfo[],
  { ask, read }: ChooseFunctionDeps,
): Promise<ComputedFunction | undefined> {
  let made: ComputedFunction | undefined;
  const answer = await ask({
    title: `SQL expression for "${column}"`,
    prompt: `Columns: ${columns.map(({ name }) => name).join(', ')}`,
    placeHolder: 'length(caption)',
    check: (typed) => (typed.trim() === '' ? 'Write an expression.' : undefined),
    look: async (expression, signal) => {
      try {
        const { inputs } = await read({ kind: 'sql', expression }, signal);
        return { note: inputs.length === 0 ? 'Reads no columns.' : `Reads ${inputs.join(', ')}.` };
      } catch (error) {
        return { problem: messageOf(error) };
      }
    },
    accept: async (expression, signal) => {
      made = await read({ kind: 'sql', expression }, signal);
    },
  });
  return answer === undefined ? undefined : made;
}

async function askFile(title: string, ...endings: string[]): Promise<vscode.Uri | undefined> {
  const [file] =
    (await vscode.window.showOpenDialog({ title, openLabel: 'Use This File', filters: { [title]: endings } })) ?? [];
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
 * Returns the columns that have the names of the parameters. If a parameter has no such column, prompts the user to
 * select the columns.
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
