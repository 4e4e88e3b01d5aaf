import { accept } from '#jobs/definition/trust.ts';
import { checkFunctionOptions, invalid } from '#jobs/definition/functionOptions.ts';
import { typescriptFunction } from '#jobs/definition/typescriptFunction.ts';
import { portableModule, type Notebook } from './portableModule.ts';
import type { Udf } from './functionTypes.ts';

export type UdfParts = {
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
    const contents = portableModule(name, compute, notebook());
    const made = typescriptFunction(options, { contents, folder: folder(), name }, contents);
    try {
      accept(made.hash, { name });
    } catch {
      // Where nothing can be kept, it is asked about once it is found on a table.
    }
    return made;
  };
}
