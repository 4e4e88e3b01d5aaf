import { fileURLToPath } from 'node:url';
import { getCallSites, inspect, type InspectOptions } from 'node:util';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { acceptFunction } from '#jobs/definition/trust.ts';
import { functionOfRunning } from '#jobs/definition/fileFunction.ts';
import { checkFunctionOptions, invalid, type FunctionOptions } from '#jobs/definition/functionOptions.ts';
import { decodeOutput } from '#jobs/definition/outputType.ts';
import { typescriptFunction } from '#jobs/definition/typescriptFunction.ts';
import { isOwnUrl } from '#session/run/ownFiles.ts';
import { cellCountOf } from '#session/run/scriptNames.ts';
import { portableModule, type Notebook } from './portableModule.ts';
import type { Udf } from './functionTypes.ts';

type UdfDeps = {
  readonly notebook: () => Notebook;
  /** Returns the folder from which the imports of functions are resolved. */
  readonly folder: () => string;
};

/** Creates `udf`. It checks whether a function is portable when the function is defined, not when a backfill starts. */
export function createUdf({ notebook, folder }: UdfDeps): Udf {
  return (given: unknown, compute: unknown) => {
    const options = checkFunctionOptions(given);
    const { name } = options;
    if (typeof compute !== 'function')
      throw invalid(
        `Expected a function as the second argument of udf for "${name}", got ${typeof compute}.`,
        'Write udf({ … }, (row) => …).',
      );
    const file = callingFile();
    const made = file === undefined ? ofCell(options, compute, notebook(), folder()) : functionOfRunning(file, options);
    try {
      acceptFunction(made.hash, { name });
    } catch {
      // The user's own functions need no later consent. If the consent can't be stored, the error is dropped, and the
      // user has to consent when the function is found on a table.
    }
    return shownInWords(made);
  };
}

/** Returns the same function, changed so that its output type is readable when the function is printed. */
function shownInWords(made: ComputedFunction): ComputedFunction {
  const words = { ...made, output: typeText(decodeOutput(made.output).type) };
  const shown = (_depth: number, options: InspectOptions): string => inspect(words, options);
  return Object.freeze(Object.defineProperty({ ...made }, inspect.custom, { value: shown }));
}

function ofCell(options: FunctionOptions, compute: Function, notebook: Notebook, folder: string): ComputedFunction {
  const contents = portableModule(options.name, compute, notebook);
  return typescriptFunction(options, { contents, folder, name: options.name }, contents);
}

/**
 * Returns the user's file that called `udf`, because the function is then read from this file. Undefined if a cell
 * called `udf`.
 */
function callingFile(): string | undefined {
  const caller = getCallSites().find(({ scriptName }) => isOwnUrl(scriptName) || cellCountOf(scriptName) !== undefined);
  return caller && isOwnUrl(caller.scriptName) ? fileURLToPath(caller.scriptName) : undefined;
}
