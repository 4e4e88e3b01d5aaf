import type { Field } from '#arrow';
import { withHash } from './hash.ts';
import { encodeOutput } from './outputType.ts';
import type { StoredFunction } from './storedFunction.ts';

/** Field metadata of a column that the engine computes. */
const isComputed = 'computed_column';
const expressionOf = 'computed_column.expression';
const inputsOf = 'computed_column.inputs';

/** Returns the expression of a column that the engine computes and refreshes, undefined for any other column. */
export function engineFunction(field: Field): StoredFunction | undefined {
  const expression = field.metadata.get(expressionOf);
  if (field.metadata.get(isComputed) !== 'true' || expression === undefined) return undefined;
  const output = encodeOutput(field.name, field.type);
  const inputs = readInputs(field.metadata.get(inputsOf));
  const fn = withHash({
    kind: 'sql',
    name: field.name,
    version: '',
    inputs,
    output,
    onError: { mode: 'fail' },
    expression,
  });
  return { function: fn, author: '', registeredAt: '' };
}

/**
 * Reads the names of the inputs. Any writer of the table can change this entry. Invalid parts are ignored, because jobs
 * do not use the inputs of such a column.
 */
function readInputs(json: string | undefined): readonly string[] {
  let inputs: unknown;
  try {
    inputs = JSON.parse(json ?? '[]');
  } catch {
    return [];
  }
  return Array.isArray(inputs) ? inputs.filter((name): name is string => typeof name === 'string') : [];
}
