import type { V1LimitRange, V1ResourceQuota } from '@kubernetes/client-node';
import { at, listAt, textAt } from '#cluster/kube/fields.ts';
import { writeCpu, writeMemory } from '#cluster/kube/quantities.ts';
import type { Bound, Shortage } from '#cluster/kube/room.ts';
import type { Mend } from './fix.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { objectsMend } from './commands.ts';

/** Raises a quota by the shortage; its other limits stay. */
export function raiseQuota(profile: ClusterProfile, name: string, short: readonly Shortage[]): Mend {
  const hard = Object.fromEntries(
    short.map(({ key, needed, left, hard: now }) => [key, writeAmount(key, now + needed - left)]),
  );
  return objectsMend(profile, [
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name, namespace: profile.namespace },
      spec: { hard },
    } satisfies V1ResourceQuota,
  ]);
}

/** Widens the bounds that are too tight. The entries of a limit range are a list, which apply replaces as a whole. */
export function widenRange(profile: ClusterProfile, range: unknown, bounds: readonly Bound[]): Mend {
  const limits = listAt(range, 'spec', 'limits').map((entry, index) => {
    const changed: Record<string, unknown> = { ...(entry as object) };
    for (const { side, key, asked } of bounds.filter((one) => one.index === index))
      changed[side] = { ...(at(changed, side) as object), [key]: writeAmount(key, asked) };
    return { ...changed, type: textAt(entry, 'type') ?? 'Container' };
  });
  const metadata = { name: textAt(range, 'metadata', 'name') ?? '', namespace: profile.namespace };
  return objectsMend(profile, [
    { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } } satisfies V1LimitRange,
  ]);
}

function writeAmount(key: string, amount: number): string {
  if (/(?:^|\.)cpu$/.test(key)) return writeCpu(amount);
  return /(?:^|\.)memory$/.test(key) ? writeMemory(amount) : String(Math.ceil(amount));
}
