import type { CatalogConfig } from '#shared/catalogConfig.ts';

/** How to become somebody in front of a cluster. */
export type ClusterAuth =
  /** A kubeconfig: that of KUBECONFIG or ~/.kube/config where no file is named, its current context where none is. */
  | { readonly configMethod: 'LOCAL'; readonly kubeconfig?: string | undefined; readonly context?: string | undefined }
  /** Assume a role in AWS, have EKS describe the cluster, and sign a token for it; needs no program. */
  | {
      readonly configMethod: 'EKS_AUTH';
      readonly clusterName: string;
      readonly region: string;
      /** Name or ARN of the client role. */
      readonly roleName: string;
      /** A profile of `~/.aws/config`, for editors that lack the terminal's AWS_PROFILE. */
      readonly profile?: string | undefined;
    }
  /** The service account of the pod that this runs in. */
  | { readonly configMethod: 'IN_CLUSTER' };

/** What a head or a group of workers asks for. */
export type RayGroup = {
  /** Of a group of workers. */
  readonly name?: string | undefined;
  /** Cores, as Kubernetes writes them or as a number. */
  readonly numCpus: number | string;
  /** MiB as a number, else as Kubernetes writes it. */
  readonly memory: number | string;
  readonly numGpus: number;
  /** Service account of its pods; that of the profile where none is named. */
  readonly serviceAccount: string;
  /** Labels of the nodes that it runs on. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly image: string | undefined;
};

/** The bucket that tables and probes go to. */
export type BucketPlace = {
  readonly scheme: 's3' | 'gs';
  readonly bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  readonly prefix: string;
};

/**
 * A cluster as a person sets it up once, without a secret in it: `lanceCatalog.cluster.profiles` in settings. Credentials
 * come from where the cloud's own tools have them.
 */
export type ClusterProfile = {
  readonly name: string;
  readonly auth: ClusterAuth;
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Before the slash of `<domain>/ray-head`. */
  readonly labelDomain: string;
  /** A RayCluster that is there already; its pods and specs are looked at then. */
  readonly rayCluster: string | undefined;
  /** The Ray version that jobs are sent with, where one is pinned. */
  readonly rayVersion: string | undefined;
  readonly usePortForwarding: boolean;
  readonly headGroup: RayGroup;
  readonly workerGroups: readonly RayGroup[];
  readonly storage: BucketPlace | undefined;
  /** On AWS, outside EKS_AUTH: what is needed to look the cluster up there. */
  readonly aws:
    | {
        readonly region: string;
        readonly clusterName: string | undefined;
        /** Name or ARN of the client role. */
        readonly clientRole: string | undefined;
        /** ARN of the role that the service account assumes; read from its annotation where it is not said. */
        readonly serviceRole: string | undefined;
        /** What to expect of `GetCallerIdentity`. */
        readonly account: string | undefined;
        /** A profile of `~/.aws/config`, for editors that lack the terminal's AWS_PROFILE. */
        readonly profile?: string | undefined;
      }
    | undefined;
  readonly gcp:
    | {
        readonly project: string;
        /** Region or zone. */
        readonly location: string;
        readonly clusterName: string;
        /** Email of the Google service account that pods act as. */
        readonly serviceAccount: string | undefined;
      }
    | undefined;
  /** Name of a catalog connection of the editor, or the catalog itself; a secret is never part of it. */
  readonly catalog: string | CatalogConfig | undefined;
};
