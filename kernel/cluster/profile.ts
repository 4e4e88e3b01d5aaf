import type { CatalogConfig } from '#shared/catalogConfig.ts';

/**
 * A profile and its settings file, if the file was found by searching upwards. The user has neither named the file nor
 * set the profile in an editor.
 */
export type ProfileOrigin = { readonly settingsFile: string; readonly profile: string };

/** How to sign in. Programs of a profile with `foundIn` run only after the user has accepted them. */
export type ClusterAuth = AuthMethod & { readonly foundIn?: ProfileOrigin | undefined };

type AuthMethod =
  /** A kubeconfig. Default: the file of KUBECONFIG or ~/.kube/config, and its current context. */
  | { readonly configMethod: 'LOCAL'; readonly kubeconfig?: string | undefined; readonly context?: string | undefined }
  /** Assume an AWS role, look the cluster up in EKS, and sign a token for it; needs no external program. */
  | {
      readonly configMethod: 'EKS_AUTH';
      readonly clusterName: string;
      readonly region: string;
      /** Name or ARN of the client role. */
      readonly roleName: string;
      /** A profile of `~/.aws/config`, for editors that lack the terminal's AWS_PROFILE. */
      readonly profile?: string | undefined;
    }
  /** The service account of the pod that this process runs in. */
  | { readonly configMethod: 'IN_CLUSTER' };

/** Resources and placement of the head or a group of workers. */
export type RayGroup = {
  /** For groups of workers only. */
  readonly name?: string | undefined;
  /** Cores, as a number or a Kubernetes quantity. */
  readonly numCpus: number | string;
  /** A number of MiB, or a Kubernetes quantity. */
  readonly memory: number | string;
  readonly numGpus: number;
  /** Service account of the group's pods. Default: the service account of the profile. */
  readonly serviceAccount: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly image: string | undefined;
};

/** The bucket for tables and probes. */
export type BucketLocation = {
  readonly scheme: 's3' | 'gs';
  readonly bucket: string;
  /** Without leading and trailing slashes; empty for the whole bucket. */
  readonly prefix: string;
};

/**
 * The description of a cluster that the user writes once, in the setting `lanceCatalog.cluster.profiles`. It has no
 * secrets: credentials come from the kubeconfig, from the cloud's own tools, or from the pod that this process runs in.
 */
export type ClusterProfile = {
  readonly name: string;
  readonly auth: ClusterAuth;
  readonly namespace: string;
  readonly serviceAccount: string;
  /** The part before the slash of `<domain>/ray-head`. */
  readonly labelDomain: string;
  /** An existing RayCluster; if set, the checks read its pods and specs. */
  readonly rayCluster: string | undefined;
  /** The Ray version that jobs are sent with, if pinned. */
  readonly rayVersion: string | undefined;
  readonly usePortForwarding: boolean;
  readonly headGroup: RayGroup;
  readonly workerGroups: readonly RayGroup[];
  readonly storage: BucketLocation | undefined;
  /** The AWS settings. With EKS_AUTH, region, cluster name and client role come from `auth` instead. */
  readonly aws:
    | {
        readonly region: string;
        readonly clusterName: string | undefined;
        /** Name or ARN of the client role. */
        readonly clientRole: string | undefined;
        /** ARN of the role that the service account assumes. Default: the role in its annotation. */
        readonly serviceRole: string | undefined;
        /** The account that `GetCallerIdentity` must return. */
        readonly account: string | undefined;
        /** The same as `profile` in `auth`. */
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
  /** Name of a catalog connection of the editor, or a catalog configuration, never with a secret. */
  readonly catalog: string | CatalogConfig | undefined;
};
