import type { Check } from '#cluster/check.ts';
import { isClusterError } from '#cluster/errors.ts';
import { fail, pass, skip, warn } from '#cluster/checkResults.ts';
import { kubectl, manifestFix } from '#cluster/fixes/commands.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import { grantClusterViewer, listClusters, turnOnMetadata, turnOnWorkloadIdentity } from '#cluster/gcp/gcloud.ts';
import { accountAnnotation, bucketPermissions, type GcpReads } from '#cluster/gcp/gcpReads.ts';
import { gkePlace, type GkeTarget, notOnGoogleCloud, workloadPoolOf } from '#cluster/gcp/gkeTarget.ts';
import { loginCommand } from '#cluster/gcp/googleErrors.ts';
import type { GkeCluster, NodePool } from '#cluster/gcp/replies.ts';
import { serviceAccountPath } from '#cluster/kube/serviceAccounts.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { Evidence, Finding } from '#cluster/result.ts';
import { gcpChainChecks } from './chainChecks.ts';
import { gcpGrantChecks } from './grantChecks.ts';
import { gcpProbeChecks } from './probeChecks.ts';

const nameOf = ({ clusterName, location, project }: GkeTarget): string =>
  `the cluster ${clusterName} in ${location} of the project ${project}`;

const credentials: Check = {
  id: 'gcp-adc',
  category: 'gcp',
  title: 'You are signed in to Google Cloud',
  severity: 'error',
  needs: [],
  // The limit is long, because outside of Google Cloud it takes seconds to find that there is no metadata server.
  limit: 20_000,
  skip: notOnGoogleCloud,
  run: async ({ gcp }, signal) => {
    const found = await gcp.credentials().catch(askToSignIn);
    if ('status' in found) return found;
    const refused = await found.token(signal).then(() => undefined, askToSignIn);
    if (refused) return refused;
    const who = (await gcp.caller())?.replace(/^\w+:/, '') ?? 'an account without a name';
    const evidence = { asked: `token by ${found.source}`, saw: `a token for ${who}` };
    return pass(`You are signed in to Google Cloud as ${who}.`, evidence);
  },
};

/** Converts an error that a new login fixes to a finding with the login command. Throws any other error. */
function askToSignIn(error: unknown): Finding {
  if (!isClusterError(error) || !error.hint.includes(loginCommand)) throw error;
  return fail(error.what, { fix: { kind: 'command', command: loginCommand } });
}

const clientRole: Check = {
  id: 'gcp-client-role',
  category: 'gcp',
  title: 'You may view the GKE cluster',
  severity: 'error',
  needs: ['gcp-adc'],
  skip: notOnGoogleCloud,
  run: async ({ gcp, profile }) => {
    const gke = gkePlace(profile);
    try {
      const { asked, value } = await gcp.cluster();
      const evidence = { asked, saw: `status ${value.status}` };
      if (value.status === 'RUNNING' || value.status === 'RECONCILING')
        return pass(`You may view ${nameOf(gke)}.`, evidence);
      return warn(`You may view ${nameOf(gke)}, whose status is ${value.status}.`, { evidence: [evidence] });
    } catch (error) {
      if (!isClusterError(error)) throw error;
      const evidence = [{ asked: `container.clusters.get of ${gke.clusterName}`, saw: error.what }];
      if (error.kind === 'NotFound')
        return fail(`There is no cluster ${gke.clusterName} in ${gke.location} of the project ${gke.project}.`, {
          evidence,
          fix: listClusters(gke),
        });
      // For Forbidden, the run would skip the check, but here the missing grant is the finding.
      if (error.kind !== 'Forbidden') throw error;
      const fix = grantClusterViewer(gke, await gcp.caller());
      return fail(`You may not view ${nameOf(gke)}: container.clusters.get is missing.`, { evidence, fix });
    }
  },
};

const cluster: Check = {
  id: 'gcp-wi-cluster',
  category: 'gcp',
  title: 'Cluster has workload identity',
  severity: 'error',
  needs: ['gcp-client-role'],
  skip: notOnGoogleCloud,
  run: async ({ gcp, profile }) => {
    const gke = gkePlace(profile);
    const { asked, value } = await gcp.cluster();
    const evidence = { asked, saw: `workloadIdentityConfig.workloadPool: ${value.workloadPool ?? 'none'}` };
    const wanted = workloadPoolOf(gke);
    if (value.workloadPool === wanted) return pass(`The cluster is in the workload pool ${wanted}.`, evidence);
    const what =
      value.workloadPool === undefined
        ? `Workload identity is off for ${nameOf(gke)}, so its pods have no separate identity.`
        : `The cluster ${gke.clusterName} is in the workload pool ${value.workloadPool}, not in ${wanted}.`;
    return fail(what, { evidence: [evidence], fix: turnOnWorkloadIdentity(gke) });
  },
};

