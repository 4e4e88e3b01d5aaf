import { wait } from '#processes/wait.ts';
import { messageOf } from '#shared/errors.ts';
import type { Check, CheckContext } from './check.ts';
import type { CheckId } from './checkIds.ts';
import { isClusterError } from './errors.ts';
import type { ClusterProfile } from './profile.ts';
import type {
  CheckEvent,
  CheckReport,
  CheckResult,
  CheckStatus,
  Finding,
  Severity,
  SkipCause,
  Verdict,
} from './result.ts';
import { SecretRedactor } from './secretTexts.ts';

export type RunOptions = {
  readonly profile: string;
  /** Ends the run: unfinished checks are skipped, and the report is marked as stopped. */
  readonly signal: AbortSignal;
  /** Whether checks may make temporary changes, such as an object in a bucket. */
  readonly mayWrite: boolean;
  /** Secrets that no result may show. */
  readonly hidden?: SecretRedactor | undefined;
  readonly observe?: ((event: CheckEvent) => void) | undefined;
  /** Run only these checks, and the checks that they need. Default: all. */
  readonly only?: readonly CheckId[] | undefined;
};

const defaultLimit = 10_000;
/** Milliseconds before the retry of a transient failure, multiplied by the number of the attempt. */
const pause = 250;

/**
 * Runs checks. Each check starts as soon as its needs have finished, and independent checks run concurrently. An error
 * thrown by a check is its result, never a rejection. Every check has exactly one result, in the given order.
 * @throws Error if the graph is invalid: a duplicate id, a need that does not exist, a cycle
 */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  options: RunOptions,
): Promise<CheckReport> {
  const chosen = chooseChecks(checksFor(context.profile, checks), options.only);
  const startedAt = new Date();
  const begun = performance.now();
  const run = new Run(context, options);
  const results = await Promise.all(orderOf(chosen).map((check) => run.start(check)));
  const byId = new Map(results.map((result) => [result.id, result]));
  const inOrder = chosen.flatMap(({ id }) => byId.get(id) ?? []);
  return {
    version: 1,
    profile: options.profile,
    startedAt: startedAt.toISOString(),
    milliseconds: Math.round(performance.now() - begun),
    stopped: options.signal.aborted,
    counts: countOf(inOrder),
    results: inOrder,
  };
}

const checksFor = (profile: ClusterProfile, checks: readonly Check[]): readonly Check[] =>
  checks.map((check) => (check.alsoNeeds ? { ...check, needs: [...check.needs, ...check.alsoNeeds(profile)] } : check));

export function countOf(results: readonly CheckResult[]): Record<CheckStatus, number> {
  const counts: Record<CheckStatus, number> = { pass: 0, warn: 0, fail: 0, skipped: 0, blocked: 0 };
  for (const { status } of results) counts[status]++;
  return counts;
}

/** Returns the checks in `only` and their needs, in the order of `checks`. */
function chooseChecks(checks: readonly Check[], only: readonly CheckId[] | undefined): readonly Check[] {
  const byId = indexOf(checks);
  if (only === undefined) return checks;
  const chosen = new Set<CheckId>();
  const choose = (id: CheckId): void => {
    if (chosen.has(id)) return;
    chosen.add(id);
    for (const need of byId.get(id)?.needs ?? []) choose(need);
  };
  for (const id of only) choose(id);
  return checks.filter(({ id }) => chosen.has(id));
}

function indexOf(checks: readonly Check[]): ReadonlyMap<CheckId, Check> {
  const byId = new Map(checks.map((check) => [check.id, check]));
  if (byId.size < checks.length) throw new Error('Two checks have the same id.');
  for (const { id, needs } of checks)
    for (const need of needs)
      if (!byId.has(need)) throw new Error(`The check ${id} needs ${need}, which does not exist.`);
  return byId;
}

/** Sorts the checks so that each follows its needs. */
function orderOf(checks: readonly Check[]): readonly Check[] {
  const byId = indexOf(checks);
  const ordered = new Set<Check>();
  const visit = (check: Check, path: readonly CheckId[]): void => {
    if (ordered.has(check)) return;
    if (path.includes(check.id)) throw new Error(`Checks need one another: ${[...path, check.id].join(' → ')}.`);
    for (const need of check.needs) {
      const needed = byId.get(need);
      if (needed) visit(needed, [...path, check.id]);
    }
    ordered.add(check);
  };
  for (const check of checks) visit(check, []);
  return [...ordered];
}

/** One run: the results of the checks started so far. */
class Run {
  readonly #started = new Map<CheckId, Promise<CheckResult>>();
  readonly #context: CheckContext;
  readonly #options: RunOptions;
  readonly #hidden: SecretRedactor;

  constructor(context: CheckContext, options: RunOptions) {
    this.#context = context;
    this.#options = options;
    this.#hidden = options.hidden ?? new SecretRedactor();
  }

  /** Starts a check. The check waits for its needs, which must have been started before. */
  start(check: Check): Promise<CheckResult> {
    const result = this.#run(check);
    this.#started.set(check.id, result);
    return result;
  }

