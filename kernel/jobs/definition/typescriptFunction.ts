import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { bundleFunction, type ModuleText } from './bundle.ts';
import type { FunctionOptions } from './functionOptions.ts';
import { withHash } from './hash.ts';
import { encodeOutput } from './outputType.ts';

/**
 * Creates a function from a module and its imports.
 * @param source code to show to users who decide whether the function may run
 * @throws JobError FunctionInvalid, FunctionNotPortable
 */
export function typescriptFunction(options: FunctionOptions, module: ModuleText, source: string): ComputedFunction {
  const { name, version, inputs, type, takes, onError } = options;
  return withHash({
    kind: 'typescript',
    name,
    version,
    inputs,
    output: encodeOutput(name, type),
    onError,
    takes,
    code: bundleFunction(module),
    source,
  });
}
