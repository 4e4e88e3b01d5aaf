import type { RayPlace, RunnerName } from '#shared/jobs/backfill.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import { runnerWords } from '#shared/jobs/jobLabels.ts';
import type { Choice } from '../../host/ask.ts';

/** Where a backfill is to run: as planned, by another runner, on a Ray that is known, or on one to connect to. */
type RunnerChoice =
  | { readonly kind: 'planned' }
  | { readonly kind: 'runner'; readonly runner: RunnerName }
  | { readonly kind: 'ray'; readonly ray: RayPlace }
  | { readonly kind: 'connect' }
  /** Python with what a runner needs of it is to be set up first. */
  | { readonly kind: 'python' };

type KnownRays = { readonly addresses: readonly string[]; readonly profiles: readonly string[] };

/** What a person picks from: what `auto` picked with its reason, what else can run it, every Ray that is known, and what can't. */
export function runnerChoices(plan: BackfillPlan, { addresses, profiles }: KnownRays): readonly Choice<RunnerChoice>[] {
  const others = plan.others.filter(({ runner }) => runner !== 'ray' && runner !== plan.runner);
  const possible = others.filter(({ isPossible }) => isPossible);
  const impossible = others.filter(({ isPossible }) => !isPossible);
  return [
    {
      label: capital(runnerWords[plan.runner]),
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
    // What can't be chosen is there for its reason: whoever looks for it finds it, and nobody has to read past it.
    ...impossible.map(({ runner, reason }) => ({
      ...choiceOf(runner, firstSentence(reason), 'circle-slash'),
      description: 'not here',
    })),
  ];
}

const choiceOf = (runner: RunnerName, detail: string, icon: string): Choice<RunnerChoice> => ({
  label: capital(runnerWords[runner]),
  detail,
  icon,
  value: { kind: 'runner', runner },
});

/** A row is one line wide; who picks it is told all of it. */
const firstSentence = (text: string): string => /^.*?[.!?](?=\s+[A-Z"]|$)/s.exec(text)?.[0] ?? text;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
