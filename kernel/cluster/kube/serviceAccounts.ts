import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { isRecord } from '#shared/records.ts';
import { mapAt, stringAt } from '#shared/fields.ts';
import type { KubeAsk, KubeReply } from './kubeRequest.ts';

export type ServiceAccount = {
  readonly namespace: string;
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
};

export type ServiceAccountToken = {
  /** A secret; reports hide it. */
  readonly token: string;
  /** Its payload: `iss`, `sub`, `aud`, `exp`. */
  readonly claims: Readonly<Record<string, unknown>>;
};

/** The API calls that reads of a service account need. */
type ServiceAccountApi = {
  readonly profile: ClusterProfile;
  readonly hidden: SecretRedactor;
  find(path: string): Promise<unknown>;
  request(ask: KubeAsk): Promise<KubeReply>;
};

export const serviceAccountPath = (namespace: string, name: string): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(name)}`;

/** Returns the user name of a service account in the API server. */
export const serviceAccountUser = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`;

/** @throws ClusterError */
export async function readServiceAccount(
  kube: ServiceAccountApi,
  namespace: string,
  name: string,
): Promise<ServiceAccount | undefined> {
  const found = await kube.find(serviceAccountPath(namespace, name));
  if (found === undefined) return undefined;
  return { namespace, name, annotations: mapAt(found, 'metadata', 'annotations') };
}

/** Requests a token for the profile's service account from the API server. @throws ClusterError */
export async function requestToken(
  kube: ServiceAccountApi,
  audience: string | undefined,
): Promise<ServiceAccountToken> {
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
  const token = stringAt(body, 'status', 'token');
  kube.hidden.add(token);
  const claims = token === undefined ? undefined : claimsOf(token);
  if (token === undefined || claims === undefined)
    throw new ClusterError(
      'BadReply',
      `POST ${path} returned no valid token.`,
      'Check that the address is that of a Kubernetes API server.',
    );
  return { token, claims };
}

/** Reads the claims of a JSON web token without verifying the token. The receiver of the token verifies it. */
function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const said: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return isRecord(said) ? said : undefined;
  } catch {
    return undefined;
  }
}
