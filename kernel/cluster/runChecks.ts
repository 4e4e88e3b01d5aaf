import { messageOf } from '#shared/errors.ts';
import type { Check } from './check.ts';
import type { CheckContext } from './check.ts';
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
import { HiddenTexts } from './secretTexts.ts';

export type RunOptions = {
  readonly profile: string;
  /** Ends the run: what has not finished is skipped, and the report says that it was stopped. */
  readonly signal: AbortSignal;
  /** Whether checks may leave something behind for a moment, such as an object in a bucket. */
  readonly mayWrite: boolean;
  /** Secrets that no result may show. */
  readonly hidden?: HiddenTexts | undefined;
  readonly observe?: ((event: CheckEvent) => void) | undefined;
  /** Only these, and what they need; all where nothing is said. */
  readonly only?: readonly CheckId[] | undefined;
};

const defaultLimit = 10_000;
/** Milliseconds before a failure that may pass by itself is asked again, times the attempt. */
const pause = 250;

/**
 * Runs checks, each as soon as what it needs has passed, and independent ones at once. Never rejects for what a check does:
 * what one throws is its failure. Every check has exactly one result, in the order given.
 * @throws Error for a graph that cannot be run: an id that is there twice, a need that is nowhere, a circle
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

/** The checks with all that they need for this profile. */
const checksFor = (profile: ClusterProfile, checks: readonly Check[]): readonly Check[] =>
  checks.map((check) => (check.alsoNeeds ? { ...check, needs: [...check.needs, ...check.alsoNeeds(profile)] } : check));

/** How often each status is there. */
export function countOf(results: readonly CheckResult[]): Record<CheckStatus, number> {
  const counts: Record<CheckStatus, number> = { pass: 0, warn: 0, fail: 0, skipped: 0, blocked: 0 };
  for (const { status } of results) counts[status]++;
  return counts;
}

/** The checks that were asked for with all that they need, in their own order. */
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
      if (!byId.has(need)) throw new Error(`The check ${id} needs ${need}, which is not there.`);
  return byId;
}

/** Every check after those that it needs. */
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

/** One run: the results of what was started so far. */
class Run {
  readonly #started = new Map<CheckId, Promise<CheckResult>>();
  readonly #context: CheckContext;
  readonly #options: RunOptions;
  readonly #hidden: HiddenTexts;

  constructor(context: CheckContext, options: RunOptions) {
    this.#context = context;
    this.#options = options;
    this.#hidden = options.hidden ?? new HiddenTexts();
  }

  /** Checks are started after what they need, so that their needs can be waited for. */
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

  /** What does not apply is said so, whatever became of what it would need. */
  #verdictWithoutNeeds({ skip }: Check): Verdict | undefined {
    const reason = skip?.(this.#context);
    return reason === undefined ? undefined : skipped(reason);
  }

  /** Why it is not asked now, where it is not. */
  #verdictBefore({ writes }: Check): Verdict | undefined {
    if (this.#options.signal.aborted) return skipped('The run was stopped before it was asked.', 'not-asked');
    if (writes !== undefined && !this.#options.mayWrite)
      return skipped(
        `It would ${writes}; that is done with --probe, or after you confirm it in the editor.`,
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
        if (signal.aborted) return skipped('The run was stopped while it was asked.', 'not-asked');
        const isLast = left <= 0 || !isClusterError(error) || !error.isTransient;
        if (isLast) return verdictOfError(check, error);
        await waitFor(pause * ((check.retries ?? 1) - left + 1), signal);
      }
    }
  }
}

/** Blocked by what failed, skipped with what was skipped. */
function verdictOfNeeds(needed: readonly CheckResult[]): Verdict | undefined {
  const failed = needed.filter(({ status }) => status === 'fail' || status === 'blocked');
  if (failed.length > 0) {
    const by = failed.map(({ id }) => id);
    return { status: 'blocked', sentence: `Not asked, because it needs ${by.join(' and ')}.`, evidence: [], by };
  }
  const left = needed.find(({ status }) => status === 'skipped');
  if (left?.status !== 'skipped') return undefined;
  // Of a chain of them, the first has the reason.
  const { id, cause, reason = left.sentence } = left;
  return { ...skipped(`It needs ${id}, which was skipped: ${reason}`, cause), reason };
}

const skipped = (sentence: string, cause?: SkipCause): Verdict & { readonly status: 'skipped' } => ({
  status: 'skipped',
  sentence,
  evidence: [],
  ...(cause === undefined ? {} : { cause }),
});

/** What is not an error cannot fail. */
function atMost(severity: Severity, finding: Finding): Finding {
  return finding.status === 'fail' && severity !== 'error' ? { ...finding, status: 'warn' } : finding;
}

/** What a check could not find out is its failure; what it was not allowed to ask says nothing of the cluster. */
function verdictOfError({ severity, title }: Check, error: unknown): Verdict {
  if (!isClusterError(error)) {
    return atMost(severity, {
      status: 'fail',
      sentence: `"${title}" could not be checked: ${messageOf(error)}`,
      evidence: [],
    });
  }
  if (error.kind === 'Forbidden') return skipped(`You may not ask: ${error.message}`, 'unknown');
  return atMost(severity, {
    status: 'fail',
    sentence: error.what,
    evidence: [],
    ...(error.hint === '' ? {} : { mend: { kind: 'advice' as const, text: error.hint } }),
  });
}

/** One attempt, given up at its limit even where what it waits for does not listen to its signal. */
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
        sentence: `There was no answer in ${limit / 1000} s.`,
        evidence: [],
        mend: { kind: 'advice', text: 'Ask again; where it stays so, look at the network between here and there.' },
      };
    }
    return found;
  } finally {
    clearTimeout(timer);
    if (stop) runSignal.removeEventListener('abort', stop);
    timeout.abort();
  }
}

function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
  });
}
