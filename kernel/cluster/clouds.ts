// What needs the libraries of Kubernetes and the clouds: a bundle of its own, loaded by `import()` when somebody asks for it,
// since it is larger than the rest of the extension. Types and drawing are imported from their own files.
export { verifyCluster, type VerifyOptions } from './verifyCluster.ts';
export { BucketFiles } from './aws/bucketFiles.ts';
export { listChecks } from './listChecks.ts';
export { connectKube, type ConnectKubeOptions } from './kube/connectKube.ts';
export { listContexts, profileFromContext, type KubeContext, type SuggestedProfile } from './kubeconfig/contexts.ts';
export { createRayCluster, type CreateRayClusterOptions } from './kuberay/createRayCluster.ts';
export { openDashboard } from './kuberay/openDashboard.ts';
export { openRayLink } from './kuberay/openRayLink.ts';
export { rayClusterSpecOf, warningsOf } from './kuberay/rayClusterSpec.ts';
export { readConnectSettings, readRaySettings } from './kuberay/raySettings.ts';
export { openDoor } from './kuberay/dashboardDoor.ts';
export { RayJobs } from './ray/rayJobs.ts';
export { applyMend, previewMend, type MendPreview, type ObjectPreview } from './mends/applyMend.ts';
export { findProfiles, type FoundProfiles } from './profiles/findProfiles.ts';
export { readProfile } from './profiles/profileReader.ts';
export { withoutPlace } from './profiles/settingPath.ts';
