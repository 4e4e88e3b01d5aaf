import { createHash } from 'node:crypto';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import type { ComputedFunction, FunctionBody } from '#shared/jobs/computedFunction.ts';
import { decodeOutput } from './outputType.ts';

/** A function before it has a hash. */
export type Unhashed = Omit<ComputedFunction, 'hash' | keyof FunctionBody> & FunctionBody;

/**
 * SHA-256, in hexadecimal, over all that decides about values: the code, what it takes and what it gives. Names, versions
 * and what is done with errors are no part of it, nor is the place where the code was written: the same function is the
 * same everywhere, so that one machine goes on with what another one has computed.
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

/** The function with its hash, which nobody changes any more. */
export const withHash = (fn: Unhashed): ComputedFunction => Object.freeze({ ...fn, hash: functionHash(fn) });
