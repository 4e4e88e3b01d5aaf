// The types of `cluster` in a notebook. The type checker reads the declarations of this file for every notebook, so the
// file imports little.
import type { CheckCategory, CheckId } from '#cluster/checkIds.ts';

/** `numCpus` → `num_cpus` */
type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** Settings in camelCase, or in snake_case as in the service's documents and in Python: `num_cpus`. */
export type EitherSpelling<Settings> = Settings & {
  [Name in keyof Settings & string as SnakeCase<Name>]?: Settings[Name];
};

/** Resources of a head or a group of workers. */
export type ClusterGroup = EitherSpelling<{
  /** Cores: a number, or a Kubernetes quantity as a string. */
  numCpus?: number | string;
  /** MiB, or a Kubernetes quantity as a string, such as `8Gi`. */
  memory?: number | string;
  numGpus?: number;
  serviceAccount?: string;
  nodeSelector?: Record<string, string>;
  image?: string;
}>;

/** A cluster as described in the setting `lanceCatalog.cluster.profiles`; holds no secret. */
export type ClusterSettings = EitherSpelling<{
  /** How to sign in: with a kubeconfig (`LOCAL`, the default), by an AWS role, or as the pod that runs this code. */
  configMethod?: 'LOCAL' | 'EKS_AUTH' | 'IN_CLUSTER';
  /** LOCAL: path of the kubeconfig. Default: `KUBECONFIG` or `~/.kube/config`. */
  kubeconfig?: string;
  /** LOCAL: name of the context. Default: the current context. */
  context?: string;
  /** EKS_AUTH: name of the EKS cluster. */
  clusterName?: string;
  /** EKS_AUTH: AWS region of the EKS cluster. */
  region?: string;
  /** EKS_AUTH: name or ARN of the client role. */
  roleName?: string;
  namespace?: string;
  serviceAccount?: string;
  /** Domain of the node labels: `<domain>/ray-head`. */
  labelDomain?: string;
  /** An existing RayCluster. */
  rayCluster?: string;
  rayVersion?: string;
  usePortForwarding?: boolean;
  headGroup?: ClusterGroup;
  workerGroups?: (ClusterGroup & EitherSpelling<{ name?: string; minReplicas?: number; maxReplicas?: number }>)[];
  /** Location of the tables: `s3://bucket/path` or `gs://bucket/path`. */
  storage?: string;
  aws?: EitherSpelling<{
    region?: string;
    clusterName?: string;
    clientRole?: string;
    serviceRole?: string;
    account?: string;
    profile?: string;
  }>;
  gcp?: EitherSpelling<{ project?: string; location?: string; clusterName?: string; serviceAccount?: string }>;
  /** Name of a catalog connection, or the catalog itself without its key. */
  catalog?:
    string | ({ implementation: 'dir'; root: string } | { implementation: 'rest'; uri: string; database?: string });
}> & {
  /** `usePortForwarding`, as the service's documents spell it. */
  use_portforwarding?: boolean;
};

export type ClusterCheckOptions = {
  /** Runs only these checks, and the checks that these depend on. */
  only?: readonly CheckId[] | undefined;
  /** Also runs checks that create temporary objects: an object in the bucket, a pod. Both are removed. */
  probe?: boolean | undefined;
  /** Aborting this signal stops the run, like an interrupt of the cell. */
  signal?: AbortSignal | undefined;
};

/** A fix for a failed check. `check` only describes the fix and does not apply it. */
export type ClusterMend = {
  kind: 'command' | 'objects' | 'document' | 'advice';
  /** One or more lines for a shell. */
  command?: string;
  /** A manifest or a policy to review. */
  document?: { title: string; language: 'json' | 'yaml'; text: string };
  advice?: string;
};

/** Result of one check. */
export type ClusterCheckResult = {
  id: CheckId;
  category: CheckCategory;
  /** The condition that holds if the check passes. */
  title: string;
  severity: 'error' | 'warning' | 'info';
  status: 'pass' | 'warn' | 'fail' | 'skipped' | 'blocked';
  /** The finding, in one sentence. */
  sentence: string;
  /** Why the check was skipped: it does not apply, was not requested, or can't be decided (`unknown`). */
  cause?: 'not-applicable' | 'not-asked' | 'unknown';
  /** The requests of the check and their results. */
  evidence: readonly { asked: string; saw: string }[];
  mend?: ClusterMend;
  milliseconds: number;
};

/** Result of a run of checks. As the last expression of a cell it is shown as the report. */
export type ClusterReport = {
  profile: string;
  /** Whether the run was completed and no check failed. */
  ok: boolean;
  /** The report in one sentence. */
  summary: string;
  /** Start of the run, ISO 8601 in UTC. */
  startedAt: string;
  milliseconds: number;
  counts: Record<ClusterCheckResult['status'], number>;
  /** The results in the order of the report. */
  results: readonly ClusterCheckResult[];
  /** Failed checks. */
  failed: readonly ClusterCheckResult[];
  /** Checks with a warning. */
  warnings: readonly ClusterCheckResult[];
  /** The report as `lance-catalog check --json` prints it. */
  toJSON(): unknown;
  /** The report as a Markdown document. */
  toMarkdown(): string;
};

export type Cluster = {
  /**
   * Checks whether a Kubernetes cluster, its cloud and its catalog can run a backfill, and shows a report that updates
   * during the run. Rejects with a ClusterError if the profile is invalid or missing, or if the run is stopped.
   * @param profile the name of a profile, or an inline description; default: the only profile
   */
  check(profile?: string | ClusterSettings, options?: ClusterCheckOptions): Promise<ClusterReport>;
  /**
   * Returns the names of all profiles. The profiles are in LANCE_CATALOG_CLUSTERS or, if it is not set, in
   * `.vscode/settings.json` of this folder or a folder above it.
   */
  profiles(): Promise<readonly string[]>;
};
