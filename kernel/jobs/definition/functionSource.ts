import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Table } from '#catalog/table/table.ts';
import { messageOf } from '#shared/errors.ts';
import type { ComputedFunction, OnError } from '#shared/jobs/computedFunction.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { maxCodeBytes, shownPath } from './bundle.ts';
import { checkFunctionOptions, invalid } from './functionOptions.ts';
import { withHash } from './hash.ts';
import { encodeOutput } from './outputType.ts';
import { sqlFunction } from './sqlFunction.ts';

/**
 * Reads a function of a Python file. The workers receive the whole file, and its imports must be installed there. Only
 * the workers run the code, so only they find its errors.
 * @throws JobError FunctionInvalid if the file is missing or too large, or has no function of that name
 */
async function pythonFunction(
  source: Extract<FunctionSource, { kind: 'python' }>,
  file: string,
  onError: OnError | undefined,
  signal: AbortSignal,
): Promise<ComputedFunction> {
  const { entry, takes, inputs, output, name = entry, version } = source;
  const options = checkFunctionOptions({ name, version, input: inputs, output, takes, onError });
  const code = await readFile(file, { encoding: 'utf8', signal }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw invalid(`Can't read the file of function "${name}": ${messageOf(cause)}.`, 'Check the path.', cause);
  });
  if (Buffer.byteLength(code) > maxCodeBytes)
    throw invalid(
      `${shownPath(file)} is larger than ${maxCodeBytes / 2 ** 20} MB.`,
      'Keep each function in a separate file.',
    );
  if (!isPythonName(entry))
    throw invalid(`"${entry}" is not a valid name of a Python function.`, 'Write file.py:function.');
  // Classes and assigned values count too, because they may be callable.
  const declared = new RegExp(String.raw`^(?:(?:async\s+)?def|class)\s+${entry}\b|^${entry}\s*[:=]`, 'm');
  const imported = new RegExp(String.raw`^from\s.+\simport\b.*\b${entry}\b`, 'm');
  if (!declared.test(code) && !imported.test(code))
    throw invalid(`${shownPath(file)} has no function "${entry}".`, `It has ${namesIn(code)}.`);
  return withHash({
    kind: 'python',
    name,
    version: options.version,
    inputs: options.inputs,
    output: encodeOutput(name, options.type),
    onError: options.onError,
    takes,
    code,
    entry,
  });
}

const isPythonName = (name: string): boolean => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name);

function namesIn(code: string): string {
  const names = [...code.matchAll(/^(?:async\s+)?def\s+([\p{L}_][\p{L}\p{N}_]*)/gmu)].map(([, name]) => name);
  return names.length === 0 ? 'none at its top level' : names.slice(0, 20).join(', ');
}

type FunctionPlace = {
  /** Base folder of relative file paths. */
  readonly folder: string;
  /** Determines the type of a SQL expression. */
  readonly table: Table;
  readonly column: string;
  /** Overrides the setting of the function. */
  readonly onError?: OnError | undefined;
};

/**
 * Reads a function from a file or expression, for runners. Files are bundled, but not run.
 * @throws JobError FunctionInvalid, FunctionNotPortable; CatalogError if the table can't be read
 */
export async function readFunction(
  source: FunctionSource,
  { folder, table, column, onError }: FunctionPlace,
  signal: AbortSignal,
): Promise<ComputedFunction> {
  switch (source.kind) {
    case 'sql': {
      const { expression, name = column, version } = source;
      return sqlFunction(table, { name, version, expression, onError }, signal);
    }
    case 'python':
      return pythonFunction(source, resolve(folder, source.file), onError, signal);
    case 'typescript': {
      // The module is loaded lazily, because only TypeScript functions need the compiler.
      const { fileFunction } = await loadLazy(() => import('./fileFunction.ts'));
      return fileFunction(source, resolve(folder, source.file), onError, signal);
    }
  }
}
