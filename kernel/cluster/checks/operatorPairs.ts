import { isAtLeast, showMinor, type VersionNumber } from '#cluster/kube/versionNumbers.ts';
import type { Evidence } from '#cluster/result.ts';

/** The oldest operator that the runner goes with. */
export const oldestOperator: VersionNumber = { major: 1, minor: 1, patch: 0 };

/** Kubernetes and the operator that a managed add-on has there, as documented. */
const managedPairs = [
  { kubernetes: '1.30', operator: '1.1' },
  { kubernetes: '1.31', operator: '1.2' },
] as const;

/** The oldest Kubernetes of the table. */
export const oldestPaired: VersionNumber = { major: 1, minor: 30, patch: 0 };

/** The table in a report. */
export const pairsShown: Evidence = {
  asked: 'Documented pairs of Kubernetes and operator',
  saw: [
    ...managedPairs.map(({ kubernetes, operator }) => `managed add-on: ${kubernetes} with ${operator}`),
    `installed by yourself: ${showMinor(oldestPaired)} or later with ${showMinor(oldestOperator)} or later`,
  ].join('; '),
};

/** Whether the pair is documented. What is not may well work: the table ends where the documentation does. */
export function isPaired(kubernetes: VersionNumber, operator: VersionNumber, isManaged: boolean): boolean {
  if (!isManaged) return isAtLeast(kubernetes, oldestPaired) && isAtLeast(operator, oldestOperator);
  return managedPairs.some(
    (pair) => pair.kubernetes === showMinor(kubernetes) && pair.operator === showMinor(operator),
  );
}
