import type { ComputedFunction } from './computedFunction.ts';
import { JobError } from './jobErrors.ts';

/** Maximum characters of a function that a user can be asked to review. */
const maxReviewed = 1024 ** 2;

/**
 * Checks that the user can be shown the whole text of a function, because consent covers all of it.
 * @param howToAllow explains in a sentence how to allow the function by its hash
 * @throws JobError FunctionNotAccepted if the text is too long
 */
export function checkReviewable(text: string, { name }: Pick<ComputedFunction, 'name'>, howToAllow: string): void {
  if (text.length <= maxReviewed) return;
  throw new JobError(
    'FunctionNotAccepted',
    `The function "${name}" can't be shown for review: its text has ${text.length.toLocaleString('en-US')} characters, more than ${maxReviewed.toLocaleString('en-US')}.`,
    `Register it again from a file that you have reviewed. ${howToAllow}`,
  );
}
