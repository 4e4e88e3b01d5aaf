import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { messageOf } from '#shared/errors.ts';
import type { ComputedFunction, OnError } from '#shared/jobs/computedFunction.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import { shownPath } from './bundle.ts';
import { checkFunctionOptions, invalid, type FunctionOptions } from './functionOptions.ts';
import { functionModule } from './functionModule.ts';
import { literalOf } from './literals.ts';
import { parsedFile } from './parsedFile.ts';
import { typescriptFunction } from './typescriptFunction.ts';
import { exportedCall, namedCall } from './udfCalls.ts';

// A file that exports `udf({ … }, (row) => …)`. What the options say is read off the text, and the file that is bundled
// has the function in the place of the call: so nothing of it runs before somebody has agreed to that.

/**
 * The function that a TypeScript file exports, by default or by a name.
 * @throws JobError FunctionInvalid, FunctionNotPortable
 */
export async function fileFunction(
  source: Extract<FunctionSource, { kind: 'typescript' }>,
  path: string,
  onError: OnError | undefined,
  signal: AbortSignal,
): Promise<ComputedFunction> {
  const shown = shownPath(path);
  const text = await readFile(path, { encoding: 'utf8', signal }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw invalid(`The file of the function can't be read: ${messageOf(cause)}.`, 'Look at its path.', cause);
  });
  const file = parsedFile(path, text);
  const exported = source.export ?? 'default';
  const found = exportedCall(file, exported);
  if (!found) {
    const what = exported === 'default' ? `${shown} has no default export` : `${shown} exports no "${exported}"`;
    throw invalid(
      `${what} that is a call of udf.`,
      "Write export default udf({ … }, (row) => …), with udf of 'lance-catalog'.",
    );
  }
  const [given, fn] = found.call.arguments;
  if (!given || !fn)
    throw invalid(`The udf of ${shown} lacks its options or its function.`, 'Write udf({ … }, (row) => …).');
  const said = literalOf(given, file);
  const defaults = { name: exported === 'default' ? basename(path).replace(/\.\w+$/, '') : exported };
  const named = {
    ...(source.name !== undefined && { name: source.name }),
    ...(source.version !== undefined && { version: source.version }),
  };
  const options = checkFunctionOptions({ ...defaults, ...asObject(said), ...named, ...(onError && { onError }) });
  const contents = functionModule(file, found.local);
  return typescriptFunction(options, moduleOf(path, contents), text);
}

/**
 * A function of a file that is being run, whose options are known: of a notebook that imports the file.
 * @throws JobError FunctionInvalid, FunctionNotPortable
 */
export function functionOfRunning(path: string, options: FunctionOptions): ComputedFunction {
  const text = readFileSync(path, 'utf8');
  const file = parsedFile(path, text);
  const found = namedCall(file, options.name);
  if (found) return typescriptFunction(options, moduleOf(path, functionModule(file, found.local)), text);
  throw invalid(
    `The function "${options.name}" of ${shownPath(path)} is no constant of the file.`,
    `Write export const … = udf({ name: '${options.name}', … }, (row) => …) at its top level.`,
  );
}

const moduleOf = (path: string, contents: string) => ({
  contents,
  folder: dirname(path),
  name: basename(path),
  isJsx: path.endsWith('x'),
});

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});
