import type { RayPlace, RunnerName } from '#shared/jobs/backfill.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import { runnerWords } from '#shared/jobs/jobWords.ts';
import type { Choice } from '../host/ask.ts';

/** Where a backfill is to run: as planned, by another runner, on a Ray that is known, or on one to connect to. */
export type RunnerChoice =
  | { readonly kind: 'planned' }
  | { readonly kind: 'runner'; readonly runner: RunnerName }
  | { readonly kind: 'ray'; readonly ray: RayPlace }
  | { readonly kind: 'connect' }
  /** Python with what a runner needs of it is to be set up first. */
  | { readonly kind: 'python' };

export type KnownRays = { readonly addresses: readonly string[]; readonly profiles: readonly string[] };

/** What a person picks from: what `auto` picked with its reason, then the others with theirs, then every Ray that is known. */
export function runnerChoices(plan: BackfillPlan, { addresses, profiles }: KnownRays): readonly Choice<RunnerChoice>[] {
  const others = plan.others.filter(({ runner }) => runner !== 'ray' && runner !== plan.runner);
  return [
    {
      label: capital(runnerWords[plan.runner]),
      description: 'recommended',
      detail: plan.runnerReason,
      icon: 'star-full',
      value: { kind: 'planned' },
    },
    ...others.map(({ runner, isPossible, reason }) => ({
      label: capital(runnerWords[runner]),
      ...(!isPossible && { description: 'not here' }),
      detail: reason,
      icon: isPossible ? 'server-process' : 'circle-slash',
      value: { kind: 'runner' as const, runner },
    })),
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
    ...(others.some(({ runner, isPossible }) => runner === 'local-python' && !isPossible)
      ? [{ label: 'Set Up Python for Backfills…', icon: 'desktop-download', value: { kind: 'python' as const } }]
      : []),
  ];
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
