import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { ResolveCatalog } from '#cluster/resolvedCatalog.ts';
import type { CheckReport } from '#cluster/result.ts';
import { verifyCluster } from '#cluster/verifyCluster.ts';
import { pluralize } from '#shared/format/markup.ts';
import { launchCheckIds } from './launchChecks.ts';
import { OpenRayCluster } from './openRayCluster.ts';
import { openConnection, type OpenedConnection, openTarget } from './openRayLink.ts';
import { type OnExit, type RayClusterSpec, warningsOf } from './rayClusterSpec.ts';
import { deleteRayCluster, createOrAdoptRayCluster } from './rayClusters.ts';
import { type RayProgress, waitForPods, waitForRay, waitLimits, type WaitLimits } from './waitForRay.ts';

export type CreateRayClusterOptions = {
  /** Cancels the wait; `onExit` determines what happens to the created cluster. */
  readonly signal: AbortSignal;
  /** What to do with the cluster at the end. Default: `delete`. An existing cluster always stays. */
  readonly onExit?: OnExit | undefined;
  readonly onProgress?: ((progress: RayProgress) => void) | undefined;
  /** Receives messages about risks of the settings, and about problems on the way. */
  readonly onWarning?: ((sentence: string) => void) | undefined;
  /** Decides whether to continue after a failed check. Default: stop. */
  readonly confirm?: ((report: CheckReport) => Promise<boolean>) | undefined;
  /** Whether to check the cluster first. Default: true. */
  readonly verify?: boolean | undefined;
  readonly limits?: Partial<WaitLimits> | undefined;
  /** Finds the profile's catalog, for checks. */
  readonly resolveCatalog?: ResolveCatalog | undefined;
};

/**
 * Creates a RayCluster, waits until it is ready, and connects to Ray on it. Adopts an existing RayCluster with the same
 * name and settings.
 * @throws ClusterError NotReady if a check fails and `confirm` does not continue; Conflict if the existing one has
 * other settings; Timeout with the reported reason
 */
export async function createRayCluster(
  profile: ClusterProfile,
  spec: RayClusterSpec,
  options: CreateRayClusterOptions,
): Promise<OpenRayCluster> {
  const { signal, onExit = 'delete', onWarning } = options;
  for (const warning of warningsOf(spec)) onWarning?.(warning);
  if (options.verify ?? true) await verifyFirst(profile, spec, options);
  signal.throwIfAborted();
  const opened = await openConnection(profile, signal);
  let adopted = true;
  try {
    tell(options, 'create', `Creating RayCluster "${spec.namespace}/${spec.name}".`);
    ({ adopted } = await createOrAdoptRayCluster(opened.connection, spec, signal));
    if (adopted)
      tell(
        options,
        'create',
        `RayCluster "${spec.namespace}/${spec.name}" already exists with the requested settings.`,
      );
    return await comeUp(opened, { profile, spec, adopted, options });
  } catch (error) {
    try {
      // A cluster that did not start counts as failed, so `retain-on-failure` keeps it.
      if (!adopted && onExit === 'delete') await deleteRayCluster(opened.connection, spec, AbortSignal.timeout(20_000));
    } catch {
      onWarning?.(`RayCluster "${spec.namespace}/${spec.name}" may still exist. Delete it.`);
    }
    await opened.close();
    throw error;
  }
}

type Made = {
  readonly profile: ClusterProfile;
  readonly spec: RayClusterSpec;
  readonly adopted: boolean;
  readonly options: CreateRayClusterOptions;
};

async function comeUp(opened: OpenedConnection, { profile, spec, adopted, options }: Made): Promise<OpenRayCluster> {
  const { signal, onExit = 'delete', onProgress, onWarning } = options;
  const limits = { ...waitLimits, ...options.limits };
  const title = `${spec.namespace}/${spec.name}`;
  await waitForPods(opened.connection, spec, {
    signal,
    limit: limits.pods,
    onProgress: (progress) => onProgress?.(progress),
  });
  tell(options, 'dashboard', `Waiting for Ray on ${title} to respond.`);
  let problem: ClusterError | undefined;
  const target = await openTarget(opened, profile, spec, {
    signal,
    onProblem: (found) => {
      problem = found;
    },
  });
  const rayVersion = await waitForRay(target, { signal, limit: limits.dashboard, title, problem: () => problem });
  tell(options, 'ready', `${title} is ready: Ray ${rayVersion}.`);
  if (rayVersion !== spec.rayVersion)
    onWarning?.(`The image of ${title} has Ray ${rayVersion}, not the requested version ${spec.rayVersion}.`);
  return new OpenRayCluster({ opened, target, profile, name: spec.name, rayVersion, adopted, onExit });
}

const tell = ({ onProgress }: CreateRayClusterOptions, phase: RayProgress['phase'], sentence: string): void =>
  onProgress?.({ phase, sentence, pods: [] });

async function verifyFirst(
  profile: ClusterProfile,
  spec: RayClusterSpec,
  options: CreateRayClusterOptions,
): Promise<void> {
  const { signal, confirm, resolveCatalog } = options;
  tell(options, 'verify', `Checking whether the cluster can run ${spec.namespace}/${spec.name}.`);
  // The profile gets the name of the new RayCluster. If the RayCluster that the profile names exists, the checks would
  // otherwise read its groups instead of the groups of the profile.
  const report = await verifyCluster(
    { ...profile, rayCluster: spec.name },
    { signal, only: launchCheckIds, resolveCatalog },
  );
  signal.throwIfAborted();
  const failed = report.results.filter(({ status }) => status === 'fail');
  const [first] = failed;
  if (first === undefined || (await confirm?.(report)) === true) return;
  const more = failed.length > 1 ? ` ${pluralize(failed.length - 1, 'more check')} failed.` : '';
  throw new ClusterError(
    'NotReady',
    // The title of the check is not used, because it describes success.
    `Can't create RayCluster "${spec.namespace}/${spec.name}": check "${first.id}" failed: ${first.sentence}${more}`,
    'Verify the cluster to see the fix.',
  );
}
