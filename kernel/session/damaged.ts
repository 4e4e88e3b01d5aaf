import type { CellError } from './coreMessages.ts';

/** What a person sees of a cell that the kernel itself fails over, because cells have replaced what it is made of. */
export function damaged(cause: unknown): CellError {
  const evalue =
    `The kernel failed over this cell (${sentenceOf(cause)}). Code has probably changed something that every program ` +
    'uses, such as JSON or Promise. Restart the kernel.';
  return { ename: 'KernelDamaged', evalue, traceback: [evalue] };
}

function sentenceOf(cause: unknown): string {
  try {
    return String(cause);
  } catch {
    return 'an error that can not be shown';
  }
}
