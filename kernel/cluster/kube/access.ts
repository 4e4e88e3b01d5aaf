import { isClusterError } from '#cluster/errors.ts';
import {
  mayReview,
  reviewSelf,
  reviewServiceAccount,
  wordsOfAccess,
  type Access,
  type AccessAnswer,
  type ReviewWay,
} from './accessReviews.ts';
import type { KubeReads } from './kubeReads.ts';

/** Whether the person may do something. @throws ClusterError */
export const mayPerson = (kube: KubeReads, access: Access): Promise<AccessAnswer> =>
  kube.once(`may I ${wordsOfAccess(access)}`, () => reviewSelf(kube, access));

/** Whether the service account may do something. @throws ClusterError */
export const mayAccount = async (kube: KubeReads, access: Access): Promise<AccessAnswer> =>
  mayAccountBy(kube, access, await reviewWayOf(kube));

const mayAccountBy = (kube: KubeReads, access: Access, way: ReviewWay): Promise<AccessAnswer> =>
  kube.once(`may it ${wordsOfAccess(access)} by ${way}`, () => reviewServiceAccount(kube, access, way));

/**
 * How this person finds out what the service account may do: the ways are tried one after another until one is allowed.
 * @throws ClusterError for anything but a missing grant
 */
export const reviewWayOf = (kube: KubeReads): Promise<ReviewWay> =>
  kube.once('way of reviews', () => findReviewWay(kube));

async function findReviewWay(kube: KubeReads): Promise<ReviewWay> {
  if ((await mayPerson(kube, mayReview)).isAllowed) return 'review';
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

/** What the runner asks of a service account, in all namespaces. */
export const runnerAccess = [
  { ...pods, verb: 'get' },
  { ...pods, verb: 'list' },
  { ...pods, verb: 'watch' },
  { ...rayClusters, verb: 'get' },
  { ...rayClusters, verb: 'patch' },
  { ...rayClusters, verb: 'delete' },
] as const satisfies readonly Access[];

/** What whoever launches does with Ray clusters of the namespace. */
export const launchVerbs = ['create', 'get', 'list', 'watch', 'patch', 'delete'] as const;
