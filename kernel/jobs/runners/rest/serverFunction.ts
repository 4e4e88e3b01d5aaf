import type { Field } from '#arrow';
import { withHash } from '#jobs/definition/hash.ts';
import { encodeOutput } from '#jobs/definition/outputType.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';

/**
 * Returns a placeholder for a function that only the server knows; the runner `rest` lets the server compute the
 * column.
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
