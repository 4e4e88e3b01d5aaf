import { ClusterError } from '#cluster/errors.ts';
import { parseQuantity, resourcesOfGroup, showCpu, showMemory } from '#cluster/kube/quantities.ts';
import { rayVersionOf, showVersion } from '#cluster/kube/versionNumbers.ts';
import type { ClusterProfile, RayGroup } from '#cluster/profile.ts';

/** What to do with a RayCluster when its creator has finished. */
export const onExits = ['delete', 'retain', 'retain-on-failure'] as const;
export type OnExit = (typeof onExits)[number];

/** A requested RayCluster with all defaults applied. */
export type RayClusterSpec = {
  readonly name: string;
  readonly namespace: string;
  /**
   * The part before the slash in the node label `<domain>/ray-head`. Taints that reserve nodes for Ray have the same
   * domain.
   */
  readonly labelDomain: string;
  readonly rayVersion: string;
  readonly head: RayGroup;
  readonly workers: readonly RayGroup[];
  /** Seconds of idleness until a worker above the minimum is removed. */
  readonly idleTimeoutSeconds: number;
};

type RayClusterOptions = {
  /** Default: the name in the profile. */
  readonly name?: string | undefined;
  /** Image of groups that name none. Default: Ray's own image. */
  readonly image?: string | undefined;
  readonly idleTimeoutSeconds?: number | undefined;
};

/** The newest Ray that jobs are tested with. */
const defaultRayVersion = '2.60.0';

/** Bytes. Heads with less run out of memory with only a few workers. */
const leastHeadMemory = 4 * 2 ** 30;
/** Bytes. Workers with less cannot load a model onto their GPU. */
const leastGpuMemory = 4 * 2 ** 30;

/**
 * Returns the RayCluster that a profile describes.
 * @throws ClusterError ProfileInvalid if it has no valid name, or a group requests an invalid quantity
 */
export function rayClusterSpecOf(profile: ClusterProfile, options: RayClusterOptions = {}): RayClusterSpec {
  const name = options.name ?? profile.rayCluster;
  if (name === undefined)
    throw new ClusterError(
      'ProfileInvalid',
      `The profile "${profile.name}" does not name a RayCluster.`,
      'Add a name, such as "rayCluster": "backfills".',
    );
  checkName(name);
  const images = [options.image, profile.headGroup.image, ...profile.workerGroups.map(({ image }) => image)];
  const rayVersion = profile.rayVersion ?? versionOfImages(images) ?? defaultRayVersion;
  const fallback = options.image ?? `rayproject/ray:${rayVersion}`;
  const withImage = (group: RayGroup): RayGroup => ({ ...group, image: group.image ?? fallback });
  const spec: RayClusterSpec = {
    name,
    namespace: profile.namespace,
    labelDomain: profile.labelDomain,
    rayVersion,
    head: withImage(profile.headGroup),
    workers: profile.workerGroups.map(withImage),
    idleTimeoutSeconds: options.idleTimeoutSeconds ?? 60,
  };
  for (const group of [spec.head, ...spec.workers]) checkAmounts(group);
  return spec;
}

/** Returns warnings about the spec; usually none. */
export function warningsOf({ head, workers }: RayClusterSpec): readonly string[] {
  const { memory } = resourcesOfGroup(head);
  const warnings: string[] = [];
  if (memory < leastHeadMemory)
    warnings.push(
      `The head requests ${showMemory(memory)}: heads with less than ${showMemory(leastHeadMemory)} run out of memory, and all jobs are lost with the head.`,
    );
  for (const worker of workers) {
    const asked = resourcesOfGroup(worker);
    if (asked.gpu > 0 && asked.memory < leastGpuMemory)
      warnings.push(
        `The workers "${worker.name}" request a GPU and ${showMemory(asked.memory)}: most models need more than ${showMemory(leastGpuMemory)} while they are loaded to the GPU.`,
      );
    if (asked.cpu < 1)
      warnings.push(
        `The workers "${worker.name}" request ${showCpu(asked.cpu)}: Ray counts whole processors and assigns no work to them.`,
      );
  }
  return warnings;
}

/** Maximum length of a name. KubeRay makes the names of pods and services from it, and refuses longer names. */
const longestName = 50;

function checkName(name: string): void {
  if (/^[a-z](?:[-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= longestName) return;
  throw new ClusterError(
    'ProfileInvalid',
    `"${name}" is not a valid name for a RayCluster.`,
    `Use lowercase letters, digits and "-", start with a letter, and use at most ${longestName} characters.`,
  );
}

function checkAmounts({ name, numCpus, memory }: RayGroup): void {
  const group = name === undefined ? 'the head' : `the group "${name}"`;
  for (const [what, amount, takes] of [
    ['processors', numCpus, 'a positive number or a string such as "500m"'],
    ['memory', memory, 'a positive number of MiB or a string such as "8Gi"'],
  ] as const) {
    if ((parseQuantity(amount) ?? 0) > 0) continue;
    throw new ClusterError('ProfileInvalid', `Expected ${takes} for the ${what} of ${group}, got "${amount}".`, '');
  }
}

function versionOfImages(images: readonly (string | undefined)[]): string | undefined {
  for (const image of images) {
    const found = image === undefined ? undefined : rayVersionOf(image);
    if (found?.isRay === true) return showVersion(found.version);
  }
  return undefined;
}
