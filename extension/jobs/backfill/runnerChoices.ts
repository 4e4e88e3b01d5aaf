import type { RayPlace, RunnerName } from '#shared/jobs/backfill.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import { runnerLabels } from '#shared/jobs/jobLabels.ts';
import type { Choice } from '../../host/ask.ts';

/**
 * Where to run a backfill: as planned, on another runner, on a known Ray cluster, or on a Ray cluster to connect to.
 */
type RunnerChoice =
  | { readonly kind: 'planned' }
  | { readonly kind: 'runner'; readonly runner: RunnerName }
  | { readonly kind: 'ray'; readonly ray: RayPlace }
  | { readonly kind: 'connect' }
  /** Set up Python with the packages of a runner before the run. */
  | { readonly kind: 'python' };

type KnownRays = { readonly addresses: readonly string[]; readonly profiles: readonly string[] };

/**
 * Returns the choices: the runner picked by `auto` with its reason, other possible runners, known Ray clusters, setup
 * of Ray and Python, then impossible runners.
 */
export function runnerChoices(plan: BackfillPlan, { addresses, profiles }: KnownRays): readonly Choice<RunnerChoice>[] {
  const others = plan.others.filter(({ runner }) => runner !== 'ray' && runner !== plan.runner);
  const possible = others.filter(({ isPossible }) => isPossible);
  const impossible = others.filter(({ isPossible }) => !isPossible);
  return [
    {
      label: capital(runnerLabels[plan.runner]),
      description: 'recommended',
      detail: plan.runnerReason,
      icon: 'star-full',
      value: { kind: 'planned' },
    },
    ...possible.map(({ runner, reason }) => choiceOf(runner, reason, 'server-process')),
    ...addresses.map((address) => ({
      label: `Ray at ${address}`,
      icon: 'server-environment',
      value: { kind: 'ray' as const, ray: { address } },
    })),
    ...profiles.map((profile) => ({
      label: `Ray in the cluster "${profile}"`,
      detail: 'Its checks run first.',
      icon: 'server-environment',
      value: { kind: 'ray' as const, ray: { profile } },
    })),
    { label: 'Connect to Ray…', icon: 'plug', value: { kind: 'connect' } },
    ...(impossible.some(({ runner }) => runner === 'local-python')
      ? [{ label: 'Set Up Python for Backfills…', icon: 'desktop-download', value: { kind: 'python' as const } }]
      : []),
    // Runners that can't be used are listed last, with the reason.
    ...impossible.map(({ runner, reason }) => ({
      ...choiceOf(runner, firstSentence(reason), 'circle-slash'),
      description: 'not available',
    })),
  ];
}

const choiceOf = (runner: RunnerName, detail: string, icon: string): Choice<RunnerChoice> => ({
  label: capital(runnerLabels[runner]),
  detail,
  icon,
  value: { kind: 'runner', runner },
});

/** Returns the first sentence, because a row shows one line. The user sees the whole reason after picking the row. */
const firstSentence = (text: string): string => /^.*?[.!?](?=\s+[A-Z"]|$)/s.exec(text)?.[0] ?? text;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
