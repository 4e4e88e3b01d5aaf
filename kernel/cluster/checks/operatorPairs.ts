import { isAtLeast, showMinor, type VersionNumber } from '#cluster/kube/versionNumbers.ts';
import type { Evidence } from '#cluster/result.ts';

/** The oldest operator that the runner supports. */
export const oldestOperator: VersionNumber = { major: 1, minor: 1, patch: 0 };

/** Documented pairs of Kubernetes and the operator of a managed add-on. */
const managedPairs = [
  { kubernetes: '1.30', operator: '1.1' },
  { kubernetes: '1.31', operator: '1.2' },
] as const;

/** The oldest Kubernetes version in the documented pairs. */
export const oldestPaired: VersionNumber = { major: 1, minor: 30, patch: 0 };

export const pairsShown: Evidence = {
  asked: 'Documented pairs of Kubernetes and operator',
  saw: [
    ...managedPairs.map(({ kubernetes, operator }) => `managed add-on: ${kubernetes} with ${operator}`),
    `self-installed: ${showMinor(oldestPaired)} or later with ${showMinor(oldestOperator)} or later`,
  ].join('; '),
};

/** Whether the pair is documented. Other pairs may work, but are not documented. */
export function isPaired(kubernetes: VersionNumber, operator: VersionNumber, isManaged: boolean): boolean {
  if (!isManaged) return isAtLeast(kubernetes, oldestPaired) && isAtLeast(operator, oldestOperator);
  return managedPairs.some(
    (pair) => pair.kubernetes === showMinor(kubernetes) && pair.operator === showMinor(operator),
  );
}
