import type { CheckReport, CheckResult } from '#cluster/result.ts';
import { countOf } from '#cluster/runChecks.ts';

const common = { milliseconds: 12, attempts: 1 } as const;

/**
 * A result of each status with each kind of fix, with texts that are special in a terminal, in HTML and in Markdown.
 */
export const someResults: readonly CheckResult[] = [
  {
    ...common,
    id: 'k8s-reach',
    category: 'connection',
    title: 'The API server answers',
    severity: 'error',
    status: 'pass',
    sentence: 'https://127.0.0.1:6443 answers.',
    evidence: [{ asked: 'GET /version', saw: 'v1.30.14' }],
  },
  {
    ...common,
    id: 'k8s-clock',
    category: 'connection',
    title: 'The clocks agree',
    severity: 'warning',
    status: 'warn',
    sentence: 'The clock of <b>this machine</b> is 8 minutes late.\u001b[31m',
    evidence: [],
    mend: { kind: 'advice', text: 'Set the clock by the network.' },
  },
  {
    ...common,
    id: 'rbac-pods-get',
    category: 'identity',
    title: 'The service account may get pods',
    severity: 'error',
    status: 'fail',
    sentence: 'system:serviceaccount:geneva:geneva-sa may not get pods | of the cluster.',
    evidence: [{ asked: 'SubjectAccessReview get pods', saw: 'allowed: false ``` <script>alert(1)</script>' }],
    mend: {
      kind: 'objects',
      objects: [
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'geneva-role' },
          rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
        },
      ],
      command: "kubectl apply -f - <<'END'\n{}\nEND",
    },
  },
  {
    ...common,
    id: 'rbac-binding-cluster',
    category: 'identity',
    title: 'A binding for the whole cluster is there',
    severity: 'warning',
    status: 'blocked',
    sentence: 'Not run, because it needs rbac-pods-get.',
    evidence: [],
    by: ['rbac-pods-get'],
  },
  {
    ...common,
    id: 'irsa-trust',
    category: 'aws',
    title: 'The trust policy names the service account',
    severity: 'error',
    status: 'fail',
    sentence: 'The trust policy of geneva-role names another subject.',
    evidence: [],
    mend: {
      kind: 'document',
      title: 'Trust policy of geneva-role',
      language: 'json',
      text: '{\n  "Version": "2012-10-17"\n}',
      command: 'aws iam update-assume-role-policy --role-name geneva-role --policy-document file://trust.json',
    },
  },
  {
    ...common,
    attempts: 0,
    id: 'gcp-adc',
    category: 'gcp',
    title: 'Application-default credentials are there',
    severity: 'error',
    status: 'skipped',
    sentence: 'The profile is not on Google Cloud.',
    evidence: [],
  },
];

export const reportOf = (results: readonly CheckResult[], more: Partial<CheckReport> = {}): CheckReport => ({
  version: 1,
  profile: 'prod',
  startedAt: '2026-01-02T03:04:05.000Z',
  milliseconds: 812,
  stopped: false,
  counts: countOf(results),
  results,
  ...more,
});

/** Returns a report with only these checks. */
export const onlyOf = (...ids: readonly string[]): CheckReport =>
  reportOf(someResults.filter(({ id }) => ids.includes(id)));
