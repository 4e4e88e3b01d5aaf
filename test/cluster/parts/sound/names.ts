/** Names in the sound cluster. */
export const names = {
  namespace: 'geneva',
  serviceAccount: 'geneva-sa',
  role: 'geneva-role',
  binding: 'geneva-binding',
  /** The role of the user who runs checks and launches jobs. */
  personRole: 'geneva-person',
  labelDomain: 'geneva.lancedb.com',
  rayCluster: 'geneva-cluster',
  operator: 'kuberay-operator',
  gpuPlugin: 'nvidia-device-plugin-daemonset',
  image: 'rayproject/ray:2.43.0',
  rayVersion: '2.43.0',
  nodes: { head: 'n-head', cpu: 'n-cpu', gpu: 'n-gpu' },
} as const;
