import type { V1LimitRange, V1ResourceQuota } from '@kubernetes/client-node';
import { fieldAt, listAt, stringAt } from '#shared/fields.ts';
import { writeCpu, writeMemory } from '#cluster/kube/quantities.ts';
import type { LimitRangeViolation, QuotaShortage } from '#cluster/kube/quota.ts';
import type { Fix } from './fix.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { manifestFix } from './commands.ts';

/** Raises a quota by the shortage and keeps its other limits. */
export function raiseQuota(profile: ClusterProfile, name: string, short: readonly QuotaShortage[]): Fix {
  const hard = Object.fromEntries(
    short.map(({ key, needed, left, hard: now }) => [key, writeAmount(key, now + needed - left)]),
  );
  return manifestFix(profile, [
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name, namespace: profile.namespace },
      spec: { hard },
    } satisfies V1ResourceQuota,
  ]);
}

/**
 * Widens the bounds that are too tight. Apply replaces the list of entries as a whole, so the fix contains all of them.
 */
export function widenLimitRange(profile: ClusterProfile, range: unknown, bounds: readonly LimitRangeViolation[]): Fix {
  const limits = listAt(range, 'spec', 'limits').map((entry, index) => {
    const changed: Record<string, unknown> = { ...(entry as object) };
    for (const { side, key, asked } of bounds.filter((one) => one.index === index))
      changed[side] = { ...(fieldAt(changed, side) as object), [key]: writeAmount(key, asked) };
    return { ...changed, type: stringAt(entry, 'type') ?? 'Container' };
  });
  const metadata = { name: stringAt(range, 'metadata', 'name') ?? '', namespace: profile.namespace };
  return manifestFix(profile, [
    { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } } satisfies V1LimitRange,
  ]);
}

function writeAmount(key: string, amount: number): string {
  if (/(?:^|\.)cpu$/.test(key)) return writeCpu(amount);
  return /(?:^|\.)memory$/.test(key) ? writeMemory(amount) : String(Math.ceil(amount));
}
