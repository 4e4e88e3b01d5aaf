import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { ClusterError } from '#cluster/errors.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { renewing } from '#cluster/kube/credential.ts';
import type { KubeAccess } from '#cluster/kube/kubeConnection.ts';

/** The folder of the service account in a pod. */
const standardFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Milliseconds after which a token that was read counts as expired. `renewing` reads the file again one minute before.
 * The file is replaced long before the token expires.
 */
const fileGoodFor = 90_000;

type InClusterOptions = {
  readonly hidden: SecretRedactor;
  readonly folder?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
};

/**
 * Returns access to the cluster that this process runs in, as the pod's service account.
 * @throws ClusterError NotInCluster
 */
export async function accessInCluster(options: InClusterOptions): Promise<KubeAccess> {
  const { hidden, folder = standardFolder, environment = process.env } = options;
  const host = environment['KUBERNETES_SERVICE_HOST'];
  const port = environment['KUBERNETES_SERVICE_PORT'];
  if (!host || !port)
    throw notInCluster(
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this process does not run in a pod.',
    );
  const ca = await fileOf(join(folder, 'ca.crt'));
  await fileOf(join(folder, 'token'));
  const namespace = await fileOf(join(folder, 'namespace')).catch(() => undefined);
  return {
    target: { server: `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`, ca, skipTlsVerify: false },
    credential: renewing(async () => {
      const token = await fileOf(join(folder, 'token'));
      hidden.add(token);
      return { token, expiresAt: new Date(Date.now() + fileGoodFor) };
    }),
    source: 'the pod that runs this process',
    signIn: 'the service account of this pod',
    namespace,
  };
}

async function fileOf(file: string): Promise<string> {
  try {
    const text = (await readFile(file, 'utf8')).trim();
    if (text !== '') return text;
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    throw notInCluster(`Can't read ${file} (${String(code)}), so no service account is available.`);
  }
  throw notInCluster(`${file} is empty, so no service account is available.`);
}

const notInCluster = (what: string): ClusterError =>
  new ClusterError(
    'NotInCluster',
    what,
    'Run this in a pod with a service account (automountServiceAccountToken), or set configMethod to "LOCAL" or "EKS_AUTH".',
  );
