import type { Evidence } from '#cluster/check.ts';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { textAt, textsAt } from './fields.ts';
import type { KubeReads } from './kubeReads.ts';

/** Who asks, as the API server knows them. */
export type Person = {
  /** Empty where the server accepts the credentials and has no way to say whose they are. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly evidence: Evidence;
};

const kind = 'SelfSubjectReview';

/** @throws ClusterError */
export async function readPerson(kube: KubeReads): Promise<Person> {
  try {
    return await review(kube);
  } catch (error) {
    if (!isClusterError(error)) throw error;
    // Kubernetes before 1.28 does not serve the question; any answer to another one says that the credentials are good.
    if (error.kind === 'NotFound') return acceptedPerson(kube);
    const refused = refusalOf(error);
    if (refused) throw refused;
    // Who is told that they may not ask is named in the refusal.
    const named = error.kind === 'Forbidden' ? /User "([^"]+)"/.exec(error.what)?.[1] : undefined;
    if (named === undefined) throw error;
    return { username: named, groups: [], evidence: { asked: kind, saw: `${named} may not ask who they are` } };
  }
}

/**
 * The error for a refusal that holds for every question alike: taken for one of a grant, it would have all checks skipped
 * and none fail.
 */
function refusalOf({ kind: reason, what, status }: ClusterError): ClusterError | undefined {
  if (reason !== 'Forbidden') return undefined;
  const [, other = '', person] = /"([^"]*)" is forbidden: User "([^"]+)" cannot impersonate /.exec(what) ?? [];
  if (person !== undefined)
    return new ClusterError(
      'CredentialsRefused',
      `${person} may not act as ${other}, whom the kubeconfig names.`,
      'Remove "as" from the user in the kubeconfig, or have an administrator allow it (impersonate).',
      { status },
    );
  const path = /cannot post path "([^"]*)\/apis\/authentication/.exec(what)?.[1];
  if (path === undefined) return undefined;
  return new ClusterError(
    'WrongServer',
    `The API server has nothing below ${path}, which is in its address.`,
    'Check the address of the cluster in the kubeconfig: what comes after host and port may be too much.',
    { status },
  );
}

async function review(kube: KubeReads): Promise<Person> {
  const { body } = await kube.request({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind },
  });
  const username = textAt(body, 'status', 'userInfo', 'username');
  if (username === undefined)
    throw new ClusterError(
      'BadReply',
      'The API server does not say who you are.',
      'Check that the address is that of a Kubernetes API server.',
    );
  if (username === 'system:anonymous')
    throw new ClusterError(
      'CredentialsMissing',
      'The API server takes you for nobody (system:anonymous).',
      'Name a user with credentials in the context of the kubeconfig.',
    );
  const groups = textsAt(body, 'status', 'userInfo', 'groups');
  return { username, groups, evidence: { asked: kind, saw: `${username} (${groups.join(', ') || 'no groups'})` } };
}

async function acceptedPerson(kube: KubeReads): Promise<Person> {
  const asked = 'SelfSubjectAccessReview';
  await kube.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: asked,
      spec: { nonResourceAttributes: { path: '/version', verb: 'get' } },
    },
  });
  return { username: '', groups: [], evidence: { asked, saw: 'answered, by a server too old to say whose they are' } };
}
