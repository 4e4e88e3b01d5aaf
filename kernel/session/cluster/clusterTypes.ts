// What a notebook sees of `cluster`. The declarations of this file are part of what cells are checked against, so it needs
// little else.
import type { CheckCategory, CheckId } from '#cluster/checkIds.ts';

/** `numCpus` → `num_cpus` */
type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** Settings by our names, or by those of the service's documents and of Python, such as `num_cpus`. */
export type EitherSpelling<Settings> = Settings & {
  [Name in keyof Settings & string as SnakeCase<Name>]?: Settings[Name];
};

/** What a head or a group of workers asks for. */
export type ClusterGroup = EitherSpelling<{
  /** Cores: a number, or text as Kubernetes writes it. */
  numCpus?: number | string;
  /** MiB, or text as Kubernetes writes it, such as `8Gi`. */
  memory?: number | string;
  numGpus?: number;
  serviceAccount?: string;
  nodeSelector?: Record<string, string>;
  image?: string;
}>;

/** A cluster as settings describe it, `lanceCatalog.cluster.profiles`; no secret is part of it. */
export type ClusterSettings = EitherSpelling<{
  /** How to sign in: by a kubeconfig (`LOCAL`, when nothing is said), by a role of AWS, or as the pod that this runs in. */
  configMethod?: 'LOCAL' | 'EKS_AUTH' | 'IN_CLUSTER';
  /** LOCAL: `KUBECONFIG` or `~/.kube/config` when nothing is said. */
  kubeconfig?: string;
  /** LOCAL: the current context when nothing is said. */
  context?: string;
  /** EKS_AUTH: the name of the EKS cluster. */
  clusterName?: string;
  /** EKS_AUTH: the region of the EKS cluster. */
  region?: string;
  /** EKS_AUTH: name or ARN of the client role. */
  roleName?: string;
  namespace?: string;
  serviceAccount?: string;
  /** Before the slash of `<domain>/ray-head`. */
  labelDomain?: string;
  /** A RayCluster that is there already. */
  rayCluster?: string;
  rayVersion?: string;
  usePortForwarding?: boolean;
  headGroup?: ClusterGroup;
  workerGroups?: (ClusterGroup & EitherSpelling<{ name?: string; minReplicas?: number; maxReplicas?: number }>)[];
  /** Where tables are: `s3://bucket/path` or `gs://bucket/path`. */
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
  /** Only these checks, and what they need. */
  only?: readonly CheckId[] | undefined;
  /** Also asks what leaves something behind for a moment: an object in the bucket, a pod; both are removed. */
  probe?: boolean | undefined;
  /** Stops the run, as an interrupt of the cell does. */
  signal?: AbortSignal | undefined;
};

/** What puts a check right; nothing of it is done by `check`. */
export type ClusterMend = {
  kind: 'command' | 'objects' | 'document' | 'advice';
  /** A line, or several, for a shell. */
  command?: string;
  /** A manifest or a policy, as text to review. */
  document?: { title: string; language: 'json' | 'yaml'; text: string };
  advice?: string;
};

/** What became of one check. */
export type ClusterCheckResult = {
  id: CheckId;
  category: CheckCategory;
  /** What is so when it passes. */
  title: string;
  severity: 'error' | 'warning' | 'info';
  status: 'pass' | 'warn' | 'fail' | 'skipped' | 'blocked';
  /** What was found, in a sentence. */
  sentence: string;
  /** Of one that was skipped: it does not apply, was not asked, or nobody can tell (`unknown`). */
  cause?: 'not-applicable' | 'not-asked' | 'unknown';
  /** What was asked, and what came back. */
  evidence: readonly { asked: string; saw: string }[];
  mend?: ClusterMend;
  milliseconds: number;
};

/** What a run of checks found. As the last expression of a cell it is shown as the report. */
export type ClusterReport = {
  profile: string;
  /** Whether nothing failed. */
  ok: boolean;
  /** The report in one sentence. */
  summary: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  milliseconds: number;
  counts: Record<ClusterCheckResult['status'], number>;
  /** All checks, in the order of the report. */
  results: readonly ClusterCheckResult[];
  /** Those that failed. */
  failed: readonly ClusterCheckResult[];
  /** Those that warn. */
  warnings: readonly ClusterCheckResult[];
  /** The report as `lance-catalog check --json` prints it. */
  toJSON(): unknown;
  /** The report as a Markdown document. */
  toMarkdown(): string;
};

export type Cluster = {
  /**
   * Asks a Kubernetes cluster, its cloud and its catalog all that a backfill on it needs, and shows the report while it
   * fills in. Rejects with a ClusterError for a profile that is wrong or not there, and when it was stopped.
   * @param profile the name of one, or a cluster described here; the only profile that there is when nothing is said
   */
  check(profile?: string | ClusterSettings, options?: ClusterCheckOptions): Promise<ClusterReport>;
  /** The names of the profiles that there are: of LANCE_CATALOG_CLUSTERS, else of `.vscode/settings.json` here or above. */
  profiles(): Promise<readonly string[]>;
};
