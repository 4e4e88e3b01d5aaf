import type { CheckHeader } from '#cluster/check.ts';
import type { CheckId } from '#cluster/checkIds.ts';
import type { CheckEvent, CheckReport, CheckResult } from '#cluster/result.ts';
import { countOf } from '#cluster/runChecks.ts';

// A recorded run on a small cluster, shortened: every status, every kind of fix.

const common = { severity: 'error', milliseconds: 12, attempts: 1 } as const;

export const passed: CheckResult = {
  ...common,
  id: 'k8s-reach',
  category: 'connection',
  title: 'The API server answers',
  status: 'pass',
  sentence: 'https://127.0.0.1:6443 answers with version v1.30.14.',
  evidence: [{ asked: 'GET /version', saw: 'v1.30.14' }],
};

export const failed: CheckResult = {
  ...common,
  id: 'rbac-pods-watch',
  category: 'identity',
  title: 'The service account may watch pods',
  status: 'fail',
  sentence: 'geneva/runner may not watch pods.',
  evidence: [{ asked: 'SubjectAccessReview watch pods as system:serviceaccount:geneva:runner', saw: 'allowed: false' }],
  mend: {
    kind: 'objects',
    objects: [{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'runner' } }],
    command: 'kubectl apply -f -',
  },
};

export const warned: CheckResult = {
  ...common,
  id: 'operator-pairing',
  category: 'versions',
  title: 'Kubernetes and the operator go together',
  severity: 'warning',
  status: 'warn',
  sentence: 'Nobody has listed Kubernetes 1.32 with operator 1.3.',
  evidence: [{ asked: 'the table of pairs', saw: '1.30 with 1.1, 1.31 with 1.2' }],
  mend: { kind: 'advice', text: 'Try a small job first.' },
};

export const blocked: CheckResult = {
  ...common,
  id: 'operator-running',
  category: 'versions',
  title: 'The operator runs',
  status: 'blocked',
  sentence: 'Not asked, because it needs crd-rayclusters.',
  evidence: [],
  by: ['crd-rayclusters'],
};

export const skipped: CheckResult = {
  ...common,
  id: 'gcp-adc',
  category: 'gcp',
  title: 'Credentials of Google Cloud are there',
  status: 'skipped',
  sentence: 'The profile names no project.',
  evidence: [],
};

export const results: readonly CheckResult[] = [passed, blocked, warned, failed, skipped];

export const reportOf = (of: readonly CheckResult[] = results, more: Partial<CheckReport> = {}): CheckReport => ({
  version: 1,
  profile: 'prod',
  startedAt: '2026-01-02T03:04:05.000Z',
  milliseconds: 80,
  stopped: false,
  counts: countOf(of),
  results: of,
  ...more,
});

export const headers: readonly CheckHeader[] = results.map(({ id, category, title, severity }) => ({
  id,
  category,
  title,
  severity,
  needs: [],
}));

export const started = (id: CheckId): CheckEvent => ({ type: 'started', id });
export const finished = (result: CheckResult): CheckEvent => ({ type: 'finished', result });
