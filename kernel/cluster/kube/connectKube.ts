import { connectEks } from '#cluster/aws/connectEks.ts';
import { eksCredential } from '#cluster/aws/eksCredential.ts';
import { readEksPlugin } from '#cluster/aws/eksPlugin.ts';
import { gkeCredential } from '#cluster/gcp/defaultCredentials.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { chooseContext } from '#cluster/kubeconfig/chooseContext.ts';
import { targetOfEntry } from '#cluster/kubeconfig/clusterEntry.ts';
import { type ExecPlugin, pluginProgram } from '#cluster/kubeconfig/execPlugin.ts';
import { accessInCluster } from '#cluster/kubeconfig/inCluster.ts';
import { loadKubeconfig } from '#cluster/kubeconfig/loadKubeconfig.ts';
import { commandLine, findPlugin, runExecPlugin } from '#cluster/kubeconfig/runExecPlugin.ts';
import { signInOf, tokenFileStep } from '#cluster/kubeconfig/userEntry.ts';
import type { ClusterAuth } from '#cluster/profile.ts';
import { requireTrustedStep } from '#cluster/profiles/programTrust.ts';
import { renewing } from './credential.ts';
import { KubeConnection, type KubeAccess } from './kubeConnection.ts';

export type ConnectKubeOptions = {
  readonly hidden: SecretRedactor;
  readonly signal: AbortSignal;
  /** Milliseconds that a credential plugin may take. Default: 30,000. */
  readonly pluginLimit?: number | undefined;
};

/**
 * Finds the API server and the sign-in, without a request to the server. The caller closes the connection.
 * @throws ClusterError if the kubeconfig, the pod's service account or the cloud's credentials are not usable. A plugin
 * runs only with the first request, so that request throws the plugin's errors.
 */
export async function connectKube(auth: ClusterAuth, options: ConnectKubeOptions): Promise<KubeConnection> {
  options.signal.throwIfAborted();
  return new KubeConnection(await accessOf(auth, options));
}

function accessOf(auth: ClusterAuth, options: ConnectKubeOptions): Promise<KubeAccess> {
  switch (auth.configMethod) {
    case 'LOCAL':
      return accessOfKubeconfig(auth, options);
    case 'EKS_AUTH':
      return connectEks(auth, options);
    case 'IN_CLUSTER':
      return accessInCluster(options);
  }
}

async function accessOfKubeconfig(
  { kubeconfig, context, foundIn }: Extract<ClusterAuth, { readonly configMethod: 'LOCAL' }>,
  options: ConnectKubeOptions,
): Promise<KubeAccess> {
  const config = await loadKubeconfig({ kubeconfig });
  const chosen = chooseContext(config, context);
  const target = await targetOfEntry(chosen.cluster);
  const signIn = await signInOf(chosen.user, options.hidden);
  const access = {
    target,
    source: `${config.label}, context ${chosen.name}`,
    signIn: signIn.label,
    namespace: chosen.namespace,
    impersonation: signIn.impersonation,
  };
  if ('credential' in signIn) {
    const { credential, tokenFile } = signIn;
    if (foundIn && tokenFile !== undefined)
      requireTrustedStep(tokenFileStep(foundIn, { tokenFile, server: target.server }, config));
    return { ...access, credential };
  }
  const { plugin } = signIn;
  // Checks that the user has allowed the configuration that was read. The check is repeated before each run of the
  // plugin, because a script in the repository may have changed meanwhile.
  const mayRun = (): void => {
    if (foundIn) requireTrustedStep(pluginProgram(foundIn, plugin, config));
  };
  mayRun();
  return { ...access, ...(await accessByPlugin(plugin, target, { ...options, mayRun })) };
}

/** Runs the kubeconfig's plugin. If it is missing, signs in to AWS or Google Cloud without it. */
async function accessByPlugin(
  plugin: ExecPlugin,
  target: KubeAccess['target'],
  { hidden, pluginLimit, mayRun }: ConnectKubeOptions & { readonly mayRun: () => void },
): Promise<Pick<KubeAccess, 'credential' | 'plugin'>> {
  hidden.add(...Object.entries(plugin.env).flatMap(([name, value]) => (secretName.test(name) ? [value] : [])));
  const program = await findPlugin(plugin);
  const command = commandLine(plugin);
  if (program === undefined) {
    const eks = readEksPlugin(plugin, process.env);
    if (eks) return { credential: eksCredential(eks, { hidden }), plugin: { command, program, replacedBy: 'AWS' } };
    if (/^gke-gcloud-auth-plugin(?:\.exe)?$/.test(plugin.command))
      return { credential: gkeCredential({ hidden }), plugin: { command, program, replacedBy: 'Google Cloud' } };
  }
  return {
    credential: renewing(async (signal) => {
      mayRun();
      return runExecPlugin(plugin, { target, hidden, signal, limit: pluginLimit });
    }),
    plugin: { command, program, replacedBy: undefined },
  };
}

/**
 * Matches the names of variables whose values are secrets. `…_TOKEN_FILE` does not match, because its value is a path.
 */
const secretName = /(?:KEY|KEY_ID|TOKEN|SECRET|PASSWORD)$/i;
