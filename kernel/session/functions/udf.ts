import { fileURLToPath } from 'node:url';
import { getCallSites, inspect, type InspectOptions } from 'node:util';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { accept } from '#jobs/definition/trust.ts';
import { functionOfRunning } from '#jobs/definition/fileFunction.ts';
import { checkFunctionOptions, invalid, type FunctionOptions } from '#jobs/definition/functionOptions.ts';
import { decodeOutput } from '#jobs/definition/outputType.ts';
import { typescriptFunction } from '#jobs/definition/typescriptFunction.ts';
import { isOwnUrl } from '#session/run/ownFiles.ts';
import { cellCountOf } from '#session/run/scriptNames.ts';
import { portableModule, type Notebook } from './portableModule.ts';
import type { Udf } from './functionTypes.ts';

type UdfParts = {
  /** The notebook as it is now. */
  readonly notebook: () => Notebook;
  /** Where its imports are resolved from. */
  readonly folder: () => string;
};

/** Makes `udf`. Whether a function can travel is known when it is defined, and not when somebody waits for a column. */
export function createUdf({ notebook, folder }: UdfParts): Udf {
  return (given: unknown, compute: unknown) => {
    const options = checkFunctionOptions(given);
    const { name } = options;
    if (typeof compute !== 'function')
      throw invalid(`The function "${name}" was given no function.`, 'Write udf({ … }, (row) => …).');
    const file = callingFile();
    const made = file === undefined ? ofCell(options, compute, notebook(), folder()) : functionOfRunning(file, options);
    try {
      accept(made.hash, { name });
    } catch {
      // Where nothing can be kept, it is asked about once it is found on a table.
    }
    return shownInWords(made);
  };
}

/** The same function, which says its type in words where it is printed or shown. */
function shownInWords(made: ComputedFunction): ComputedFunction {
  const words = { ...made, output: typeText(decodeOutput(made.output).type) };
  const shown = (_depth: number, options: InspectOptions): string => inspect(words, options);
  return Object.freeze(Object.defineProperty({ ...made }, inspect.custom, { value: shown }));
}

function ofCell(options: FunctionOptions, compute: Function, notebook: Notebook, folder: string): ComputedFunction {
  const contents = portableModule(options.name, compute, notebook);
  return typescriptFunction(options, { contents, folder, name: options.name }, contents);
}

/** The file of the person's own that called, which says more of a function than the function; undefined for a cell. */
function callingFile(): string | undefined {
  const caller = getCallSites().find(({ scriptName }) => isOwnUrl(scriptName) || cellCountOf(scriptName) !== undefined);
  return caller && isOwnUrl(caller.scriptName) ? fileURLToPath(caller.scriptName) : undefined;
}
