import { allChecks } from '#cluster/checks/all.ts';
import type { CheckHeader } from './check.ts';

/** Lists every check in the order of a report, without running them. */
export const listChecks = (): readonly CheckHeader[] =>
  allChecks.map(({ id, category, title, severity, needs, writes }) => ({
    id,
    category,
    title,
    severity,
    needs,
    ...(writes === undefined ? {} : { writes }),
  }));

// The exports below need the Kubernetes and cloud libraries. They are a separate bundle, which is loaded by `import()`
// on first use, because it is larger than the rest of the extension. Types and report rendering are imported from their
// own files.
export { verifyCluster, type VerifyOptions } from './verifyCluster.ts';
export { BucketFiles } from '#cluster/aws/bucketFiles.ts';
export { TableRole } from '#cluster/aws/tableRole.ts';

export { connectKube, type ConnectKubeOptions } from '#cluster/kube/connectKube.ts';
export {
  listContexts,
  profileFromContext,
  type KubeContext,
  type SuggestedProfile,
} from '#cluster/kubeconfig/contexts.ts';
export { createRayCluster, type CreateRayClusterOptions } from '#cluster/kuberay/createRayCluster.ts';
export { openDashboard, openDashboardProxy } from '#cluster/kuberay/dashboardProxy.ts';
export { openRayLink } from '#cluster/kuberay/openRayLink.ts';
export { rayClusterSpecOf, warningsOf } from '#cluster/kuberay/rayClusterSpec.ts';
export { readConnectSettings, readRaySettings } from '#cluster/kuberay/raySettings.ts';
export { RayJobs } from '#cluster/ray/rayJobs.ts';
export { applyFix, previewFix, type FixPreview, type ObjectDiff } from '#cluster/fixes/applyFix.ts';
export { findProfiles, type FoundProfiles } from '#cluster/profiles/findProfiles.ts';
export { confirmPrograms, trustPrograms } from '#cluster/profiles/signInPrograms.ts';
export { readProfile } from '#cluster/profiles/profileReader.ts';
export { withoutPlace } from '#cluster/profiles/settingPath.ts';
