import type { Fields } from '#shared/fieldTable.ts';
import { quantityField } from './settingFields.ts';

// Every setting of a profile. The reader, the editor's schema and docs are generated from this table.

const label = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const anything = /\S/;
const region = /^[a-z]{2,4}(?:-[a-z]+)+-?\d+$/;
const role = /^(?:arn:aws[\w-]*:iam::\d{12}:role\/)?[\w+=,.@/-]+$/;

const groupFields = {
  numCpus: quantityField(
    'a number of cores, or a string such as "500m"',
    'CPU cores: a number, or a Kubernetes quantity such as "500m".',
  ),
  memory: quantityField(
    'a number of MiB, or a string such as "8Gi"',
    'Memory: a number of MiB, or a Kubernetes quantity such as "8Gi".',
  ),
  numGpus: { kind: 'count', minimum: 0, description: 'Number of GPUs.' },
  serviceAccount: {
    kind: 'text',
    pattern: subdomain,
    takes: 'the name of a Kubernetes service account',
    description: 'Service account of the pods. Default: the one of the profile.',
  },
  nodeSelector: {
    kind: 'map',
    description: 'Node selector. Overrides the default label.',
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
      'A context of a kubeconfig.',
      'An EKS cluster by its name: assumes a role in AWS and signs tokens, without a kubeconfig or the AWS command line.',
      'The service account of the pod that this runs in.',
    ],
    default: 'LOCAL',
    description: 'How to authenticate to the cluster.',
  },
  kubeconfig: {
    kind: 'text',
    pattern: anything,
    takes: 'the path of a kubeconfig',
    description: 'LOCAL: path of a kubeconfig. Default: `KUBECONFIG` or `~/.kube/config`.',
  },
  context: {
    kind: 'text',
    pattern: anything,
    takes: 'the name of a kubeconfig context',
    description: 'LOCAL: context of the kubeconfig. Default: the current context.',
  },
  clusterName: {
    kind: 'text',
    pattern: /^[0-9A-Za-z][\w-]{0,99}$/,
    takes: 'the name of an EKS cluster',
    description: 'EKS_AUTH: name of the EKS cluster.',
  },
  region: {
    kind: 'text',
    pattern: region,
    takes: 'an AWS region such as "us-east-1"',
    description: 'EKS_AUTH: AWS region of the cluster.',
  },
  roleName: {
    kind: 'text',
    pattern: role,
    takes: 'the name or ARN of an IAM role',
    description: 'EKS_AUTH: name or ARN of the IAM role to assume.',
  },
  namespace: {
    kind: 'text',
    pattern: label,
    takes: 'the name of a Kubernetes namespace',
    default: 'geneva',
    description: 'Kubernetes namespace of the RayClusters.',
  },
  serviceAccount: {
    kind: 'text',
    pattern: subdomain,
    takes: 'the name of a Kubernetes service account',
    default: 'geneva-ray-runner',
    description: 'Service account of head and worker pods.',
  },
  labelDomain: {
    kind: 'text',
    pattern: subdomain,
    takes: 'a domain such as "geneva.lancedb.com"',
    default: 'geneva.lancedb.com',
    description: 'Domain of the node labels ray-head, ray-worker-cpu and ray-worker-gpu.',
  },
  rayCluster: {
    kind: 'text',
    pattern: subdomain,
    takes: 'the name of a RayCluster',
    description: 'An existing RayCluster, whose pods and spec are checked.',
  },
  rayVersion: {
    kind: 'text',
    pattern: /^\d+\.\d+(?:\.\d+)?(?:[-.+]?[0-9A-Za-z.]+)?$/,
    takes: 'a Ray version such as "2.43.0"',
    description: 'Ray version of the jobs.',
  },
  usePortForwarding: {
    kind: 'flag',
    default: true,
    description: 'Connect to the Ray head through the API server.',
  },
  headGroup: { kind: 'section', fields: groupFields, description: 'Resources of the head (default: 4 cores, 8 GiB).' },
  workerGroups: {
    kind: 'sections',
    fields: {
      name: {
        kind: 'text',
        pattern: label,
        takes: 'a name of lowercase letters, digits and "-"',
        description: 'Name of the group.',
      },
      ...groupFields,
      minReplicas: { kind: 'count', minimum: 0, default: 0, description: 'Minimum number of workers.' },
      maxReplicas: { kind: 'count', minimum: 0, default: 100, description: 'Maximum number of workers.' },
    },
    description:
      'Worker groups (default: one without GPUs). A worker has 4 cores and 8 GiB, with GPUs 8 cores and 16 GiB.',
  },
  storage: {
    kind: 'text',
    pattern: /^(?:s3|gs):\/\/[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](?:\/[^\s?#]*)?$/,
    takes: 'a bucket such as "s3://bucket/path" or "gs://bucket/path"',
    description: 'Bucket of the tables: s3:// or gs://, with an optional path.',
  },
  aws: {
    kind: 'section',
    description: 'How to find the cluster in AWS.',
    fields: {
      region: { kind: 'text', pattern: region, takes: 'an AWS region such as "us-east-1"', description: 'AWS region.' },
      clusterName: {
        kind: 'text',
        pattern: /^[0-9A-Za-z][\w-]{0,99}$/,
        takes: 'the name of an EKS cluster',
        description: 'Name of the EKS cluster.',
      },
      clientRole: {
        kind: 'text',
        pattern: role,
        takes: 'the name or ARN of an IAM role',
        description: 'Name or ARN of the role that users assume.',
      },
      serviceRole: {
        kind: 'text',
        pattern: /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/,
        takes: 'the ARN of an IAM role',
        description: 'ARN of the role that the service account assumes. Default: the one in its annotation.',
      },
      account: {
        kind: 'text',
        pattern: /^\d{12}$/,
        takes: 'an AWS account ID, twelve digits in quotes',
        description: 'Expected AWS account ID (12 digits).',
      },
      profile: {
        kind: 'text',
        pattern: /^[^\s"']+$/,
        takes: 'the name of a profile in ~/.aws/config',
        description:
          'Profile in `~/.aws/config` for credentials, because an editor may not see the AWS_PROFILE of a terminal.',
      },
    },
  },
  gcp: {
    kind: 'section',
    description: 'How to find the cluster in Google Cloud.',
    fields: {
      project: {
        kind: 'text',
        pattern: /^(?:[a-z][a-z0-9.-]*:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/,
        takes: 'the ID of a Google Cloud project',
        description: 'Project ID.',
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
          'Email of the Google service account that the pods use. Default: the annotation of the Kubernetes service account.',
      },
    },
  },
  catalog: {
    kind: 'other',
    takes: 'the name of a connection, or an object with "implementation" and "root" or "uri"',
    // The value is returned unchecked, because the reader of the profile checks it for secrets and names their path.
    read: (value: unknown) => value,
    schema: { type: ['string', 'object'] },
    description: 'Name of a catalog connection, or `{ "implementation": "rest", "uri": … }` without the API key.',
  },
} as const satisfies Fields;
