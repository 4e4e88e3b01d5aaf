import { toSnake } from '#shared/jobs/caseKeys.ts';
import type { BackfillPlan, BackfillTrial } from '#shared/jobs/jobPlan.ts';
import type { JobView } from '#shared/jobs/jobView.ts';

/** What `--json` prints of a job. Of errors as many samples as are kept; no secret is in a view. */
export const jobJson = (view: JobView): unknown => toSnake(withoutToken(view));

/** What `--json` prints of a plan. The code of the function is left out: its hash names it. */
export function planJson(plan: BackfillPlan): unknown {
  const { name, version, hash, kind, inputs } = plan.function;
  return toSnake(withoutToken({ ...plan, function: { name, version, hash, kind, inputs } }));
}

/** What `--json` prints of a trial; the rows are Arrow IPC streams in base64. */
export const trialJson = (trial: BackfillTrial): unknown => toSnake(trial);

/** An address of a Ray may come with what lets one in. */
function withoutToken<T extends { readonly options: JobView['options'] }>(shown: T): T {
  const { ray } = shown.options;
  if (!ray || !('token' in ray)) return shown;
  const { token: _, ...place } = ray;
  return { ...shown, options: { ...shown.options, ray: place } };
}
