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

/** Something that is wrong with a cluster, and what has to come of it. */
export type Fault = {
  /** What is so, as the end of a test's name. */
  readonly name: string;
  /** Breaks it. */
  readonly plant: (cluster: SoundCluster) => Promise<void>;
  /** Another profile than that of the sound cluster. */
  readonly profile?: (profile: ClusterProfile) => ClusterProfile;
  /** Every check that is not as on the sound cluster, and how it is; the one that finds the fault first. */
  readonly expected: Statuses;
  /** What that one says. */
  readonly says: RegExp;
  /** Its mend: applied where it is objects, run where it is a `kubectl` line, in each case as an administrator. */
  readonly mend: Fix['kind'];
  /** What its command or advice has in it. */
  readonly tells?: RegExp;
  /** Does what a person would by the advice, or by a command that cannot be run here, such as one that installs a chart. */
  readonly byHand?: (cluster: SoundCluster) => Promise<void>;
};

const signal = (): AbortSignal => AbortSignal.timeout(60_000);

export const verify = (profile: ClusterProfile): Promise<CheckReport> => verifyCluster(profile, { signal: signal() });

/** A test for each fault: it is found by the check for it and by no other, and once mended nothing is wrong any more. */
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

/** The checks whose status is another now. */
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

/** What the checks say that are not as they should be, for the message of a failure. */
const sentencesOf = ({ results }: CheckReport, differing: Statuses): string =>
  results
    .filter(({ id }) => id in differing)
    .map(({ id, status, sentence }) => `${id} ${status}: ${sentence}`)
    .join('\n');

/** Does what a mend says, as an administrator of the cluster. */
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
  // The line names the kubeconfig of the person who asked, who may only look.
  const command = mend.command.replace(/--kubeconfig \S+/, `--kubeconfig ${kubeconfig}`);
  await promisify(execFile)('/bin/sh', ['-c', command], { timeout: 60_000, env: withKubectl() });
}

/** PATH with the kubectl that the tests have. */
function withKubectl(): NodeJS.ProcessEnv {
  const program = kubectlProgram();
  assert.ok(program, 'There is no kubectl: run "npm run test:cluster", which builds it.');
  return { ...process.env, PATH: `${dirname(program)}:${process.env['PATH'] ?? ''}` };
}