  async #run(check: Check): Promise<CheckResult> {
    const { id, category, title, severity } = check;
    const needed = await Promise.all(check.needs.flatMap((need) => this.#started.get(need) ?? []));
    const begun = performance.now();
    let attempts = 0;
    const verdict =
      this.#verdictWithoutNeeds(check) ??
      verdictOfNeeds(needed) ??
      this.#verdictBefore(check) ??
      (await this.#ask(check, () => {
        attempts++;
      }));
    const milliseconds = Math.round(performance.now() - begun);
    const result = this.#hidden.hideIn<CheckResult>({
      id,
      category,
      title,
      severity,
      ...verdict,
      milliseconds,
      attempts,
    });
    this.#options.observe?.({ type: 'finished', result });
    return result;
  }

  /**
   * Returns the verdict of a check that does not apply. Such a check is skipped for this reason, regardless of its
   * needs.
   */
  #verdictWithoutNeeds({ skip }: Check): Verdict | undefined {
    const reason = skip?.(this.#context);
    return reason === undefined ? undefined : skipped(reason);
  }

  /** Returns why the check must not run now, if so. */
  #verdictBefore({ writes }: Check): Verdict | undefined {
    if (this.#options.signal.aborted) return skipped('The run was stopped before this check.', 'not-asked');
    if (writes !== undefined && !this.#options.mayWrite)
      return skipped(
        `The check would ${writes}. It runs only with --probe, or after you confirm it in the editor.`,
        'not-asked',
      );
    return undefined;
  }

  async #ask(check: Check, onAttempt: () => void): Promise<Verdict> {
    const { signal, observe } = this.#options;
    observe?.({ type: 'started', id: check.id });
    for (let left = check.retries ?? 1; ; left--) {
      onAttempt();
      try {
        return atMost(check.severity, await within(check, this.#context, signal));
      } catch (error) {
        if (signal.aborted) return skipped('The run was stopped during this check.', 'not-asked');
        const isLast = left <= 0 || !isClusterError(error) || !error.isTransient;
        if (isLast) return verdictOfError(check, error);
        // If the signal aborts, the delay ends, and the next attempt fails because of the abort.
        await wait(pause * ((check.retries ?? 1) - left + 1), signal).catch(() => {});
      }
    }
  }
}

/** Returns `blocked` if a needed check failed, and `skipped` if one was skipped. */
function verdictOfNeeds(needed: readonly CheckResult[]): Verdict | undefined {
  const failed = needed.filter(({ status }) => status === 'fail' || status === 'blocked');
  if (failed.length > 0) {
    const by = failed.map(({ id }) => id);
    return { status: 'blocked', sentence: `Not run, because it needs ${by.join(' and ')}.`, evidence: [], by };
  }
  const left = needed.find(({ status }) => status === 'skipped');
  if (left?.status !== 'skipped') return undefined;
  // In a chain of skipped checks, the first one has the reason, so that reason is passed on.
  const { id, cause, reason = left.sentence } = left;
  return { ...skipped(`It needs ${id}, which was skipped: ${reason}`, cause), reason };
}

const skipped = (sentence: string, cause?: SkipCause): Verdict & { readonly status: 'skipped' } => ({
  status: 'skipped',
  sentence,
  evidence: [],
  ...(cause === undefined ? {} : { cause }),
});

/** Turns a failure into a warning if the check is not an `error`. */
function atMost(severity: Severity, finding: Finding): Finding {
  return finding.status === 'fail' && severity !== 'error' ? { ...finding, status: 'warn' } : finding;
}

/** An error fails the check. A missing permission only skips it, because it shows nothing about the cluster. */
function verdictOfError({ severity, title }: Check, error: unknown): Verdict {
  if (!isClusterError(error)) {
    return atMost(severity, {
      status: 'fail',
      sentence: `"${title}" could not be checked: ${messageOf(error)}`,
      evidence: [],
    });
  }
  if (error.kind === 'Forbidden') return skipped(`You lack the permission: ${error.message}`, 'unknown');
  return atMost(severity, {
    status: 'fail',
    sentence: error.what,
    evidence: [],
    ...(error.hint === '' ? {} : { mend: { kind: 'advice' as const, text: error.hint } }),
  });
}

/** Runs one attempt, and ends it at its limit even if the check ignores its signal. */
async function within(check: Check, context: CheckContext, runSignal: AbortSignal): Promise<Finding> {
  const limit = check.limit ?? defaultLimit;
  const timeout = new AbortController();
  const signal = AbortSignal.any([runSignal, timeout.signal]);
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const end = new Promise<'late' | 'stopped'>((resolve) => {
    timer = setTimeout(() => resolve('late'), limit);
    stop = () => resolve('stopped');
    runSignal.addEventListener('abort', stop, { once: true });
  });
  try {
    const found = await Promise.race([check.run(context, signal), end]);
    if (found === 'stopped') throw runSignal.reason;
    if (found === 'late') {
      return {
        status: 'fail',
        sentence: `There was no response within ${limit / 1000} s.`,
        evidence: [],
        mend: { kind: 'advice', text: 'Run the check again. If it fails again, check the network connection.' },
      };
    }
    return found;
  } finally {
    clearTimeout(timer);
    if (stop) runSignal.removeEventListener('abort', stop);
    timeout.abort();
  }
}
