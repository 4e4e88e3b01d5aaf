import type { Fields } from './settingFields.ts';

// Every setting of a profile. The reader, the editor's schema and docs are generated from this table.

const label = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const anything = /\S/;
const region = /^[a-z]{2,4}(?:-[a-z]+)+-?\d+$/;
const role = /^(?:arn:aws[\w-]*:iam::\d{12}:role\/)?[\w+=,.@/-]+$/;

const groupFields = {
  numCpus: {
    kind: 'quantity',
    takes: 'a number of cores, or a text such as "500m"',
    description: 'Cores: a number, or a text as Kubernetes writes it, such as "500m".',
  },
  memory: {
    kind: 'quantity',
    takes: 'a number of MiB, or a text such as "8Gi"',
    description: 'Memory: a number of MiB, or a text as Kubernetes writes it, such as "8Gi".',
  },
  numGpus: { kind: 'count', description: 'GPUs.' },
  serviceAccount: {
    kind: 'text',
    pattern: subdomain,
    takes: 'the name of a Kubernetes service account',
    description: 'Service account of its pods; that of the profile where none is named.',
  },
  nodeSelector: {
    kind: 'map',
    description: 'Labels of the nodes that it runs on, in place of the one of the label domain.',
  },
  image: {
    kind: 'text',
    pattern: /^[^\s@:/][^\s]*$/,
    takes: 'the name of a container image',
    description: 'Container image.',
  },
} as const satisfies Fields;

