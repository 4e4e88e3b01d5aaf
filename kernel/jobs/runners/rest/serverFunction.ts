import { createHash } from 'node:crypto';
import { Schema, Table, tableToIPC, type Field } from '#arrow';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';

/**
 * What stands for the function of a column that only the server knows: runner `rest` asks the server to compute the column,
 * and nothing of the function is ever seen here.
 * @param field the column, as the table has it
 */
export function serverFunction(field: Field): ComputedFunction {
  const { name } = field;
  const empty = new Table(new Schema([field]));
  return {
    kind: 'server',
    name,
    version: '',
    hash: createHash('sha256')
      .update(JSON.stringify(['server', name, String(field.type)]))
      .digest('hex'),
    inputs: [],
    output: Buffer.from(tableToIPC(empty, 'stream')).toString('base64'),
    onError: { mode: 'fail' },
  };
}
