import { ClusterError, isClusterError } from '#cluster/errors.ts';
import type { Evidence } from '#cluster/result.ts';
import { fieldAt, stringAt } from '#shared/fields.ts';
import type { KubeReads } from './kubeReads.ts';
import type { KubeAsk } from './kubeRequest.ts';
import { serviceAccountUser } from './serviceAccounts.ts';

/** An action that an identity may or may not do. */
export type ResourceAccess = {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly verb: string;
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
};

type AccessAnswer = {
  readonly isAllowed: boolean;
  readonly evidence: Evidence;
};

/** Ways to find out what the service account may do, best first. */
type ReviewMethod =
  /** Uses a SubjectAccessReview, which administrators may create. */
  | 'review'
  /** Requests the answer while impersonating the service account. */
  | 'impersonation'
  | 'token'
  /** The user may use none of these ways. */
  | 'none';

/** `patch ray.io/rayclusters in geneva`. */
export function formatAccess({ group, resource, subresource, verb, namespace }: ResourceAccess): string {
  const kind = `${group === '' ? '' : `${group}/`}${resource}${subresource === undefined ? '' : `/${subresource}`}`;
  return `${verb} ${kind} ${namespace === undefined ? 'in all namespaces' : `in ${namespace}`}`;
}

const reviews = '/apis/authorization.k8s.io/v1';

/** Checks whether the user has the access. @throws ClusterError */
async function reviewSelf(kube: KubeReads, access: ResourceAccess): Promise<AccessAnswer> {
  return askSelf(kube, access, {}, '');
}

/** Checks, in the given way, whether the profile's service account has the access. @throws ClusterError */
async function reviewServiceAccount(kube: KubeReads, access: ResourceAccess, way: ReviewMethod): Promise<AccessAnswer> {
  const user = serviceAccountUser(kube.profile.namespace, kube.profile.serviceAccount);
  switch (way) {
    case 'review':
      return askAbout(kube, access, user);
    case 'impersonation':
      // If the request names no groups, the API server adds the service account's groups itself. The user then needs no
      // right to impersonate groups.
      return askSelf(kube, access, { as: { user, groups: [] } }, ` impersonating ${user}`);
    case 'token': {
      const { token } = await kube.serviceAccountToken();
      return askSelf(kube, access, { token }, ` with a token of ${user}`);
    }
    case 'none':
      throw new ClusterError('Forbidden', `Can't find out what ${user} is allowed to do.`, '');
  }
}

/** The right to check what other identities may do. */
export const mayReview: ResourceAccess = {
  group: 'authorization.k8s.io',
  resource: 'subjectaccessreviews',
  verb: 'create',
};

async function askSelf(
  kube: KubeReads,
  access: ResourceAccess,
  identity: Pick<KubeAsk, 'as' | 'token'>,
  how: string,
): Promise<AccessAnswer> {
  const asked = `SelfSubjectAccessReview ${formatAccess(access)}${how}`;
  return answerOf(asked, await review(kube, 'SelfSubjectAccessReview', { resourceAttributes: of(access) }, identity));
}

async function askAbout(kube: KubeReads, access: ResourceAccess, user: string): Promise<AccessAnswer> {
  const namespace = kube.profile.namespace;
  const spec = {
    user,
    // The groups are given, because grants to groups would be missed otherwise.
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    resourceAttributes: of(access),
  };
  const asked = `SubjectAccessReview ${formatAccess(access)} as ${user}`;
  return answerOf(asked, await review(kube, 'SubjectAccessReview', spec, {}));
}

async function review(
  kube: KubeReads,
  kind: 'SelfSubjectAccessReview' | 'SubjectAccessReview',
  spec: object,
  identity: Pick<KubeAsk, 'as' | 'token'>,
): Promise<unknown> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind, spec };
  const reply = await kube.request({ method: 'POST', path: `${reviews}/${kind.toLowerCase()}s`, body, ...identity });
  return reply.body;
}

function answerOf(asked: string, body: unknown): AccessAnswer {
  const allowed = fieldAt(body, 'status', 'allowed');
  if (typeof allowed !== 'boolean')
    throw new ClusterError(
      'BadReply',
      `The reply to ${asked} does not say whether the access is allowed.`,
      'Check that the address is that of a Kubernetes API server.',
    );
  // A grant has a reason with its role and binding; a refusal has none.
  const reason = stringAt(body, 'status', 'reason') ?? stringAt(body, 'status', 'evaluationError');
  return {
    isAllowed: allowed,
    evidence: { asked, saw: `${allowed ? 'allowed' : 'not allowed'}${reason === undefined ? '' : `: ${reason}`}` },
  };
}

/** JSON omits fields that are `undefined`. */
const of = ({ group, resource, subresource, verb, namespace }: ResourceAccess): object => ({
  group,
  resource,
  subresource,
  verb,
  namespace,
});

/** Checks whether the user has the access. Within one run, the server is asked only once. @throws ClusterError */
export const userCan = (kube: KubeReads, access: ResourceAccess): Promise<AccessAnswer> =>
  kube.once(`may I ${formatAccess(access)}`, () => reviewSelf(kube, access));

/** Checks whether the service account has the access. @throws ClusterError */
export const serviceAccountCan = async (kube: KubeReads, access: ResourceAccess): Promise<AccessAnswer> =>
  mayAccountBy(kube, access, await chooseReviewMethod(kube));

const mayAccountBy = (kube: KubeReads, access: ResourceAccess, way: ReviewMethod): Promise<AccessAnswer> =>
  kube.once(`may it ${formatAccess(access)} by ${way}`, () => reviewServiceAccount(kube, access, way));

/**
 * Returns how the user can find out what the service account may do: the first way that is allowed.
 * @throws ClusterError for any failure but a missing grant
 */
export const chooseReviewMethod = (kube: KubeReads): Promise<ReviewMethod> =>
  kube.once('way of reviews', () => findReviewWay(kube));

async function findReviewWay(kube: KubeReads): Promise<ReviewMethod> {
  if ((await userCan(kube, mayReview)).isAllowed) return 'review';
  for (const way of ['impersonation', 'token'] as const) {
    try {
      await mayAccountBy(kube, runnerAccess[0], way);
      return way;
    } catch (error) {
      if (!isClusterError(error) || error.kind !== 'Forbidden') throw error;
    }
  }
  return 'none';
}

const rayClusters = { group: 'ray.io', resource: 'rayclusters' } as const;
const pods = { group: '', resource: 'pods' } as const;

/** The access that the service account needs in all namespaces, because the runner uses it. */
export const runnerAccess = [
  { ...pods, verb: 'get' },
  { ...pods, verb: 'list' },
  { ...pods, verb: 'watch' },
  { ...rayClusters, verb: 'get' },
  { ...rayClusters, verb: 'patch' },
  { ...rayClusters, verb: 'delete' },
] as const satisfies readonly ResourceAccess[];

/** What a launch does with the RayClusters of the namespace. */
export const launchVerbs = ['create', 'get', 'list', 'watch', 'patch', 'delete'] as const;
