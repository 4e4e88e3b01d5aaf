import type { CheckId } from '#cluster/checkIds.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { tempFolder } from '../../harness/temp.ts';
import { account, roleArn } from './moto.ts';
import { Pki } from './pki.ts';
import { aws, serviceAccount } from './soundAws.ts';
import {
  type Fault,
  blocked,
  ofCluster,
  ofIssuer,
  clientBucket,
  serviceBucket,
  asService,
  asClient,
} from './awsFault.ts';

const withAws =
  (change: Partial<NonNullable<ClusterProfile['aws']>>) =>
  (profile: ClusterProfile): ClusterProfile => ({ ...profile, aws: profile.aws && { ...profile.aws, ...change } });

/** A fault for every property that a check reads. */
export const faults: readonly Fault[] = [
  {
    name: 'a key that nobody knows',
    plant: (sound) => sound.signIn({ accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI' }),
    expect: { 'aws-identity': 'fail', ...blocked('aws-assume-client', 'aws-client-trust', ...asClient) },
    says: /^AWS does not recognize your access key \(InvalidClientTokenId\)\.$/,
  },
  {
    name: "a secret that is not the key's",
    plant: (sound) => sound.signIn({ ...sound.alice, secretAccessKey: 'wJalrXUtnFEMI' }),
    expect: { 'aws-identity': 'fail', ...blocked('aws-assume-client', 'aws-client-trust', ...asClient) },
    says: /^AWS rejected your signature \(SignatureDoesNotMatch\)\.$/,
  },
  {
    name: 'another account',
    plant: () => {},
    profile: withAws({ account: '999999999999' }),
    expect: { 'aws-identity': 'fail', ...blocked('aws-assume-client', 'aws-client-trust', ...asClient) },
    says: /^You are signed in to the AWS account 123456789012, but the profile is for 999999999999\.$/,
  },
  {
    name: 'a client role that trusts somebody else',
    plant: ({ moto, clientTrust }) =>
      moto.setTrust('geneva-client', { ...clientTrust, Principal: { AWS: `arn:aws:iam::${account}:user/bob` } }),
    expect: { 'aws-assume-client': 'fail', 'aws-client-trust': 'warn', ...blocked(...asClient) },
    says: /^You, arn:aws:iam::\d+:user\/alice, may not assume the client role arn:aws:iam::\d+:role\/geneva-client\.$/,
    mend: ['aws-assume-client'],
  },
  {
    name: 'a client role that trusts everybody',
    plant: ({ moto, clientTrust }) => moto.setTrust('geneva-client', { ...clientTrust, Principal: { AWS: '*' } }),
    expect: { 'aws-client-trust': 'warn' },
    says: /trusts every identity in any AWS account/,
  },
  {
    name: 'a client role that is not there',
    plant: ({ moto }) => moto.removeRole('geneva-client'),
    expect: { 'aws-assume-client': 'fail', 'aws-client-trust': 'warn', ...blocked(...asClient) },
    says: /may not assume the client role/,
  },
  {
    name: 'a client that may not describe the cluster',
    plant: ({ moto }) => moto.forbid('geneva-client', 'describe'),
    expect: { 'eks-describe': 'fail', ...blocked(...ofCluster, ...ofIssuer) },
    says: /role\/geneva-client may not describe the EKS cluster arn:aws:eks:eu-west-1:123456789012:cluster\/geneva\.$/,
    mend: ['eks-describe'],
  },
  {
    name: 'a cluster that is not there',
    plant: () => {},
    profile: withAws({ clusterName: 'genova' }),
    expect: { 'eks-describe': 'fail', 'irsa-describe': 'fail', ...blocked(...ofCluster, ...ofIssuer) },
    says: /^There is no EKS cluster "genova" in eu-west-1\.$/,
  },
  {
    name: 'a kubeconfig that leads to another cluster',
    plant: ({ eks, kube }) => {
      eks.facts.endpoint = kube.address.replace('127.0.0.1', 'localhost');
      eks.facts.ca = new Pki(tempFolder('other-cluster-'), 'other-ca').ca;
    },
    // The address belongs to another cluster, which has another certificate authority.
    expect: { 'eks-describe': 'warn', 'eks-k8s-api': 'fail' },
    says: /^The kubeconfig connects to https:\/\/127\.0\.0\.1:\d+, but the EKS cluster "geneva" is at https:\/\/localhost:\d+\.$/,
  },
  {
    name: 'a cluster that is being made',
    plant: ({ eks }) => void (eks.facts.status = 'CREATING'),
    expect: { 'eks-describe': 'fail', ...blocked(...ofCluster, ...ofIssuer) },
    says: /is not running: its status is CREATING/,
  },
  {
    name: 'an authentication mode without access entries',
    plant: ({ eks }) => void (eks.facts.authenticationMode = 'CONFIG_MAP'),
    expect: { 'eks-auth-mode': 'fail', ...blocked('eks-access-entry', 'eks-access-policy') },
    says: /has the authentication mode CONFIG_MAP/,
    mend: ['eks-auth-mode'],
  },
  {
    name: 'no access entry',
    plant: ({ eks }) => eks.entries.clear(),
    // The cluster refuses the token of a role without an access entry.
    expect: { 'eks-access-entry': 'fail', 'eks-k8s-api': 'fail', ...blocked('eks-access-policy') },
    says: /role\/geneva-client has no access entry for the EKS cluster "geneva"\.$/,
    mend: ['eks-access-entry', 'eks-access-policy'],
  },
  {
    name: 'an access entry for nodes',
    plant: ({ eks }) => void eks.entries.set(aws.clientRole, { type: 'EC2_LINUX', kubernetesGroups: [], policies: [] }),
    expect: { 'eks-access-entry': 'fail', ...blocked('eks-access-policy') },
    says: /is of type EC2_LINUX, which is for nodes/,
  },
  {
    name: 'an access entry without a policy',
    plant: ({ eks }) => void eks.entries.set(aws.clientRole, { type: 'STANDARD', kubernetesGroups: [], policies: [] }),
    expect: { 'eks-access-policy': 'fail' },
    says: /has an access entry, but without AmazonEKSClusterAdminPolicy/,
    mend: ['eks-access-policy'],
  },
  {
    name: 'a policy that is for one namespace',
    plant: ({ eks }) => {
      const policy = { policyArn: aws.adminPolicy, scope: 'namespace', namespaces: ['other'] };
      eks.entries.set(aws.clientRole, { type: 'STANDARD', kubernetesGroups: [], policies: [policy] });
    },
    expect: { 'eks-access-policy': 'fail' },
    says: /has AmazonEKSClusterAdminPolicy only for namespaces \(other\)/,
    mend: ['eks-access-policy'],
  },
  {
    name: 'rights by groups of Kubernetes in place of a policy',
    plant: ({ eks }) =>
      void eks.entries.set(aws.clientRole, { type: 'STANDARD', kubernetesGroups: ['runners'], policies: [] }),
    expect: { 'eks-access-policy': 'warn' },
    says: /it has the Kubernetes permissions of its groups runners/,
    mend: ['eks-access-policy'],
  },
  {
    name: 'nobody who may ask for access entries',
    plant: ({ eks }) => void eks.refused.add('everybody'),
    expect: { 'eks-access-entry': 'skipped', 'eks-access-policy': 'skipped' },
    says: /^You lack the permission: AWS does not allow .* to call eks:DescribeAccessEntry on an access entry of /,
  },
  {
    name: 'no provider for the issuer',
    plant: ({ moto, providerArn }) => moto.removeProvider(providerArn),
    expect: { 'oidc-provider': 'fail', 'irsa-assume': 'fail', ...blocked(...asService) },
    says: /^IAM has no OpenID Connect provider for https:\/\/127\.0\.0\.1:\d+, so AWS rejects the tokens of the cluster\.$/,
    mend: ['oidc-provider'],
  },
  {
    name: 'a provider for another audience',
    plant: async ({ moto, providerArn, kube }) => {
      await moto.removeProvider(providerArn);
      await moto.provider(kube.address, 'somebody.example');
    },
    expect: { 'oidc-provider': 'fail', 'irsa-assume': 'fail', ...blocked(...asService) },
    says: /does not accept tokens for sts\.amazonaws\.com/,
    mend: ['oidc-provider'],
  },
  {
    name: 'a cluster without an issuer',
    plant: ({ eks }) => void (eks.facts.issuer = undefined),
    expect: { 'oidc-issuer': 'fail', ...blocked('oidc-provider', 'irsa-trust') },
    says: /has no OIDC issuer/,
  },
  {
    name: 'a kubeconfig of a cluster with another issuer',
    plant: ({ eks }) => void (eks.facts.issuer = 'https://oidc.eks.eu-west-1.amazonaws.com/id/ABC'),
    expect: {
      'oidc-provider': 'fail',
      'irsa-token': 'fail',
      'irsa-trust': 'warn',
      ...blocked('irsa-assume', ...asService),
    },
    says: /^IAM has no OpenID Connect provider for https:\/\/oidc\.eks\.eu-west-1\.amazonaws\.com\/id\/ABC/,
  },
  {
    name: 'a service account without a role',
    plant: ({ kube }) =>
      kube.api.merge(serviceAccount, { metadata: { annotations: { 'eks.amazonaws.com/role-arn': null } } }),
    expect: { 'irsa-annotation': 'fail', ...blocked('irsa-trust', 'irsa-assume', ...asService, 'aws-pod-env') },
    says: /^The service account geneva\/geneva-sa has no role/,
    mend: ['irsa-annotation'],
  },
  {
    name: 'a service account with another role',
    plant: ({ kube }) =>
      kube.api.merge(serviceAccount, { metadata: { annotations: { 'eks.amazonaws.com/role-arn': roleArn('other') } } }),
    expect: { 'irsa-annotation': 'fail', ...blocked('irsa-trust', 'irsa-assume', ...asService, 'aws-pod-env') },
    says: /names the role arn:aws:iam::123456789012:role\/other, but the profile has .*geneva-service-role\.$/,
    mend: ['irsa-annotation'],
  },
  {
    name: 'a role that trusts another service account',
    plant: (sound) =>
      sound.moto.setTrust(
        'geneva-service-role',
        sound.serviceTrust({ sub: 'system:serviceaccount:default:geneva-sa' }),
      ),
    expect: { 'irsa-trust': 'warn', 'irsa-assume': 'fail', ...blocked(...asService) },
    says: /:sub must be "system:serviceaccount:default:geneva-sa", but is "system:serviceaccount:geneva:geneva-sa"\.$/,
    mend: ['irsa-assume'],
  },
  {
    name: 'a role that asks for another audience',
    plant: (sound) => sound.moto.setTrust('geneva-service-role', sound.serviceTrust({ aud: 'sts' })),
    expect: { 'irsa-trust': 'warn', 'irsa-assume': 'fail', ...blocked(...asService) },
    says: /:aud must be "sts", but is "sts\.amazonaws\.com"\.$/,
    mend: ['irsa-trust'],
  },
  {
    name: 'a role that trusts the provider of another cluster',
    plant: (sound) => {
      const arn = `arn:aws:iam::${account}:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/ABC`;
      return sound.moto.setTrust('geneva-service-role', { ...sound.serviceTrust(), Principal: { Federated: arn } });
    },
    expect: { 'irsa-trust': 'warn', 'irsa-assume': 'fail', ...blocked(...asService) },
    says: /it trusts the provider arn:aws:iam::123456789012:oidc-provider\/oidc\.eks\.eu-west-1\.amazonaws\.com\/id\/ABC instead of /,
    mend: ['irsa-assume'],
  },
  {
    name: 'a role that trusts every service account of the cluster',
    plant: (sound) => {
      const Condition = { StringLike: { [`${sound.issuer}:sub`]: 'system:serviceaccount:*' } };
      return sound.moto.setTrust('geneva-service-role', { ...sound.serviceTrust(), Condition });
    },
    expect: { 'irsa-trust': 'warn' },
    says: /trusts every service account of the cluster/,
  },
  {
    name: 'a service account that may not describe the cluster',
    plant: ({ moto }) => moto.forbid('geneva-service-role', 'describe'),
    expect: { 'irsa-describe': 'fail' },
    says: /role\/geneva-service-role may not describe the EKS cluster/,
    mend: ['irsa-describe'],
  },
  {
    name: 'a bucket that is not there',
    plant: () => {},
    profile: (profile) => ({ ...profile, storage: { scheme: 's3', bucket: 'geneva-none', prefix: '' } }),
    expect: {
      'aws-region': 'warn',
      'aws-client-bucket-list': 'fail',
      'aws-client-bucket-put': 'fail',
      'irsa-bucket-list': 'fail',
      'irsa-bucket-put': 'fail',
      ...blocked('aws-client-bucket-head', 'aws-client-bucket-get', 'aws-client-bucket-delete'),
      ...blocked('irsa-bucket-head', 'irsa-bucket-get', 'irsa-bucket-delete'),
    },
    says: /^There is no bucket geneva-none\.$/,
  },
  {
    name: 'a pod that is older than the annotation',
    plant: ({ kube }) =>
      kube.api.apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'old', namespace: 'geneva' },
        spec: { serviceAccountName: 'geneva-sa', containers: [{ name: 'ray', image: 'ray' }] },
      }),
    expect: { 'aws-pod-env': 'warn' },
    says: /^old under geneva\/geneva-sa does not have .*\. The annotation was set after the pods started\.$/,
  },
];

/** The permissions for a bucket, each removed from the client and from the service account. */
export const rightsTaken = (
  [
    ['client', 'geneva-client', clientBucket],
    ['service account', 'geneva-service-role', serviceBucket],
  ] as const
).flatMap(([who, role, [list, put, head, get, remove]]): Fault[] => {
  const faultOf = (policy: string, expect: Fault['expect'], says: RegExp, mend: CheckId): Fault => ({
    name: `a ${who} that may not ${policy}`,
    plant: ({ moto }) => moto.forbid(role, policy),
    expect,
    says,
    mend: [mend],
  });
  return [
    faultOf('list', { [list]: 'fail' }, /may not list the bucket geneva-data\.$/, list),
    faultOf('put', { [put]: 'fail', ...blocked(head, get, remove) }, /may not write into the bucket/, put),
    // HEAD fails, too, because it needs the permission to read.
    faultOf('get', { [head]: 'fail', [get]: 'fail' }, /may not look into the bucket geneva-data\.$/, get),
    faultOf('delete', { [remove]: 'fail' }, /may not delete from the bucket geneva-data\.$/, remove),
  ];
});
