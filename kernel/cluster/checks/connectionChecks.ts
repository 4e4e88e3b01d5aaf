import type { Check } from '#cluster/check.ts';
import { type ClusterError, type ClusterErrorKind, isClusterError } from '#cluster/errors.ts';
import { fail, pass, warn } from '#cluster/checkResults.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { factsOf, lookAtCertificate } from '#cluster/kube/serverCertificate.ts';
import type { ClusterAuth } from '#cluster/profile.ts';
import type { Evidence } from '#cluster/result.ts';

const category = 'connection';

/** Where each method gets the address and the credentials from, for evidence. */
const wayIn: Readonly<Record<ClusterAuth['configMethod'], string>> = {
  LOCAL: 'the kubeconfig and its context',
  EKS_AUTH: 'AssumeRole and DescribeCluster',
  IN_CLUSTER: 'the files of the service account of this pod',
};

const load: Check = {
  id: 'kubeconfig-load',
  category,
  title: 'Cluster address is known',
  severity: 'error',
  needs: [],
  // The check `eks-describe` reports a failure to sign in to AWS.
  alsoNeeds: ({ auth }) => (auth.configMethod === 'EKS_AUTH' ? ['eks-describe'] : []),
  // EKS_AUTH sends several requests to AWS.
  limit: 30_000,
  run: async ({ kube, profile }) => {
    const { source, server } = await kube.connection();
    const asked = wayIn[profile.auth.configMethod];
    return pass(`The cluster of ${source} is at ${server}.`, { asked, saw: server });
  },
};

const exec: Check = {
  id: 'kubeconfig-exec',
  category,
  title: 'Credentials are available',
  severity: 'error',
  needs: ['kubeconfig-load'],
  // A kubeconfig's exec plugin has its own limit of 30 s, with a better error message.
  limit: 40_000,
  retries: 0,
  run: async ({ kube }) => {
    const { access } = await kube.connection();
    const { plugin, signIn } = access;
    const { expiresAt } = await access.credential(kube.signal);
    const saw =
      expiresAt === undefined ? 'a credential' : `a credential that is valid until ${expiresAt.toISOString()}`;
    if (!plugin) return pass(`Signs in with ${signIn}, without running a program.`);
    const { command, program, replacedBy } = plugin;
    if (replacedBy !== undefined)
      return pass(
        `"${command}" is not on the PATH of this process, but is not needed: the token comes from your ${replacedBy} credentials.`,
        { asked: `${command}, done without the program`, saw },
      );
    return pass(`"${command}" returned a credential.`, { asked: program ?? command, saw });
  },
};

/** Failures that prove that the server responds. */
const there: ReadonlySet<ClusterErrorKind> = new Set([
  'TlsUntrusted',
  'CredentialsMissing',
  'CredentialsExpired',
  'CredentialsRefused',
  'Forbidden',
  'NotFound',
]);

const versionPath = '/version';

/**
 * Requests the version of the API server and returns the error if the request fails. If the server refuses the request,
 * later checks report the refusal.
 */
async function failureOfVersion(kube: { get(path: string): Promise<unknown> }): Promise<ClusterError | undefined> {
  try {
    await kube.get(versionPath);
    return undefined;
  } catch (error) {
    if (isClusterError(error)) return error;
    throw error;
  }
}

const reach: Check = {
  id: 'k8s-reach',
  category,
  title: 'API server responds',
  severity: 'error',
  needs: ['kubeconfig-exec'],
  limit: 15_000,
  run: async ({ kube }) => {
    const { server } = await kube.connection();
    const failure = await failureOfVersion(kube);
    if (failure && !there.has(failure.kind)) throw failure;
    return pass(`${server} responds.`, { asked: `GET ${versionPath}`, saw: failure ? failure.what : 'a version' });
  },
};

/** Milliseconds. The check warns if the certificate of the server expires within this time. */
const soon = 24 * 60 * 60 * 1000;

