import type { Check } from '#cluster/check.ts';
import { isClusterError } from '#cluster/errors.ts';
import { fail, pass, skip, unknown, warn } from '#cluster/checkResults.ts';
import { stringAt } from '#shared/fields.ts';
import { type KubeReads, evidenceFor } from '#cluster/kube/kubeReads.ts';
import { groupsOf, rayClusterOf, rayClusterPath } from '#cluster/kube/objectReads.ts';
import {
  compareVersions,
  isAtLeast,
  rayVersionOf,
  showMinor,
  showVersion,
  versionIn,
  type VersionNumber,
} from '#cluster/kube/versionNumbers.ts';
import type { Evidence } from '#cluster/result.ts';

/** The oldest Ray that the runner supports. */
const oldest: VersionNumber = { major: 2, minor: 43, patch: 0 };

/**
 * A source that reports a Ray version. `isSure` is false for the tag of a custom image, because it may be the version
 * of the image.
 */
type Said = { readonly who: string; readonly version: VersionNumber; readonly isSure: boolean };

/**
 * Returns what is wrong with the versions, or `undefined`. Jobs and cluster must have the same version, because Ray
 * rejects clients of another version.
 */
function problemOf(said: readonly Said[]): string | undefined {
  const old = said.find(({ version }) => !isAtLeast(version, oldest));
  if (old) return `${old.who} has Ray ${showVersion(old.version)}; ${showMinor(oldest)} or later is required.`;
  const [first, ...rest] = said;
  const other = first && rest.find(({ version }) => compareVersions(version, first.version) !== 0);
  return first && other
    ? `${first.who} has Ray ${showVersion(first.version)}, but ${other.who} ${showVersion(other.version)}; they must be equal.`
    : undefined;
}

const advice = (text: string) => ({ kind: 'advice', text }) as const;

const client: Check = {
  id: 'ray-version-client',
  category: 'versions',
  title: `Jobs use Ray ${showMinor(oldest)} or later`,
  severity: 'error',
  needs: [],
  skip: ({ profile }) => (profile.rayVersion === undefined ? 'The profile sets no Ray version.' : undefined),
  run: async ({ profile }) => {
    const text = profile.rayVersion ?? '';
    const evidence = { asked: 'rayVersion of the profile', saw: text };
    const version = versionIn(text);
    if (!version)
      return fail(`rayVersion of the profile is "${text}", which is not a version number.`, { evidence: [evidence] });
    const problem = problemOf([{ who: 'The profile', version, isSure: true }]);
    if (problem === undefined) return pass(`Jobs use Ray ${showVersion(version)}.`, evidence);
    const fix = advice(`Set rayVersion of the profile to the version of the images, ${showMinor(oldest)} or later.`);
    return fail(problem, { evidence: [evidence], fix });
  },
};

/** Collects the Ray versions in the profile, the RayCluster and the image tags. */
async function saidBySpecs(
  kube: KubeReads,
): Promise<{ readonly said: readonly Said[]; readonly evidence: Evidence[] }> {
  const { rayVersion } = kube.profile;
  const said: Said[] = [];
  const evidence: Evidence[] = [];
  const add = (
    who: string,
    text: string,
    { version, isSure = true }: { readonly version: VersionNumber | undefined; readonly isSure?: boolean },
    asked: string,
  ): void => {
    evidence.push({ asked, saw: text });
    if (version) said.push({ who, version, isSure });
  };
  // An invalid or too old version is ignored, because ray-version-client reports it.
  const pinned = versionIn(rayVersion);
  if (rayVersion !== undefined && pinned && isAtLeast(pinned, oldest))
    add('The profile', rayVersion, { version: pinned }, 'rayVersion of the profile');
  const cluster = await rayClusterOf(kube);
  if (cluster?.rayVersion !== undefined)
    add(
      `RayCluster ${cluster.name}`,
      cluster.rayVersion,
      { version: versionIn(cluster.rayVersion) },
      'spec.rayVersion',
    );
  for (const { title, image } of await groupsOf(kube)) {
    const found = image === undefined ? undefined : rayVersionOf(image);
    const about = { version: found?.version, isSure: found?.isRay === true };
    if (image !== undefined) add(`the image of ${title}`, image, about, `image of ${title}`);
  }
  return { said, evidence };
}

