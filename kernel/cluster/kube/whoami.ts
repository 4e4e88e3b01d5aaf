import type { Evidence } from '#cluster/check.ts';
import { ClusterError } from '#cluster/errors.ts';
import { textAt, textsAt } from './fields.ts';
import type { KubeReads } from './kubeReads.ts';

/** Who asks, as the API server knows them. */
export type Person = {
  readonly username: string;
  readonly groups: readonly string[];
  readonly evidence: Evidence;
};

/** @throws ClusterError */
export async function readPerson(kube: KubeReads): Promise<Person> {
  const asked = 'SelfSubjectReview';
  const { body } = await kube.request({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: asked },
  });
  const username = textAt(body, 'status', 'userInfo', 'username');
  if (username === undefined)
    throw new ClusterError(
      'BadReply',
      'The API server does not say who you are.',
      'Check that the address is that of a Kubernetes API server.',
    );
  const groups = textsAt(body, 'status', 'userInfo', 'groups');
  return { username, groups, evidence: { asked, saw: `${username} (${groups.join(', ') || 'no groups'})` } };
}
