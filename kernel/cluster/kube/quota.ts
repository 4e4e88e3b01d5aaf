import { listAt, mapAt, stringAt, textsAt } from '#shared/fields.ts';
import { gpuResource, parseQuantity, showCpu, showMemory, times, type Resources } from './quantities.ts';

// The resources that a namespace allows. A quota limits all pods together, a limit range limits each pod or container.

/** Amounts by resource name, in base units: cores, bytes or a count. */
export type ResourceAmounts = Readonly<Record<string, number>>;

export type Quota = { readonly name: string; readonly hard: ResourceAmounts; readonly used: ResourceAmounts };

/**
 * Parses a quota that counts the pods of head and workers. Ignores quotas with a scope other than `NotTerminating` and
 * `NotBestEffort`: those count pods with a deadline, without requests or with a priority class, and head and workers
 * are not such pods.
 */
export function readQuota(item: unknown): Quota | undefined {
  const name = stringAt(item, 'metadata', 'name');
  const isScoped =
    textsAt(item, 'spec', 'scopes').some((scope) => scope !== 'NotTerminating' && scope !== 'NotBestEffort') ||
    listAt(item, 'spec', 'scopeSelector', 'matchExpressions').length > 0;
  if (name === undefined || isScoped) return undefined;
  return { name, hard: amountsAt(item, 'spec', 'hard'), used: amountsAt(item, 'status', 'used') };
}

const amountsAt = (item: unknown, ...path: readonly string[]): ResourceAmounts =>
  Object.fromEntries(
    Object.entries(mapAt(item, ...path)).flatMap(([key, text]) => {
      const amount = parseQuantity(text);
      return amount === undefined ? [] : [[key, amount]];
    }),
  );

/** Returns how a quota counts a number of pods with these requests. Their limits equal their requests. */
export function quotaUsage(resources: Resources, pods: number): ResourceAmounts {
  const { cpu, memory, gpu } = times(resources, pods);
  return {
    cpu,
    'requests.cpu': cpu,
    'limits.cpu': cpu,
    memory,
    'requests.memory': memory,
    'limits.memory': memory,
    [`requests.${gpuResource}`]: gpu,
    pods,
    'count/pods': pods,
  };
}

export const addAmounts = (all: readonly ResourceAmounts[]): ResourceAmounts => {
  const sum: Record<string, number> = {};
  for (const amounts of all) for (const [key, amount] of Object.entries(amounts)) sum[key] = (sum[key] ?? 0) + amount;
  return sum;
};

/** A resource of which a quota has too little left. */
export type QuotaShortage = {
  readonly key: string;
  readonly needed: number;
  readonly left: number;
  readonly hard: number;
};

export function shortagesOf({ hard, used }: Quota, needed: ResourceAmounts): readonly QuotaShortage[] {
  return Object.entries(hard).flatMap(([key, most]) => {
    const more = needed[key] ?? 0;
    const left = most - (used[key] ?? 0);
    return more > left + 1e-9 ? [{ key, needed: more, left, hard: most }] : [];
  });
}

/** Formats an amount for display: `4 CPU`, `8 GiB`, `3`. */
export function showAmount(key: string, amount: number): string {
  if (/(?:^|\.)cpu$/.test(key)) return showCpu(amount);
  if (/(?:^|\.)memory$/.test(key)) return showMemory(amount);
  return String(amount);
}

/** A bound of a limit range that a container or a pod exceeds. */
export type LimitRangeViolation = {
  /** Index of the entry in the range. */
  readonly index: number;
  readonly type: 'Container' | 'Pod';
  readonly side: 'max' | 'min';
  readonly key: string;
  readonly bound: number;
  readonly asked: number;
};

/** Returns the bounds of a limit range that a pod exceeds. */
export function limitRangeViolations(range: unknown, containers: readonly Resources[]): readonly LimitRangeViolation[] {
  return listAt(range, 'spec', 'limits').flatMap((entry, index) => {
    const type = stringAt(entry, 'type');
    if (type === 'Container') return containers.flatMap((one) => beyond(entry, { index, type, asked: byName(one) }));
    if (type !== 'Pod') return [];
    return beyond(entry, { index, type, asked: addAmounts(containers.map(byName)) });
  });
}

function beyond(
  entry: unknown,
  { index, type, asked }: Pick<LimitRangeViolation, 'index' | 'type'> & { asked: ResourceAmounts },
): LimitRangeViolation[] {
  const bounds = (['max', 'min'] as const).flatMap((side) =>
    Object.entries(amountsAt(entry, side)).map(([key, bound]) => ({ side, key, bound, asked: asked[key] ?? 0 })),
  );
  return bounds
    .filter(({ side, bound, asked: amount }) => (side === 'max' ? amount > bound + 1e-9 : amount > 0 && amount < bound))
    .map((one) => ({ index, type, ...one }));
}

const byName = ({ cpu, memory, gpu }: Resources): ResourceAmounts => ({ cpu, memory, [gpuResource]: gpu });
