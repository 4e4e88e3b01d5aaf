import assert from 'node:assert/strict';
import type { Suite } from 'mocha';
import { messageOf } from '#shared/errors.ts';
import type { Operation } from '#client/operations.ts';

/**
 * What upstream's REST server does otherwise than the specification, a case of this suite a row: over that server the
 * case has to fail as said, and once it no longer does, the row has to go.
 */
export type UpstreamGap = {
  /** The title that `forEachSubject` was given, and that of the case. */
  readonly suite: string;
  readonly test: string;
  readonly operation: Operation;
  readonly reason: string;
  /** Upstream's own thread, or the server's answer as it was seen. */
  readonly evidence: string;
  /** What the failure of the case says. */
  readonly says: RegExp;
};

export const upstreamGaps: readonly UpstreamGap[] = [];

/** Turns the cases of a suite that hit a gap around: each passes by failing as its row says. */
export function expectGaps(title: string, suite: Suite): void {
  for (const gap of upstreamGaps.filter((row) => row.suite === title)) {
    const test = suite.tests.find((one) => one.title === gap.test);
    if (!test?.fn) throw new Error(`upstreamGaps.ts names a case that is not there: "${title}" / "${gap.test}".`);
    const run = test.fn as (this: unknown) => Promise<void>;
    test.title += ` (a gap of upstream: ${gap.operation})`;
    test.fn = async function (this: unknown) {
      const failure = await failureOf(() => run.call(this));
      assert.ok(failure !== undefined, `Upstream does this now: remove the row "${gap.test}" of upstreamGaps.ts.`);
      assert.match(failure, gap.says);
    };
  }
}

async function failureOf(run: () => Promise<void>): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