const tls: Check = {
  id: 'k8s-tls',
  category,
  title: "API server's certificate is trusted",
  severity: 'error',
  needs: ['k8s-reach'],
  run: async ({ kube }, signal) => {
    const connection = await kube.connection();
    const failure = await failureOfVersion(kube);
    if (failure?.kind === 'TlsUntrusted') return untrusted(connection, failure, signal);
    const { server, access, peer } = connection;
    if (server.startsWith('http:')) return pass(`${server} is on this machine and is used without TLS.`);
    const facts = factsOf(peer);
    const shown: readonly Evidence[] = facts ? [evidenceOf(server, facts)] : [];
    if (access.target.skipTlsVerify)
      return warn(`Any certificate is accepted for ${server}: the kubeconfig has insecure-skip-tls-verify.`, {
        evidence: shown,
        fix: {
          kind: 'advice',
          text: 'Put the certificate authority of the cluster into the kubeconfig, and remove insecure-skip-tls-verify.',
        },
      });
    if (facts?.validTo && facts.validTo.getTime() - Date.now() < soon)
      return warn(`The certificate of ${server} expires at ${facts.validTo.toISOString()}.`, {
        evidence: shown,
        fix: { kind: 'advice', text: 'Ask the administrator of the cluster to renew it (kubeadm certs renew all).' },
      });
    return pass(`The certificate of ${server} is trusted.`, ...shown);
  },
};

const evidenceOf = (server: string, facts: NonNullable<ReturnType<typeof factsOf>>): Evidence => ({
  asked: `certificate of ${server}`,
  saw: `${facts.subject}, issued by ${facts.issuer}, valid until ${facts.validTo?.toISOString() ?? 'an unknown date'}`,
});

async function untrusted(connection: KubeConnection, failure: ClusterError, signal: AbortSignal) {
  const { server, access } = connection;
  const facts = await lookAtCertificate(access.target, signal);
  return fail(failure.what, {
    evidence: facts ? [evidenceOf(server, facts)] : [],
    fix: { kind: 'advice', text: failure.hint },
  });
}

/** Milliseconds; AWS and Google reject signatures beyond this skew. */
const mostSkew = 5 * 60 * 1000;

const clock: Check = {
  id: 'k8s-clock',
  category,
  title: 'Your clock agrees with the server',
  severity: 'warning',
  needs: ['k8s-tls'],
  run: async ({ kube }) => {
    const reading = (await kube.connection()).clock;
    if (!reading) return pass('The API server does not report its time, so the clocks are not compared.');
    const { ours, theirs } = reading;
    const skew = ours - theirs;
    const seconds = Math.round(Math.abs(skew) / 1000);
    const evidence = [{ asked: `Date of GET ${versionPath}`, saw: `${shown(theirs)}; here it is ${shown(ours)}` }];
    if (Math.abs(skew) <= mostSkew)
      return pass(seconds <= 1 ? 'The clocks agree.' : `The clocks are ${seconds} s apart.`, ...evidence);
    return warn(
      `Your clock is ${spoken(seconds)} ${skew > 0 ? 'ahead of' : 'behind'} that of the API server. Signatures are rejected if clocks differ by more than five minutes.`,
      { evidence, fix: { kind: 'command', command: 'sudo timedatectl set-ntp true' } },
    );
  },
};

const shown = (time: number): string => new Date(time).toISOString();

const spoken = (seconds: number): string =>
  seconds < 7200 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3600)} hours`;

const whoAmI: Check = {
  id: 'k8s-whoami',
  category,
  title: 'API server recognizes you',
  severity: 'error',
  needs: ['k8s-tls'],
  run: async ({ kube }) => {
    const { username, evidence } = await kube.whoami();
    return pass(username === '' ? 'The API server accepts your credentials.' : `You are ${username}.`, evidence);
  },
};

export const connectionChecks: readonly Check[] = [load, exec, reach, tls, clock, whoAmI];
