import { createHash } from 'node:crypto';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import type { ComputedFunction, FunctionBody } from '#shared/jobs/computedFunction.ts';
import { decodeOutput } from './outputType.ts';

export type Unhashed = Omit<ComputedFunction, 'hash' | keyof FunctionBody> & FunctionBody;

/**
 * Returns the SHA-256, in hexadecimal, of everything that determines the values: code, inputs and output type. Equal
 * functions have equal hashes on every machine, regardless of name, version, error handling and location, so that one
 * machine continues from the results of another.
 */
export function functionHash(fn: Unhashed): string {
  const type = typeText(decodeOutput(fn.output).type);
  return createHash('sha256')
    .update(JSON.stringify(['lance-catalog function 1', ...codeOf(fn), fn.inputs, type]))
    .digest('hex');
}

function codeOf(body: FunctionBody): readonly string[] {
  switch (body.kind) {
    case 'sql':
      return [body.kind, body.expression.trim()];
    case 'typescript':
      return [body.kind, body.takes, body.code];
    case 'python':
      return [body.kind, body.takes, body.entry, body.code];
    case 'server':
      return [body.kind];
  }
}

export const withHash = (fn: Unhashed): ComputedFunction => Object.freeze({ ...fn, hash: functionHash(fn) });