const image: Check = {
  id: 'ray-version-image',
  category: 'versions',
  title: 'Images have the Ray version of jobs',
  severity: 'error',
  needs: ['k8s-whoami'],
  run: async ({ kube }) => {
    const { said, evidence } = await saidBySpecs(kube);
    const isKnown = said.some(({ who }) => who.startsWith('the image'));
    const problem = problemOf(said);
    const sure = problemOf(said.filter(({ isSure }) => isSure));
    if (problem !== undefined && sure === undefined) {
      const fix = advice('Check the Ray version in that image: ray --version.');
      return warn(`${capital(problem)} Ignore this if the tag is the image's own version.`, { evidence, fix });
    }
    if (sure !== undefined) {
      const fix = advice('Use images with the same Ray version for head, workers and jobs.');
      return fail(capital(sure), { evidence, fix });
    }
    if (!isKnown) return unknown('No image has its Ray version in its tag.', ...evidence);
    return pass(`The images have Ray ${showVersion(said[0]?.version ?? oldest)}.`, ...evidence);
  },
};

/** Milliseconds for the head to respond. */
const headLimit = 4000;

const head: Check = {
  id: 'ray-version-head',
  category: 'versions',
  title: 'Running head has the same Ray version',
  severity: 'error',
  needs: ['crd-rayclusters'],
  skip: ({ profile }) => (profile.rayCluster === undefined ? 'The profile has no rayCluster.' : undefined),
  run: async ({ kube, profile }, signal) => {
    const cluster = await rayClusterOf(kube);
    if (!cluster) {
      const path = rayClusterPath(kube, profile.rayCluster ?? '');
      return skip(`There is no RayCluster ${profile.namespace}/${profile.rayCluster}.`, evidenceFor(path, 'not found'));
    }
    const service = encodeURIComponent(`${cluster.headService}:dashboard`);
    const path = `/api/v1/namespaces/${encodeURIComponent(profile.namespace)}/services/${service}/proxy/api/version`;
    let body: unknown;
    try {
      // The request has a time limit, because it goes through the API server to a pod that may hang.
      ({ body } = await kube.request(
        { method: 'GET', path },
        AbortSignal.any([signal, AbortSignal.timeout(headLimit)]),
      ));
    } catch (error) {
      if (!isClusterError(error) || signal.aborted) throw error;
      // The result is unknown: the head may be starting or require a token, or the user may not use the proxy. None of
      // these problems shows a wrong version.
      return unknown(`The head of ${cluster.name} can't be checked: ${error.what}`, evidenceFor(path, error.what));
    }
    const text = stringAt(body, 'ray_version');
    const version = versionIn(text);
    if (text === undefined || !version)
      return unknown(
        `The head of ${cluster.name} does not report its Ray version.`,
        evidenceFor(path, 'no ray_version'),
      );
    const { said, evidence } = await saidBySpecs(kube);
    const wanted = said.filter(({ isSure }) => isSure).slice(0, 1);
    const problem = problemOf([{ who: 'The running head', version, isSure: true }, ...wanted]);
    const all = [evidenceFor(path, text), ...evidence];
    if (problem === undefined) return pass(`The head of ${cluster.name} has Ray ${text}.`, ...all);
    return fail(problem, {
      evidence: all,
      fix: advice(`Recreate ${cluster.name} with an image that has the Ray version of jobs.`),
    });
  },
};

const capital = (sentence: string): string => sentence.charAt(0).toUpperCase() + sentence.slice(1);

export const rayVersionChecks: readonly Check[] = [client, image, head];
