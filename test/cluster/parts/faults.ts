import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { CheckId } from '#cluster/checkIds.ts';
import { applyFix, previewFix } from '#cluster/fixes/applyFix.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import { connectKube } from '#cluster/kube/connectKube.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport, CheckResult, CheckStatus } from '#cluster/result.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { verifyCluster } from '#cluster/verifyCluster.ts';
import { kubectlProgram } from '../../harness/needs/kubeNeeds.ts';
import { wronglyBlocked } from './outcome.ts';
import { soundCluster, type SoundCluster } from './soundCluster.ts';

export type Statuses = Partial<Record<CheckId, CheckStatus>>;

/** A fault in a cluster, and the expected results. */
export type Fault = {
  /** The fault, as the end of a test's name. */
  readonly name: string;
  /** Creates the fault. */
  readonly plant: (cluster: SoundCluster) => Promise<void>;
  /** Changes the profile of the sound cluster. */
  readonly profile?: (profile: ClusterProfile) => ClusterProfile;
  /** Every check whose status differs from the sound cluster, first the check that finds the fault. */
  readonly expected: Statuses;
  /** The message of the check that finds the fault. */
  readonly says: RegExp;
  /** The kind of the check's fix. The test applies objects and runs a `kubectl` command as an administrator. */
  readonly mend: Fix['kind'];
  /** The expected text of the fix's command or advice. */
  readonly tells?: RegExp;
  /**
   * Does what a user would do after the advice, or instead of a command that can't run here, for example one that
   * installs a chart.
   */
  readonly byHand?: (cluster: SoundCluster) => Promise<void>;
};

const signal = (): AbortSignal => AbortSignal.timeout(60_000);

export const verify = (profile: ClusterProfile): Promise<CheckReport> => verifyCluster(profile, { signal: signal() });

/** Defines a test for each fault: only the right check finds it, and no check fails after the fix. */
export function testFaults(faults: readonly Fault[]): void {
  let cluster: SoundCluster;
  suiteSetup(async () => (cluster = await soundCluster()));
  teardown(() => cluster.restore());

  const sound = new Map<string, Promise<CheckReport>>();

  for (const fault of faults) {
    test(`find that ${fault.name}`, async () => {
      const profile = fault.profile?.(cluster.profile) ?? cluster.profile;
      const key = JSON.stringify(profile);
      const before = sound.get(key) ?? verify(profile);
      sound.set(key, before);
      const asSound = await before;
      await fault.plant(cluster);

      const report = await verify(profile);
      const found = differences(asSound, report);
      assert.deepEqual(found, fault.expected, sentencesOf(report, found));
      assert.deepEqual(wronglyBlocked(report), []);
      const finder = resultOf(report, Object.keys(fault.expected)[0] as CheckId);
      assert.match(finder.sentence, fault.says);
      const mend = mendOf(finder);
      assert.equal(mend?.kind, fault.mend);
      if (fault.tells) assert.match(toldBy(mend), fault.tells);

      await (fault.byHand?.(cluster) ?? mendIt(cluster, mend));
      const after = await verify(profile);
      const left = differences(asSound, after);
      assert.deepEqual(left, {}, sentencesOf(after, left));
    });
  }
}

/** Returns the checks whose status has changed. */
export function differences(before: CheckReport, after: CheckReport): Statuses {
  const was = new Map(before.results.map(({ id, status }) => [id, status]));
  return Object.fromEntries(
    after.results.filter(({ id, status }) => was.get(id) !== status).map(({ id, status }) => [id, status]),
  );
}

export function resultOf({ results }: CheckReport, id: CheckId): CheckResult {
  const found = results.find((result) => result.id === id);
  assert.ok(found, `There is no ${id}.`);
  return found;
}

export const mendOf = (result: CheckResult): Fix | undefined => ('mend' in result ? result.mend : undefined);

function toldBy(mend: Fix | undefined): string {
  if (!mend) return '';
  return mend.kind === 'advice' ? mend.text : mend.command;
}

/** Returns the messages of the checks with unexpected statuses, for the message of a failure. */
const sentencesOf = ({ results }: CheckReport, differing: Statuses): string =>
  results
    .filter(({ id }) => id in differing)
    .map(({ id, status, sentence }) => `${id} ${status}: ${sentence}`)
    .join('\n');

/** Applies a fix as an administrator of the cluster. */
export async function mendIt(cluster: SoundCluster, mend: Fix | undefined): Promise<void> {
  assert.ok(mend, 'There is no mend.');
  const kubeconfig = cluster.kubeconfig('admin');
  if (mend.kind === 'objects') {
    const auth = { configMethod: 'LOCAL', kubeconfig } as const;
    const connection = await connectKube(auth, { hidden: new SecretRedactor(), signal: signal() });
    try {
      const preview = await previewFix(connection, mend.objects, signal());
      await applyFix(connection, preview, { signal: signal(), force: true });
    } finally {
      await connection.close();
    }
    return;
  }
  assert.equal(mend.kind, 'command', 'This mend is for a person: a fault with it says what is done by hand.');
  assert.ok(mend.kind === 'command' && mend.command.startsWith('kubectl '), 'Only kubectl can be run here.');
  // The command names the kubeconfig of the user who ran the check, who may only read.
  const command = mend.command.replace(/--kubeconfig \S+/, `--kubeconfig ${kubeconfig}`);
  await promisify(execFile)('/bin/sh', ['-c', command], { timeout: 60_000, env: withKubectl() });
}

/** Returns an environment whose PATH has the kubectl of the tests. */
function withKubectl(): NodeJS.ProcessEnv {
  const program = kubectlProgram();
  assert.ok(program, 'There is no kubectl: run "npm run test:cluster", which builds it.');
  return { ...process.env, PATH: `${dirname(program)}:${process.env['PATH'] ?? ''}` };
}
