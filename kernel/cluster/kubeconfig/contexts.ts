import { fieldAt, listAt, stringAt } from '#shared/fields.ts';
import type { Entry, Kubeconfig } from './kubeconfigFile.ts';
import { loadKubeconfig, type LoadOptions } from './loadKubeconfig.ts';

/** A context as offered to the user; no connection was tried. */
export type KubeContext = {
  readonly name: string;
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string | undefined;
  /** URL of the API server, or empty if the kubeconfig lacks the cluster. */
  readonly server: string;
  readonly isCurrent: boolean;
  /** The kubeconfig file that the caller named, or `undefined` for the default kubeconfig. */
  readonly kubeconfig: string | undefined;
  /** The profile of `~/.aws/config` that the kubeconfig passes to the user's credential plugin. */
  readonly awsProfile: string | undefined;
};

/**
 * Lists the contexts of a kubeconfig, the current one first.
 * @throws ClusterError KubeconfigMissing, KubeconfigUnreadable, KubeconfigInvalid
 */
export async function listContexts(options: LoadOptions = {}): Promise<readonly KubeContext[]> {
  const config = await loadKubeconfig(options);
  const contexts = config.contexts.map((entry) => contextOf(entry, config, options.kubeconfig));
  return contexts.toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent));
}

function contextOf(entry: Entry, config: Kubeconfig, kubeconfig: string | undefined): KubeContext {
  const cluster = stringAt(entry.value, 'cluster') ?? '';
  const user = stringAt(entry.value, 'user') ?? '';
  return {
    name: entry.name,
    cluster,
    user,
    namespace: stringAt(entry.value, 'namespace'),
    server: stringAt(config.clusters.find(({ name }) => name === cluster)?.value, 'server') ?? '',
    isCurrent: entry.name === config.currentContext,
    kubeconfig,
    awsProfile: awsProfileOf(config.users.find(({ name }) => name === user)),
  };
}

/** Reads the profile that `aws eks update-kubeconfig --profile x` writes to the plugin's environment. */
function awsProfileOf(user: Entry | undefined): string | undefined {
  const found = listAt(user?.value, 'exec', 'env').find((one) => fieldAt(one, 'name') === 'AWS_PROFILE');
  return stringAt(found, 'value');
}

/** An initial profile: its name and value in the setting, without defaults. */
export type SuggestedProfile = {
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
};

/** Suggests a profile for a context. Detects the cloud by the names of the context and its cluster. */
export function profileFromContext(context: KubeContext): SuggestedProfile {
  const { name, namespace, kubeconfig, cluster, awsProfile } = context;
  const eks = eksOf(name) ?? eksOf(cluster) ?? eksctlOf(name);
  const gke = gkeOf(name) ?? gkeOf(cluster);
  return {
    name: shortName(name),
    value: {
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      context: name,
      // `default` is left out: it is the namespace of a context without settings, and is not meant for backfills.
      ...(namespace === undefined || namespace === 'default' ? {} : { namespace }),
      ...(eks ? { aws: { ...eks, ...(awsProfile === undefined ? {} : { profile: awsProfile }) } } : {}),
      ...(gke ? { gcp: gke } : {}),
    },
  };
}

type EksPlace = { readonly region: string; readonly clusterName: string; readonly account?: string };

/** Parses a name from `aws eks update-kubeconfig`. */
function eksOf(name: string): EksPlace | undefined {
  const [, region, account, clusterName] = /^arn:aws[\w-]*:eks:([\w-]+):(\d{12}):cluster\/([\w-]+)$/.exec(name) ?? [];
  return region !== undefined && account !== undefined && clusterName !== undefined
    ? { region, clusterName, account }
    : undefined;
}

/** Parses a name from `eksctl`: `alice@ml.us-east-1.eksctl.io`. */
function eksctlOf(name: string): EksPlace | undefined {
  const [, clusterName, region] = /@([\w-]+)\.([\w-]+)\.eksctl\.io$/.exec(name) ?? [];
  return clusterName !== undefined && region !== undefined ? { region, clusterName } : undefined;
}

/** Parses a name from `gcloud container clusters get-credentials`; projects contain no underscore. */
function gkeOf(name: string): Readonly<Record<'project' | 'location' | 'clusterName', string>> | undefined {
  const [, project, location, clusterName] = /^gke_([^_]+)_([^_]+)_([^_]+)$/.exec(name) ?? [];
  return project !== undefined && location !== undefined && clusterName !== undefined
    ? { project, location, clusterName }
    : undefined;
}

/** Returns the cluster's name within a context's name. */
function shortName(name: string): string {
  const { clusterName } = eksOf(name) ?? eksctlOf(name) ?? gkeOf(name) ?? { clusterName: name };
  return clusterName.replaceAll(/[^\w-]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'cluster';
}
