import type { Field } from '#arrow';
import { withHash } from './hash.ts';
import { encodeOutput } from './outputType.ts';
import type { StoredFunction } from './storedFunction.ts';

/** What the engine keeps of a column that it computes itself. */
const isComputed = 'computed_column';
const expressionOf = 'computed_column.expression';
const inputsOf = 'computed_column.inputs';

/** The expression of a column that the engine computes and refreshes itself; undefined for any other column. */
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

/** Whoever may write to the table may write this: what can't be read is left out, since nothing is computed by it here. */
function readInputs(json: string | undefined): readonly string[] {
  let inputs: unknown;
  try {
    inputs = JSON.parse(json ?? '[]');
  } catch {
    return [];
  }
  return Array.isArray(inputs) ? inputs.filter((name): name is string => typeof name === 'string') : [];
}
