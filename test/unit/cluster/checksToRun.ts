import type { Check, CheckContext } from '#cluster/check.ts';
import type { CheckId } from '#cluster/checkIds.ts';
import { ClusterError } from '#cluster/errors.ts';
import type { Finding } from '#cluster/result.ts';
import { runChecks, type RunOptions } from '#cluster/runChecks.ts';

// The engine only passes the context to the checks, and these checks don't use it.
export const context = {} as CheckContext;

export type Asked = (signal: AbortSignal) => Finding | Promise<Finding>;

export const check = (id: CheckId, run: Asked, more: Partial<Check> = {}): Check => ({
  id,
  category: 'connection',
  title: `${id} is so`,
  severity: 'error',
  needs: [],
  ...more,
  run: async (_, signal) => run(signal),
});

export const runThem = (checks: readonly Check[], options: Partial<RunOptions> = {}, given = context) =>
  runChecks(checks, given, { profile: 'test', signal: new AbortController().signal, mayWrite: false, ...options });

export const lost = (): ClusterError => new ClusterError('Unreachable', 'The connection was lost.', '');

export const never = (): Promise<Finding> => new Promise(() => {});
