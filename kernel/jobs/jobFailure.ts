import { isCatalogError, messageOf } from '#shared/errors.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';

export function failureOf(error: unknown): { readonly code: string; readonly message: string; readonly hint: string } {
  if (isJobError(error)) return { code: error.kind, message: error.what, hint: error.hint };
  if (isCatalogError(error)) {
    const { error: message, detail: hint } = error.toJSON();
    return { code: error.kind, message, hint };
  }
  if (Object(error).code === 'ENOSPC') {
    const hint = 'Free some space, then resume the job: computed rows are kept.';
    return { code: 'StorageFull', message: `The disk is full: ${messageOf(error)}.`, hint };
  }
  const message = `Unexpected error: ${messageOf(error)}`;
  return { code: 'Internal', message, hint: 'See the log of the job. Resume the job to try again.' };
}
