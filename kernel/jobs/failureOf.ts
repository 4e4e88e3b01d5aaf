import { isCatalogError, messageOf } from '#shared/errors.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';

export function failureOf(error: unknown): { readonly code: string; readonly message: string; readonly hint: string } {
  if (isJobError(error)) return { code: error.kind, message: error.what, hint: error.hint };
  if (isCatalogError(error)) {
    const { error: message, detail: hint } = error.toJSON();
    return { code: error.kind, message, hint };
  }
  if (Object(error).code === 'ENOSPC') {
    const hint = 'Make room, and resume the job: what was computed is kept.';
    return { code: 'StorageFull', message: `The disk is full: ${messageOf(error)}.`, hint };
  }
  const message = `Something failed that should not: ${messageOf(error)}`;
  return { code: 'Internal', message, hint: 'The log of the job says where. Resume it to try again.' };
}
