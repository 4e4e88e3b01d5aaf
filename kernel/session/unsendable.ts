import { messageOf } from '#shared/errors.ts';
import type { CellError } from './coreMessages.ts';

/** What a person sees in place of something that can't be written as a message: too large, or not for JSON. */
export function unsendable(what: string, cause: unknown): CellError {
  const evalue = `The ${what} of this cell can't be sent: ${messageOf(cause)}`;
  return { ename: 'UnsendableOutput', evalue, traceback: [evalue] };
}
