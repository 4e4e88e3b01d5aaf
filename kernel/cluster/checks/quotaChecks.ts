import type { Check } from '#cluster/check.ts';
import { fail, pass, warn } from '#cluster/checkResults.ts';
import { raiseQuota, widenLimitRange } from '#cluster/fixes/capacityFixes.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import { stringAt } from '#shared/fields.ts';
import { type KubeReads, evidenceFor } from '#cluster/kube/kubeReads.ts';
import {
  groupsOf,
  limitRangesOf,
  limitRangesPath,
  podsOf,
  quotasOf,
  quotasPath,
  rayClusterOf,
} from '#cluster/kube/objectReads.ts';
import { isHead, isOfRayCluster, isWorkerOf, type Pod } from '#cluster/kube/pods.ts';
import { showResources } from '#cluster/kube/quantities.ts';
import type { GroupSpec } from '#cluster/kube/rayGroups.ts';
import {
  addAmounts,
  type ResourceAmounts,
  limitRangeViolations,
  quotaUsage,
  type Quota,
  readQuota,
  type QuotaShortage,
  shortagesOf,
  showAmount,
} from '#cluster/kube/quota.ts';
import type { Evidence } from '#cluster/result.ts';

/**
 * Returns the pods of the RayCluster that a quota counts already: an empty list if the RayCluster is not launched yet.
 */
async function runningPods(kube: KubeReads): Promise<readonly Pod[]> {
  const cluster = await rayClusterOf(kube);
  return cluster ? (await podsOf(kube)).filter((pod) => isOfRayCluster(pod, cluster.name)) : [];
}

const missingOf = (group: GroupSpec, pods: readonly Pod[]): number => {
  const running = pods.filter((pod) => (group.role === 'head' ? isHead(pod) : isWorkerOf(pod, group.name))).length;
  return Math.max(0, group.minReplicas - running);
};

function tooSmall(
  quotas: readonly Quota[],
  needed: ResourceAmounts,
): { readonly quota: Quota; readonly short: readonly QuotaShortage[] } | undefined {
  return quotas.map((quota) => ({ quota, short: shortagesOf(quota, needed) })).find(({ short }) => short.length > 0);
}

const showShort = (short: readonly QuotaShortage[]): string =>
  short
    .map(
      ({ key, needed, left }) =>
        `${key}: needs ${showAmount(key, needed)}, has ${showAmount(key, Math.max(0, left))} left`,
    )
    .join('; ');

const showQuota = ({ name, hard, used }: Quota): string =>
  `${name}: ${Object.entries(hard)
    .map(([key, most]) => `${key} ${showAmount(key, used[key] ?? 0)} of ${showAmount(key, most)}`)
    .join(', ')}`;

const quotaRoom: Check = {
  id: 'quota-room',
  category: 'nodes',
  title: 'Quotas leave room for head and workers',
  severity: 'error',
  needs: ['ns-exists'],
  run: async ({ kube, profile }) => {
    const quotas = (await quotasOf(kube)).flatMap((item) => readQuota(item) ?? []);
    const evidence: Evidence[] = [evidenceFor(quotasPath(kube), quotas.map(showQuota).join('; ') || 'none')];
    if (quotas.length === 0) return pass('No quota limits the pods of the namespace.', ...evidence);
    const [groups, pods] = await Promise.all([groupsOf(kube), runningPods(kube)]);
    const missing = groups.map((group) => ({ group, count: missingOf(group, pods) })).filter(({ count }) => count > 0);
    const needed = addAmounts(missing.map(({ group, count }) => quotaUsage(group.resources, count)));
    for (const { group, count } of missing)
      evidence.push({ asked: `${count} of ${group.title}`, saw: `each ${showResources(group.resources)}` });
    const growing = groups.filter(({ minReplicas, maxReplicas }) => maxReplicas > minReplicas);
    // The fix also allows one more worker of each group that may grow.
    const grown = addAmounts([needed, ...growing.map((group) => quotaUsage(group.resources, 1))]);
    const fixFor = (quota: Quota): Fix => raiseQuota(profile, quota.name, shortagesOf(quota, grown));
    const small = tooSmall(quotas, needed);
    if (small)
      return fail(`The quota ${small.quota.name} has no room for head and workers: ${showShort(small.short)}.`, {
        evidence,
        fix: fixFor(small.quota),
      });
    for (const group of growing) {
      const full = tooSmall(quotas, addAmounts([needed, quotaUsage(group.resources, 1)]));
      if (full)
        return warn(
          `The quota ${full.quota.name} leaves no room for one more of ${group.title}: ${showShort(full.short)}.`,
          { evidence, fix: fixFor(full.quota) },
        );
    }
    return pass('The quotas leave room for head and workers.', ...evidence);
  },
};

const limitsRoom: Check = {
  id: 'limits-room',
  category: 'nodes',
  title: 'Limit ranges allow head and workers',
  severity: 'error',
  needs: ['ns-exists'],
  run: async ({ kube, profile }) => {
    const [ranges, groups] = await Promise.all([limitRangesOf(kube), groupsOf(kube)]);
    const names = ranges.map((range) => stringAt(range, 'metadata', 'name') ?? '?');
    const evidence = evidenceFor(limitRangesPath(kube), names.join(', ') || 'none');
    for (const [index, range] of ranges.entries()) {
      const beyond = groups.map((group) => ({ group, bounds: limitRangeViolations(range, group.containers) }));
      const first = beyond.find(({ bounds }) => bounds.length > 0);
      const bound = first?.bounds[0];
      if (!first || !bound) continue;
      const { type, side, key, asked } = bound;
      const most = `${side === 'max' ? 'at most' : 'at least'} ${showAmount(key, bound.bound)} of ${key}`;
      return fail(
        `The limit range ${names[index]} allows a ${type.toLowerCase()} ${most}, but ${first.group.title} requests ${showAmount(key, asked)}.`,
        {
          evidence: [evidence],
          fix: widenLimitRange(profile, range, widest(beyond.flatMap(({ bounds }) => bounds))),
        },
      );
    }
    return pass(
      ranges.length === 0
        ? 'No limit range applies to the pods of the namespace.'
        : 'The limit ranges allow head and workers.',
      evidence,
    );
  },
};

/** Sorts the bounds so that the widest one, which allows all groups, is written last. */
const widest = (bounds: ReturnType<typeof limitRangeViolations>): ReturnType<typeof limitRangeViolations> =>
  bounds.toSorted((a, b) => (a.side === 'max' ? a.asked - b.asked : b.asked - a.asked));

export const roomChecks: readonly Check[] = [quotaRoom, limitsRoom];