export const profileFields = {
  configMethod: {
    kind: 'choice',
    values: ['LOCAL', 'EKS_AUTH', 'IN_CLUSTER'],
    meanings: [
      'A kubeconfig and one of its contexts.',
      'An EKS cluster by its name: assumes a role in AWS and signs tokens, without a kubeconfig or the AWS command line.',
      'The service account of the pod that this runs in.',
    ],
    default: 'LOCAL',
    description: 'How to sign in to the cluster.',
  },
  kubeconfig: {
    kind: 'text',
    pattern: anything,
    takes: 'the path of a kubeconfig',
    description: 'LOCAL: path of a kubeconfig; `KUBECONFIG` or `~/.kube/config` where none is named.',
  },
  context: {
    kind: 'text',
    pattern: anything,
    takes: 'the name of a context',
    description: 'LOCAL: a context of the kubeconfig; its current one where none is named.',
  },
  clusterName: {
    kind: 'text',
    pattern: /^[0-9A-Za-z][\w-]{0,99}$/,
    takes: 'the name of an EKS cluster',
    description: 'EKS_AUTH: name of the cluster.',
  },
  region: {
    kind: 'text',
    pattern: region,
    takes: 'a region of AWS such as "us-east-1"',
    description: 'EKS_AUTH: region of the cluster.',
  },
  roleName: {
    kind: 'text',
    pattern: role,
    takes: 'the name or ARN of a role of AWS',
    description: 'EKS_AUTH: name or ARN of the role to assume.',
  },
  namespace: {
    kind: 'text',
    pattern: label,
    takes: 'the name of a Kubernetes namespace',
    default: 'geneva',
    description: 'Namespace that RayClusters run in.',
  },
  serviceAccount: {
    kind: 'text',
    pattern: subdomain,
    takes: 'the name of a Kubernetes service account',
    default: 'geneva-ray-runner',
    description: 'Service account that head and workers run under.',
  },
  labelDomain: {
    kind: 'text',
    pattern: subdomain,
    takes: 'a domain such as "geneva.lancedb.com"',
    default: 'geneva.lancedb.com',
    description: 'What stands before the slash of the node labels ray-head, ray-worker-cpu and ray-worker-gpu.',
  },
  rayCluster: {
    kind: 'text',
    pattern: subdomain,
    takes: 'the name of a RayCluster',
    description: 'A RayCluster that is there already: its pods and specs are looked at.',
  },
  rayVersion: {
    kind: 'text',
    pattern: /^\d+\.\d+(?:\.\d+)?(?:[-.+]?[0-9A-Za-z.]+)?$/,
    takes: 'a version of Ray such as "2.43.0"',
    description: 'Version of Ray that jobs are sent with.',
  },
  usePortForwarding: {
    kind: 'flag',
    default: true,
    description: 'Whether the head of a RayCluster is reached through the API server.',
  },
  headGroup: { kind: 'section', fields: groupFields, description: 'What the head asks for: 4 cores and 8 GiB.' },
  workerGroups: {
    kind: 'sections',
    fields: {
      name: {
        kind: 'text',
        pattern: label,
        takes: 'a name of small letters, digits and "-"',
        description: 'Name of the group.',
      },
      ...groupFields,
      minReplicas: { kind: 'count', default: 0, description: 'Fewest workers.' },
      maxReplicas: { kind: 'count', default: 100, description: 'Most workers.' },
    },
    description:
      'Groups of workers: 4 cores and 8 GiB each, with a GPU 8 cores and 16 GiB. One group without GPUs where none is named.',
  },
  storage: {
    kind: 'text',
    pattern: /^(?:s3|gs):\/\/[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](?:\/[^\s?#]*)?$/,
    takes: 'a bucket such as "s3://bucket/path" or "gs://bucket/path"',
    description: 'The bucket that tables are in, s3:// or gs://, with a path where there is one.',
  },
  aws: {
    kind: 'section',
    description: 'What is needed to look the cluster up in AWS.',
    fields: {
      region: { kind: 'text', pattern: region, takes: 'a region of AWS such as "us-east-1"', description: 'Region.' },
      clusterName: {
        kind: 'text',
        pattern: /^[0-9A-Za-z][\w-]{0,99}$/,
        takes: 'the name of an EKS cluster',
        description: 'Name of the EKS cluster.',
      },
      clientRole: {
        kind: 'text',
        pattern: role,
        takes: 'the name or ARN of a role of AWS',
        description: 'Name or ARN of the role that people assume.',
      },
      serviceRole: {
        kind: 'text',
        pattern: /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/,
        takes: 'the ARN of a role of AWS',
        description: 'ARN of the role that the service account assumes; that of its annotation where none is named.',
      },
      account: {
        kind: 'text',
        pattern: /^\d{12}$/,
        takes: 'the twelve digits of an account of AWS, in quotes',
        description: 'Account that the person is expected to be in, twelve digits.',
      },
      profile: {
        kind: 'text',
        pattern: /^[^\s"']+$/,
        takes: 'the name of a profile of ~/.aws/config',
        description:
          'Profile of `~/.aws/config` that credentials come from; an editor may lack the AWS_PROFILE of a terminal.',
      },
    },
  },
  gcp: {
    kind: 'section',
    description: 'What is needed to look the cluster up in Google Cloud.',
    fields: {
      project: {
        kind: 'text',
        pattern: /^(?:[a-z][a-z0-9.-]*:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/,
        takes: 'the id of a project of Google Cloud',
        description: 'Id of the project.',
      },
      location: {
        kind: 'text',
        pattern: /^[a-z]+-[a-z]+\d+(?:-[a-z])?$/,
        takes: 'a region or zone such as "us-central1"',
        description: 'Region or zone of the cluster.',
      },
      clusterName: {
        kind: 'text',
        pattern: /^[a-z][a-z0-9-]{0,39}$/,
        takes: 'the name of a GKE cluster',
        description: 'Name of the GKE cluster.',
      },
      serviceAccount: {
        kind: 'text',
        pattern: /^[\w.-]+@[\w.-]+\.[a-z]+$/,
        takes: 'the email of a Google service account',
        description:
          'Email of the Google service account that pods act as; that of the annotation where none is named.',
      },
    },
  },
  catalog: {
    kind: 'other',
    schema: { type: ['string', 'object'] },
    description: 'Name of a catalog connection, or `{ "implementation": "rest", "uri": … }` without its key.',
  },
} as const satisfies Fields;
