import { ClusterError } from '#cluster/errors.ts';
import { isRecord } from '#shared/records.ts';
import { mapAt, textAt } from './fields.ts';
import type { KubeReads } from './kubeReads.ts';

export type ServiceAccount = {
  readonly namespace: string;
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
};

export type ServiceAccountToken = {
  /** A secret, which no report shows. */
  readonly token: string;
  /** What is in it: `iss`, `sub`, `aud`, `exp`. */
  readonly claims: Readonly<Record<string, unknown>>;
};

/** The path of a service account in the API. */
export const serviceAccountPath = (namespace: string, name: string): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(name)}`;

/** How the API server calls a service account that asks it something. */
export const serviceAccountUser = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`;

/** @throws ClusterError */
export async function readServiceAccount(
  kube: KubeReads,
  namespace: string,
  name: string,
): Promise<ServiceAccount | undefined> {
  const found = await kube.find(serviceAccountPath(namespace, name));
  if (found === undefined) return undefined;
  return { namespace, name, annotations: mapAt(found, 'metadata', 'annotations') };
}

/** Has the API server sign a token for the profile's service account. @throws ClusterError */
export async function requestToken(kube: KubeReads, audience: string | undefined): Promise<ServiceAccountToken> {
  const { namespace, serviceAccount } = kube.profile;
  const path = `${serviceAccountPath(namespace, serviceAccount)}/token`;
  const { body } = await kube.request({
    method: 'POST',
    path,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 600, ...(audience === undefined ? {} : { audiences: [audience] }) },
    },
  });
  const token = textAt(body, 'status', 'token');
  kube.hidden.add(token);
  const claims = token === undefined ? undefined : claimsOf(token);
  if (token === undefined || claims === undefined)
    throw new ClusterError(
      'BadReply',
      `POST ${path} gave no token that can be read.`,
      'Check that the address is that of a Kubernetes API server.',
    );
  return { token, claims };
}

/** What a JSON web token says, unverified: whoever it is for verifies it. */
function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const said: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return isRecord(said) ? said : undefined;
  } catch {
    return undefined;
  }
}
