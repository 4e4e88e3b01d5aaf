import type { KubernetesManifest } from '#cluster/fixes/fix.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { probeScript } from './probeScript.ts';

/** A small image with a shell and curl; its version is fixed, so that the probe does not change by itself. */
export const probeImage = 'curlimages/curl:8.11.1';

export const probeLabels: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': 'identity-probe',
  'app.kubernetes.io/managed-by': 'lance-catalog',
};

/** Seconds after which the cluster itself ends the pod. */
const deadline = 60;

type ProbePlace = {
  readonly name: string;
  readonly bucket: string;
  /** The full name of the object in the bucket. */
  readonly object: string;
};

/**
 * Builds a probe pod. It runs under the runner's service account, on a node where a head would run. It has the least
 * rights, so that even the strictest namespaces accept it. It needs no Kubernetes token, because GKE identifies a pod
 * by its IP address.
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
    // The pod tolerates every taint. Nodes for Ray are often reserved by a taint, and a probe of a few seconds does not
    // disturb them.
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
