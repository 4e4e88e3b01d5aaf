import { type CheckId, checkIdsByCategory, isCheckId } from '#cluster/checkIds.ts';
import { ClusterError } from '#cluster/errors.ts';
import type { CheckResult } from '#cluster/result.ts';
import { asRecord } from '#shared/records.ts';
import { type CheckRunState, checksOf } from './checkBoard.ts';

// Validates the rows that menus and other extensions pass to commands.

export function checkIdOf(node: unknown): CheckId | undefined {
  const { kind, id } = asRecord(node);
  return kind === 'check' && typeof id === 'string' && isCheckId(id) ? id : undefined;
}

/**
 * Returns one check if `node` is a check, and all checks of a category if `node` is a category.
 * @throws ClusterError if `node` is neither
 */
export function checkIdsOf(board: CheckRunState, node: unknown): readonly CheckId[] {
  const id = checkIdOf(node);
  if (id) return [id];
  const { kind, category } = asRecord(node);
  const known = kind === 'category' && Object.keys(checkIdsByCategory).find((one) => one === category);
  if (known) return checksOf(board).flatMap((row) => (row.category === known ? [row.id] : []));
  throw noCheck();
}

/** Returns the result of a row's check. @throws ClusterError if the row is not a check, or the check has not run */
export function resultOf(board: CheckRunState | undefined, node: unknown): CheckResult {
  const id = checkIdOf(node);
  const result = id && board?.results.get(id);
  if (result) return result;
  throw id
    ? new ClusterError('InvalidRequest', `The check "${id}" has not run yet.`, 'Run "Verify Cluster Identity".')
    : noCheck();
}

const noCheck = (): ClusterError =>
  new ClusterError('InvalidRequest', 'No check is selected.', 'Select one in the Cluster Checks view.');
