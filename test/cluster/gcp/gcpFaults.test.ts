import assert from 'node:assert/strict';
import type { CheckId } from '#cluster/checkIds.ts';
import { mendOf, sentenceOf, wronglyBlocked } from '../parts/outcome.ts';
import { runGcloudStandIn } from '../standIns/gcloudStandIn.ts';
import { type GoogleProject, others, startGoogleProject } from '../standIns/googleProject.ts';
import { google, type GoogleState, workload } from '../standIns/googleState.ts';

/** A fault, the checks that fail because of it, and the checks that those block. */
const faults: readonly {
  readonly name: string;
  readonly plant: (state: GoogleState) => void;
  readonly expect: Readonly<Partial<Record<CheckId, string>>>;
  readonly sentence?: RegExp;
  /** The check whose gcloud command fixes the fault. */
  readonly mends?: CheckId;
}[] = [
  {
    name: 'a login that has expired',
    plant: (state) => void (state.login = 'expired'),
    expect: {
      'gcp-adc': 'fail',
      'gcp-client-role': 'blocked',
      'gcp-wi-cluster': 'blocked',
      'gcp-wi-nodepool': 'blocked',
      'gcp-wi-user': 'blocked',
      'gcp-bucket-role': 'blocked',
      'gcp-chain-exchange': 'blocked',
      'gcp-chain-impersonate': 'blocked',
      'gcp-chain-bucket': 'blocked',
    },
    sentence: /^The sign-in stored in .*credentials\.json has expired or was revoked\.$/,
    mends: 'gcp-adc',
  },
  {
    name: 'no right to look at the cluster',
    plant: ({ mayPerson }) => void mayPerson.delete('container.clusters.get'),
    expect: {
      'gcp-client-role': 'fail',
      'gcp-wi-cluster': 'blocked',
      'gcp-wi-nodepool': 'blocked',
      'gcp-chain-exchange': 'blocked',
      'gcp-chain-impersonate': 'blocked',
      'gcp-chain-bucket': 'blocked',
    },
    sentence: /container\.clusters\.get is missing/,
    mends: 'gcp-client-role',
  },
  {
    name: 'workload identity off',
    plant: ({ cluster: gke }) => void (gke.workloadPool = undefined),
    expect: {
      'gcp-wi-cluster': 'fail',
      'gcp-wi-nodepool': 'blocked',
      'gcp-chain-exchange': 'blocked',
      'gcp-chain-impersonate': 'blocked',
      'gcp-chain-bucket': 'blocked',
    },
    sentence: /Workload identity is off for the cluster ray/,
    mends: 'gcp-wi-cluster',
  },
  {
    name: 'a node pool that gives pods the identity of the node',
    plant: ({ cluster: gke }) => void (gke.nodePools[2]!.mode = 'GCE_METADATA'),
    expect: { 'gcp-wi-nodepool': 'fail' },
    sentence: /node pool gpu get the identity of the node/,
    mends: 'gcp-wi-nodepool',
  },
  {
    name: 'a Google service account that does not let the Kubernetes one act as it',
    plant: ({ accounts }) => void accounts.set(google.account, []),
    expect: { 'gcp-wi-user': 'fail', 'gcp-chain-impersonate': 'fail', 'gcp-chain-bucket': 'blocked' },
    mends: 'gcp-wi-user',
  },
  {
    name: 'the same where the person may not read its policy',
    plant: ({ accounts, mayPerson }) => {
      accounts.set(google.account, []);
      mayPerson.delete('iam.serviceAccounts.getIamPolicy');
    },
    expect: { 'gcp-wi-user': 'skipped', 'gcp-chain-impersonate': 'fail', 'gcp-chain-bucket': 'blocked' },
    sentence: /test-project\.svc\.id\.goog\[geneva\/geneva-sa\] may not act as geneva@/,
    mends: 'gcp-chain-impersonate',
  },
  {
    name: 'a grant to the service account of another namespace',
    plant: ({ accounts, mayPerson }) => {
      const members = [workload.replace('geneva/', 'default/')];
      accounts.set(google.account, [{ role: 'roles/iam.workloadIdentityUser', members }]);
      mayPerson.delete('iam.serviceAccounts.getIamPolicy');
    },
    expect: { 'gcp-wi-user': 'skipped', 'gcp-chain-impersonate': 'fail', 'gcp-chain-bucket': 'blocked' },
    mends: 'gcp-chain-impersonate',
  },
  {
    name: 'no role on the bucket, where the person may not read its policy',
    plant: ({ buckets, mayPerson }) => {
      buckets.set(google.bucket, []);
      mayPerson.delete('storage.buckets.getIamPolicy');
    },
    expect: { 'gcp-bucket-role': 'skipped', 'gcp-chain-bucket': 'fail' },
    sentence: /lacks storage\.objects\.create, storage\.objects\.delete, storage\.objects\.get, storage\.objects\.list/,
    mends: 'gcp-chain-bucket',
  },
  {
    name: 'a role on the bucket that only reads',
    plant: ({ buckets }) => {
      const members = [`serviceAccount:${google.account}`];
      buckets.set(google.bucket, [{ role: 'roles/storage.objectViewer', members }]);
    },
    expect: { 'gcp-bucket-role': 'fail', 'gcp-chain-bucket': 'fail' },
    mends: 'gcp-bucket-role',
  },
  {
    name: 'a token of which Google knows another key',
    plant: ({ issuers }) => {
      for (const known of issuers.values()) known.keys = { keys: [] };
    },
    expect: { 'gcp-chain-exchange': 'fail', 'gcp-chain-impersonate': 'blocked', 'gcp-chain-bucket': 'blocked' },
    sentence: /^Google does not accept the service account's token\. Google reports: Invalid ID Token signature/,
  },
  {
    name: 'a token of another issuer',
    plant: ({ issuers }) => {
      for (const known of issuers.values()) known.issuer = 'https://container.googleapis.com/v1/another';
    },
    expect: { 'gcp-chain-exchange': 'fail', 'gcp-chain-impersonate': 'blocked', 'gcp-chain-bucket': 'blocked' },
    sentence: /The issuer in ID Token did not match/,
  },
  {
    name: 'a pool that does not know the cluster',
    plant: ({ issuers }) => issuers.clear(),
    expect: { 'gcp-chain-exchange': 'fail', 'gcp-chain-impersonate': 'blocked', 'gcp-chain-bucket': 'blocked' },
    sentence: /invalid\.$/,
  },
  {
    name: 'an interface that is not enabled',
    plant: ({ disabled }) => void disabled.add('iamcredentials.googleapis.com'),
    expect: { 'gcp-chain-impersonate': 'fail', 'gcp-chain-bucket': 'blocked' },
    sentence: /\(iamcredentials\.googleapis\.com\) has not been used/,
  },
];

suite('A fault in Google Cloud', function () {
  this.timeout(120_000);
  let project: GoogleProject;
  suiteSetup(async () => (project = await startGoogleProject()));
  setup(() => project.reset());
  suiteTeardown(() => project.stop());

  for (const { name, plant, expect, sentence, mends } of faults) {
    test(`is found: ${name}${mends ? ', and its line of gcloud mends it' : ''}`, async () => {
      plant(project.standIn.state);
      const report = await project.check();
      assert.deepEqual(others(report), { ...expect });
      assert.deepEqual(wronglyBlocked(report), []);
      const [failed] = Object.entries(expect).find(([, status]) => status === 'fail') ?? [];
      if (sentence) assert.match(sentenceOf(report, failed as CheckId), sentence);
      if (!mends) return;
      const mend = mendOf(report, mends);
      assert.equal(mend?.kind, 'command');
      runGcloudStandIn(mend.command, project.standIn.state);
      const after = Object.values(others(await project.check()));
      assert.deepEqual(
        after.filter((status) => status !== 'skipped'),
        [],
      );
    });
  }
});
