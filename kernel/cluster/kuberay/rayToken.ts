import { ClusterError } from '#cluster/errors.ts';
import type { HiddenTexts } from '#cluster/hiddenText.ts';
import { at, textAt } from '#cluster/kube/fields.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import type { RayClusterName } from './rayClusterState.ts';

/**
 * The token that a Ray wants of who talks to it, where its RayCluster says that it does (`authOptions`, since 1.5). The
 * operator keeps it in a secret of the cluster's name.
 * @param object the RayCluster as the API server has it
 * @returns `undefined` where none is wanted
 * @throws ClusterError, Forbidden where the person may not read the secret
 */
export async function readRayToken(
  connection: KubeConnection,
  { namespace, name }: RayClusterName,
  object: unknown,
  { hidden, signal }: { readonly hidden: HiddenTexts; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const options = at(object, 'spec', 'authOptions');
  if (textAt(options, 'mode') !== 'token') return undefined;
  if (at(options, 'enableK8sTokenAuth') === true)
    throw new ClusterError(
      'CredentialsMissing',
      `The Ray of ${namespace}/${name} takes tokens of Kubernetes itself (enableK8sTokenAuth), which are not asked for.`,
      'Forward its port yourself and connect to that address with a token of a service account.',
    );
  const secret = textAt(options, 'secretName') ?? name;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets/${encodeURIComponent(secret)}`;
  const { body } = await connection.request({ method: 'GET', path }, signal);
  const encoded = textAt(body, 'data', 'auth_token');
  if (encoded === undefined)
    throw new ClusterError(
      'CredentialsMissing',
      `The secret ${namespace}/${secret} holds no auth_token for the Ray of ${name}.`,
      'Wait until the operator has made it, or put one in.',
    );
  const token = Buffer.from(encoded, 'base64').toString('utf8').trim();
  hidden.add(token);
  return token;
}
