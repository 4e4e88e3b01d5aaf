import type { Field } from '#arrow';
import { withHash } from '#jobs/definition/hash.ts';
import { encodeOutput } from '#jobs/definition/outputType.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';

/**
 * What stands for the function of a column that only the server knows: runner `rest` asks the server to compute the column,
 * and nothing of the function is ever seen here.
 * @param field the column, as the table has it
 */
export const serverFunction = ({ name, type }: Field): ComputedFunction =>
  withHash({
    kind: 'server',
    name,
    version: '',
    inputs: [],
    output: encodeOutput(name, type),
    onError: { mode: 'fail' },
  });
