import { listAt, mapAt, textAt, textsAt } from './fields.ts';
import { gpuResource, parseQuantity, showCpu, showMemory, times, type Resources } from './quantities.ts';

// How much a namespace lets its pods have: quotas for all of them together, limit ranges for each.

/** Amounts by the name of what is counted, in base units: cores, bytes, pieces. */
export type Amounts = Readonly<Record<string, number>>;

export type Quota = { readonly name: string; readonly hard: Amounts; readonly used: Amounts };

/**
 * The quotas that count the pods of head and workers. One with a scope counts some pods only: those that end by themselves,
 * ask for nothing, or have a priority, which ours do not.
 */
export function readQuota(item: unknown): Quota | undefined {
  const name = textAt(item, 'metadata', 'name');
  const isScoped =
    textsAt(item, 'spec', 'scopes').some((scope) => scope !== 'NotTerminating' && scope !== 'NotBestEffort') ||
    listAt(item, 'spec', 'scopeSelector', 'matchExpressions').length > 0;
  if (name === undefined || isScoped) return undefined;
  return { name, hard: amountsAt(item, 'spec', 'hard'), used: amountsAt(item, 'status', 'used') };
}

const amountsAt = (item: unknown, ...path: readonly string[]): Amounts =>
  Object.fromEntries(
    Object.entries(mapAt(item, ...path)).flatMap(([key, text]) => {
      const amount = parseQuantity(text);
      return amount === undefined ? [] : [[key, amount]];
    }),
  );

/** What so many pods with these requests count for in a quota. Their limits are the same as their requests. */
export function countedFor(resources: Resources, pods: number): Amounts {
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

export const addAmounts = (all: readonly Amounts[]): Amounts => {
  const sum: Record<string, number> = {};
  for (const amounts of all) for (const [key, amount] of Object.entries(amounts)) sum[key] = (sum[key] ?? 0) + amount;
  return sum;
};

/** What a quota has too little of. */
export type Shortage = { readonly key: string; readonly needed: number; readonly left: number; readonly hard: number };

export function shortagesOf({ hard, used }: Quota, needed: Amounts): readonly Shortage[] {
  return Object.entries(hard).flatMap(([key, most]) => {
    const more = needed[key] ?? 0;
    const left = most - (used[key] ?? 0);
    return more > left + 1e-9 ? [{ key, needed: more, left, hard: most }] : [];
  });
}

/** An amount for people: `4 CPU`, `8 GiB`, `3`. */
export function showAmount(key: string, amount: number): string {
  if (/(?:^|\.)cpu$/.test(key)) return showCpu(amount);
  if (/(?:^|\.)memory$/.test(key)) return showMemory(amount);
  return String(amount);
}

/** A bound of a limit range that a container or a pod is beyond. */
export type Bound = {
  /** Of which entry of the range it is. */
  readonly index: number;
  readonly type: 'Container' | 'Pod';
  readonly side: 'max' | 'min';
  readonly key: string;
  readonly bound: number;
  readonly asked: number;
};

/** What of a pod is beyond the bounds of a limit range. */
export function beyondRange(range: unknown, containers: readonly Resources[]): readonly Bound[] {
  return listAt(range, 'spec', 'limits').flatMap((entry, index) => {
    const type = textAt(entry, 'type');
    if (type === 'Container') return containers.flatMap((one) => beyond(entry, { index, type, asked: byName(one) }));
    if (type !== 'Pod') return [];
    return beyond(entry, { index, type, asked: addAmounts(containers.map(byName)) });
  });
}

function beyond(entry: unknown, { index, type, asked }: Pick<Bound, 'index' | 'type'> & { asked: Amounts }): Bound[] {
  const bounds = (['max', 'min'] as const).flatMap((side) =>
    Object.entries(amountsAt(entry, side)).map(([key, bound]) => ({ side, key, bound, asked: asked[key] ?? 0 })),
  );
  return bounds
    .filter(({ side, bound, asked: amount }) => (side === 'max' ? amount > bound + 1e-9 : amount > 0 && amount < bound))
    .map((one) => ({ index, type, ...one }));
}

const byName = ({ cpu, memory, gpu }: Resources): Amounts => ({ cpu, memory, [gpuResource]: gpu });
