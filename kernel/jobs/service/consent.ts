import { consentText, accept } from '#jobs/definition/trust.ts';
import type { StoredFunction } from '#jobs/definition/storedFunction.ts';
import { isAbort } from '#shared/errors.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';

/** How a person is asked whether a function that was found on a table may run. */
type Consent = {
  /** `shop/products` */
  readonly table: string;
  readonly column: string;
  /** What the table keeps on the column. */
  readonly stored: () => Promise<StoredFunction | undefined>;
  /** Shows what would run, and asks. Rejects where nobody can be asked. */
  readonly ask: (text: string) => Promise<boolean>;
  /** In a sentence, how a function of this hash is allowed without being asked about. */
  readonly howToAllow: (hash: string) => string;
};

/**
 * Does what may run a function that was found on the table. Where it was not accepted on this machine, it is shown and asked
 * about, once.
 * @throws JobError FunctionNotAccepted where the answer is no, or nobody can be asked; an AbortError when asking is given up; what `act` throws
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
  const isAgreed = await ask(consentText(fn, { author, table, column })).catch((cause: unknown) => {
    throw isAbort(cause) ? cause : new JobError(refused.kind, refused.what, hint, { cause });
  });
  if (!isAgreed) throw new JobError(refused.kind, `The function of ${table}.${column} was not accepted.`, hint);
  accept(fn.hash, { name: fn.name, table });
}
