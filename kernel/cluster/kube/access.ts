import {
  findReviewWay,
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
export const mayAccount = (kube: KubeReads, access: Access): Promise<AccessAnswer> =>
  kube.once(`may it ${wordsOfAccess(access)}`, async () => reviewServiceAccount(kube, access, await reviewWayOf(kube)));

/** How this person finds out what the service account may do. @throws ClusterError */
export const reviewWayOf = (kube: KubeReads): Promise<ReviewWay> =>
  kube.once('way of reviews', async () => findReviewWay(kube, (await mayPerson(kube, mayReview)).isAllowed));

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