const nodePools: Check = {
  id: 'gcp-wi-nodepool',
  category: 'gcp',
  title: 'Node pools have workload identity',
  severity: 'error',
  needs: ['gcp-wi-cluster'],
  skip: notOnGoogleCloud,
  run: async ({ gcp, profile }) => {
    const gke = gkePlace(profile);
    const { asked, value } = await gcp.cluster();
    if (value.isAutopilot)
      return pass('The cluster is on Autopilot, where node pools always have workload identity.', {
        asked,
        saw: 'autopilot',
      });
    const { pools, which, isLabelled } = poolsFor(value, profile);
    const evidence = pools.map((pool) => ({ asked, saw: `node pool ${pool.name}: ${pool.metadataMode ?? 'no mode'}` }));
    const wrong = pools.filter((pool) => pool.metadataMode !== 'GKE_METADATA').map((pool) => pool.name);
    if (wrong.length === 0)
      return pass(`${which} ${pools.length === 1 ? 'runs' : 'run'} GKE's metadata server.`, ...evidence);
    const names = wrong.join(', ');
    const what = `Pods on the node ${wrong.length === 1 ? 'pool' : 'pools'} ${names} get the identity of the node, not their own.`;
    // If no pool has a Ray label, the wrong pools may be pools that are not for Ray.
    const mayBeOthers = !isLabelled && wrong.length < pools.length;
    return (mayBeOthers ? warn : fail)(what, { evidence, fix: turnOnMetadata(gke, wrong) });
  },
};

/** Returns the pools with a Ray label, or all pools if none has one. */
function poolsFor(
  { nodePools: all }: GkeCluster,
  { labelDomain }: ClusterProfile,
): { pools: readonly NodePool[]; which: string; isLabelled: boolean } {
  const labelled = all.filter((pool) => Object.keys(pool.labels).some((key) => key.startsWith(`${labelDomain}/ray-`)));
  const pools = labelled.length > 0 ? labelled : all;
  const names = pools.map((pool) => pool.name).join(', ');
  const isLabelled = labelled.length > 0;
  if (isLabelled) return { pools, which: `The node ${pools.length === 1 ? 'pool' : 'pools'} ${names}`, isLabelled };
  return { pools, isLabelled, which: `All node pools (${names || 'none yet'}; none has a label of ${labelDomain})` };
}

const annotation: Check = {
  id: 'gcp-sa-annotation',
  category: 'gcp',
  title: 'Service account names a Google account',
  severity: 'error',
  needs: ['sa-exists'],
  skip: notOnGoogleCloud,
  run: async ({ gcp, profile }) => {
    const found = await gcp.annotatedAccount();
    const wanted = profile.gcp?.serviceAccount;
    const { namespace, serviceAccount: name } = profile;
    const evidence: Evidence = {
      asked: `GET ${serviceAccountPath(namespace, name)}`,
      saw: `${accountAnnotation}: ${found ?? 'none'}`,
    };
    if (found !== undefined && (wanted === undefined || found === wanted))
      return pass(`Pods of ${namespace}/${name} act as ${found}.`, evidence);
    const direct = found === undefined && wanted === undefined ? await ownRightsOf(gcp) : undefined;
    if (direct)
      return skip(
        `The service account ${namespace}/${name} names no Google service account, and needs none: its pods have all permissions that a backfill needs on the bucket.`,
        evidence,
        direct,
      );
    const what =
      found === undefined
        ? `The service account ${namespace}/${name} has no annotation ${accountAnnotation}, so its pods don't act as a Google service account.`
        : `The service account ${namespace}/${name} is annotated with ${found}, not with ${wanted}.`;
    return fail(what, { evidence: [evidence], fix: annotate(profile, wanted) });
  },
};

/**
 * Returns evidence that IAM grants the pods access to the bucket directly. GKE supports this too, without a Google
 * account. Returns `undefined` without such a grant.
 */
async function ownRightsOf(gcp: GcpReads): Promise<Evidence | undefined> {
  try {
    const { asked, value } = await gcp.permissionsOfPods();
    return bucketPermissions.every((one) => value.includes(one)) ? { asked, saw: value.join(', ') } : undefined;
  } catch {
    return undefined;
  }
}

function annotate(profile: ClusterProfile, email: string | undefined): Fix {
  const { namespace, serviceAccount: name } = profile;
  if (email === undefined)
    return {
      kind: 'advice',
      text: 'Set gcp.serviceAccount of the profile to the Google service account that it should act as.',
    };
  const words = ['annotate', 'serviceaccount', name, '--namespace', namespace, '--overwrite'];
  const metadata = { name, namespace, annotations: { [accountAnnotation]: email } };
  return manifestFix(
    profile,
    [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata }],
    kubectl(profile, words, `${accountAnnotation}=${email}`),
  );
}

export const gcpChecks: readonly Check[] = [
  credentials,
  clientRole,
  cluster,
  nodePools,
  annotation,
  ...gcpGrantChecks,
  ...gcpChainChecks,
  ...gcpProbeChecks,
];
