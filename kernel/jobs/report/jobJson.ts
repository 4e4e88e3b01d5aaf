import type { BackfillPlan, BackfillTrial } from '#shared/jobs/jobPlan.ts';
import type { JobView } from '#shared/jobs/jobView.ts';

/** Keys below these are names of columns: data, and left as they are. */
const namesInData: ReadonlySet<string> = new Set(['inputs']);

const snakeCase = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Data with its keys as they are in files and on wires: `secondsLeft` → `seconds_left`. */
function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .map(([key, each]) => [snakeCase(key), namesInData.has(key) ? each : snakeKeys(each)]),
  );
}

/** What `--json` prints of a job. Of errors as many samples as are kept; no secret is in a view. */
export const jobJson = (view: JobView): unknown => snakeKeys(withoutToken(view));

/** What `--json` prints of a plan. The code of the function is left out: its hash names it. */
export function planJson(plan: BackfillPlan): unknown {
  const { name, version, hash, kind, inputs } = plan.function;
  return snakeKeys(withoutToken({ ...plan, function: { name, version, hash, kind, inputs } }));
}

/** What `--json` prints of a trial; the rows are Arrow IPC streams in base64. */
export const trialJson = (trial: BackfillTrial): unknown => snakeKeys(trial);

/** An address of a Ray may come with what lets one in. */
function withoutToken<T extends { readonly options: JobView['options'] }>(shown: T): T {
  const { ray } = shown.options;
  if (!ray || !('token' in ray)) return shown;
  const { token: _, ...place } = ray;
  return { ...shown, options: { ...shown.options, ray: place } };
}
