import type { KubernetesManifest } from '#cluster/fixes/fix.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { probeScript } from './probeScript.ts';

/** Small, and has a shell and curl; a version, so that what runs does not change by itself. */
export const probeImage = 'curlimages/curl:8.11.1';

/** What tells pods of probes from all others. */
export const probeLabels: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': 'identity-probe',
  'app.kubernetes.io/managed-by': 'lance-catalog',
};

/** Seconds after which the cluster itself ends it. */
const deadline = 60;

type ProbePlace = {
  readonly name: string;
  readonly bucket: string;
  /** The object's whole name in the bucket. */
  readonly object: string;
};

/**
 * The pod of a probe: under the runner's service account, on a node where a head would run, with as few rights as the strictest
 * namespaces ask for. Without a token of Kubernetes, which it has no use for: GKE knows a pod by its address.
 */
export const probePod = (profile: ClusterProfile, { name, bucket, object }: ProbePlace): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: profile.namespace,
    labels: probeLabels,
  },
  spec: {
    serviceAccountName: profile.serviceAccount,
    automountServiceAccountToken: false,
    restartPolicy: 'Never',
    activeDeadlineSeconds: deadline,
    terminationGracePeriodSeconds: 5,
    nodeSelector: profile.headGroup.nodeSelector,
    // Nodes for Ray are often kept for it by a taint; a probe of some seconds may stand beside it.
    tolerations: [{ operator: 'Exists' }],
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65534,
      runAsGroup: 65534,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'probe',
        image: probeImage,
        command: ['/bin/sh', '-c', probeScript],
        env: [
          { name: 'METADATA', value: 'http://metadata.google.internal' },
          { name: 'STORAGE', value: 'https://storage.googleapis.com' },
          { name: 'BUCKET', value: encodeURIComponent(bucket) },
          { name: 'OBJECT', value: encodeURIComponent(object) },
        ],
        resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '100m', memory: '64Mi' } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      },
    ],
  },
});
