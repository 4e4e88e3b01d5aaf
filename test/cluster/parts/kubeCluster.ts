import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../harness/freePorts.ts';
import { apiServerProgram, etcdProgram } from '../../harness/needs/kubeNeeds.ts';
import { tempFolder } from '../../harness/temp.ts';
import { AuditLog, auditPolicy } from './auditLog.ts';
import { KubeApi } from './kubeApi.ts';
import { type Kubeconfig, kubeconfigFor, type Person } from './kubeconfig.ts';
import { Pki, TokenKey } from './pki.ts';
import { type Running, startServer, until } from './processes.ts';

export type KubeClusterOptions = {
  /** Additional arguments of the API server, for example for an authentication webhook. */
  readonly extraArgs?: readonly string[];
};

/** A real Kubernetes API: etcd and the API server, without anything that runs pods. */
export type KubeCluster = {
  /** The address, such as `https://127.0.0.1:40123`, also the issuer of service account tokens. */
  readonly address: string;
  readonly folder: string;
  readonly pki: Pki;
  readonly tokenKey: TokenKey;
  /** The administrator's client for the setup of tests. */
  readonly api: KubeApi;
  readonly audit: AuditLog;
  /** Writes the kubeconfig of a user, changed by `change`. @returns its path */
  kubeconfig(person: Person, change?: (config: Kubeconfig) => void): string;
  /** Pauses the API server, which then accepts connections but does not respond. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
};

/**
 * Starts a cluster in a few seconds. It ends with this process at the latest. @throws Error with the errors of its
 * servers
 */
export async function startKubeCluster(options: KubeClusterOptions = {}): Promise<KubeCluster> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(options);
    } catch (error) {
      // Try again if another process has taken the port meanwhile.
      if (attempt === 3 || !/address already in use/.test(String(error))) throw error;
    }
  }
}

let shared: Promise<KubeCluster> | undefined;

/** Returns the cluster that all tests of this process share. A test that changes it must restore it. */
export function sharedCluster(): Promise<KubeCluster> {
  shared ??= startKubeCluster();
  return shared;
}

async function start({ extraArgs = [] }: KubeClusterOptions): Promise<KubeCluster> {
  const folder = tempFolder('kube-');
  const [client = 0, peer = 0, secure = 0] = await freePorts(3);
  const pkiFolder = join(folder, 'pki');
  mkdirSync(pkiFolder, { mode: 0o700 });
  const pki = new Pki(pkiFolder);
  const tokenKey = new TokenKey(pkiFolder);
  const admin = pki.client('admin', ['system:masters']);
  const etcd = startEtcd(folder, client, peer);
  const address = `https://127.0.0.1:${secure}`;
  const server = startApiServer({ folder, pki, tokenKey, etcd: client, port: secure, extraArgs });
  const api = new KubeApi(address, pki.ca, admin);
  const running: readonly Running[] = [server, etcd];
  const stop = async (): Promise<void> => {
    await api.close();
    for (const one of running) await one.stop();
  };
  try {
    await until('A Kubernetes API that is ready', () => isReady(api), {
      giveUp: () => running.some((one) => one.isOver()),
      told: () => running.map((one) => one.said()).join('\n'),
    });
  } catch (error) {
    await stop();
    throw error;
  }
  let files = 0;
  return {
    address,
    folder,
    pki,
    tokenKey,
    api,
    audit: new AuditLog(join(folder, 'audit.log')),
    kubeconfig: (person, change) => {
      const config = kubeconfigFor(person === 'admin' ? admin : person, { address, pki });
      change?.(config);
      const path = join(folder, `${++files}.kubeconfig`);
      writeFileSync(path, JSON.stringify(config, null, 2), { mode: 0o600 });
      return path;
    },
    pause: () => void server.child.kill('SIGSTOP'),
    resume: () => void server.child.kill('SIGCONT'),
    stop,
  };
}

async function isReady(api: KubeApi): Promise<boolean> {
  try {
    return (await api.ask('GET', '/readyz')) === 'ok';
  } catch {
    return false;
  }
}

function startEtcd(folder: string, client: number, peer: number): Running {
  const program = etcdProgram();
  if (program === undefined) throw new Error('There is no etcd: run "npm run test:cluster", which fetches it.');
  const [clients, peers] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  const args = {
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': clients,
    'advertise-client-urls': clients,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `default=${peers}`,
    'log-level': 'error',
  };
  // The data need not survive a crash of the machine.
  return startServer(program, [...flags(args), '--unsafe-no-fsync'], join(folder, 'etcd.log'));
}

function startApiServer(parts: {
  folder: string;
  pki: Pki;
  tokenKey: TokenKey;
  etcd: number;
  port: number;
  extraArgs: readonly string[];
}): Running {
  const { folder, pki, tokenKey, port } = parts;
  const { cert, key } = pki.server('kube-apiserver', 'IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc');
  const policy = join(folder, 'audit-policy.json');
  writeFileSync(policy, JSON.stringify(auditPolicy));
  const issuer = `https://127.0.0.1:${port}`;
  const args = {
    'etcd-servers': `http://127.0.0.1:${parts.etcd}`,
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'secure-port': String(port),
    'tls-cert-file': cert,
    'tls-private-key-file': key,
    'client-ca-file': pki.caFile,
    'service-account-key-file': tokenKey.publicFile,
    'service-account-signing-key-file': tokenKey.privateFile,
    'service-account-issuer': issuer,
    'api-audiences': `${issuer},sts.amazonaws.com`,
    'authorization-mode': 'RBAC',
    'anonymous-auth': 'false',
    'service-cluster-ip-range': '10.0.0.0/24',
    // These plugins need the controller manager, because it creates default service accounts and removes taints. No
    // controller manager runs here.
    'disable-admission-plugins': 'ServiceAccount,TaintNodesByCondition',
    'audit-policy-file': policy,
    'audit-log-path': join(folder, 'audit.log'),
  };
  return startServer(apiServerProgram(), [...flags(args), ...parts.extraArgs], join(folder, 'apiserver.log'));
}

const flags = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).map(([name, value]) => `--${name}=${value}`);
