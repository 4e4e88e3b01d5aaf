import { consentText, acceptFunction } from '#jobs/definition/trust.ts';
import type { StoredFunction } from '#jobs/definition/storedFunction.ts';
import { isAbort } from '#shared/errors.ts';
import { checkReviewable } from '#shared/jobs/functionReview.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';

type Consent = {
  /** `shop/products` */
  readonly table: string;
  readonly column: string;
  readonly stored: () => Promise<StoredFunction | undefined>;
  /** Rejects if the user can't be asked. */
  readonly ask: (text: string) => Promise<boolean>;
  /** Explains in a sentence how to allow a function with this hash in advance. */
  readonly howToAllow: (hash: string) => string;
};

/**
 * Runs an action, and asks for consent if it needs a stored function that was not accepted on this machine.
 * @throws JobError FunctionNotAccepted if the user declines or can't be asked; an AbortError if the question is
 * cancelled; the errors of `act`
 */
export async function withConsent<T>(consent: Consent, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isJobError(error) || error.kind !== 'FunctionNotAccepted') throw error;
    await askConsent(consent, error);
    return act();
  }
}

async function askConsent({ table, column, stored, ask, howToAllow }: Consent, refused: JobError): Promise<void> {
  const found = await stored();
  if (!found) throw refused;
  const { function: fn, author } = found;
  const hint = howToAllow(fn.hash);
  const text = consentText(fn, { author, table, column });
  checkReviewable(text, fn, hint);
  const isAgreed = await ask(text).catch((cause: unknown) => {
    throw isAbort(cause) ? cause : new JobError(refused.kind, refused.what, hint, { cause });
  });
  if (!isAgreed)
    throw new JobError(refused.kind, `The function of the column "${column}" of ${table} is not accepted.`, hint);
  acceptFunction(fn.hash, { name: fn.name, table });
}
