import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { connectKube } from '#cluster/kube/connectKube.ts';
import { stringAt } from '#shared/fields.ts';
import { PortForward, Watch } from '#cluster/kube/kubeClient.ts';
import { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { KubeReads } from '#cluster/kube/kubeReads.ts';
import { waitForChange } from '#cluster/kube/waitForChange.ts';
import { accessInCluster } from '#cluster/kubeconfig/inCluster.ts';
import { readProfile } from '#cluster/profiles/profileReader.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { type KubeCluster, sharedCluster } from '../parts/kubeCluster.ts';
import type { Kubeconfig } from '../parts/kubeconfig.ts';
import { until } from '../parts/processes.ts';
import { type Relay, startRelay } from '../parts/relay.ts';

const { signal } = new AbortController();
const apiVersion = 'client.authentication.k8s.io/v1';

const runner = 'system:serviceaccount:connection:runner';
const user = (config: Kubeconfig): Record<string, unknown> => config.users[0]?.user ?? {};
const setUser = (config: Kubeconfig, value: Record<string, unknown>): void => {
  config.users = [{ name: 'test', user: value }];
};
const atServer = (config: Kubeconfig, more: Record<string, unknown>): void => {
  Object.assign(config.clusters[0]?.cluster ?? {}, more);
};

async function whoAmI(connection: KubeConnection, more: { token?: string } = {}): Promise<string | undefined> {
  const { body } = await connection.request(
    {
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      ...more,
    },
    signal,
  );
  return stringAt(body, 'status', 'userInfo', 'username');
}

/** Returns the user name that the checks report for a kubeconfig. */
async function personOf(kubeconfig: string): Promise<string> {
  const reads = new KubeReads(readProfile('test', { kubeconfig }), new SecretRedactor(), signal);
  try {
    return (await reads.whoami()).username;
  } finally {
    await reads.close();
  }
}

suite('A connection to a real API server', function () {
  this.timeout(120_000);
  let cluster: KubeCluster;
  const opened: KubeConnection[] = [];
  suiteSetup(async () => {
    cluster = await sharedCluster();
    await cluster.api.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'connection' } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'runner', namespace: 'connection' } },
    );
  });
  teardown(() => Promise.all(opened.splice(0).map((one) => one.close())));
  suiteTeardown(() => cluster.api.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'connection' } }));

  async function open(kubeconfig: string, hidden = new SecretRedactor()): Promise<KubeConnection> {
    const connection = await connectKube({ configMethod: 'LOCAL', kubeconfig }, { hidden, signal });
    opened.push(connection);
    return connection;
  }

  test('is the person of a certificate, in the kubeconfig or in files beside it', async () => {
    assert.equal(await whoAmI(await open(cluster.kubeconfig('alice'))), 'alice');
    const folder = mkdtempSync(join(cluster.folder, 'files-'));
    const file = cluster.kubeconfig('alice', (config) => {
      const { 'client-certificate-data': cert, 'client-key-data': key } = user(config);
      writeFileSync(join(folder, 'alice.crt'), Buffer.from(String(cert), 'base64'));
      writeFileSync(join(folder, 'alice.key'), Buffer.from(String(key), 'base64'));
      setUser(config, {
        'client-certificate': join(folder, 'alice.crt'),
        'client-key': join(folder, 'alice.key'),
      });
    });
    assert.equal(await whoAmI(await open(file)), 'alice');
  });

  test('is the service account of a token, be it in a file of its own', async () => {
    const token = await cluster.api.token('connection', 'runner');
    assert.equal(await whoAmI(await open(cluster.kubeconfig({ token }))), runner);
    const tokenFile = join(mkdtempSync(join(cluster.folder, 'token-')), 'token');
    writeFileSync(tokenFile, `${token}\n`);
    const file = cluster.kubeconfig('alice', (config) => setUser(config, { tokenFile }));
    assert.equal(await whoAmI(await open(file)), runner);
  });

  test('does not send its certificate with the token of another user', async () => {
    const token = await cluster.api.token('connection', 'runner');
    const connection = await open(cluster.kubeconfig('alice'));
    assert.equal(await whoAmI(connection), 'alice');
    assert.equal(await whoAmI(connection, { token }), runner);
  });

  test('is who a kubeconfig says to be in place of who signs in', async () => {
    const file = cluster.kubeconfig('admin', (config) =>
      setUser(config, { ...user(config), as: 'bob', 'as-groups': ['devs', 'ops'] }),
    );
    assert.equal(await whoAmI(await open(file)), 'bob');
  });

  test('signs in by a program that gives a token, or a certificate', async () => {
    const token = await cluster.api.token('connection', 'runner');
    const { cert, key } = cluster.pki.client('carol', []);
    for (const [status, name] of [
      [{ token }, runner],
      [{ clientCertificateData: cert, clientKeyData: key }, 'carol'],
    ] as const) {
      const said = join(mkdtempSync(join(cluster.folder, 'exec-')), 'said');
      writeFileSync(said, JSON.stringify({ apiVersion, kind: 'ExecCredential', status }));
      const exec = { apiVersion, command: 'cat', args: [said] };
      assert.equal(await whoAmI(await open(cluster.kubeconfig('alice', (config) => setUser(config, { exec })))), name);
    }
  });

  test('is the service account of a pod, by the files that a pod has', async () => {
    const folder = mkdtempSync(join(cluster.folder, 'pod-'));
    writeFileSync(join(folder, 'token'), await cluster.api.token('connection', 'runner'));
    writeFileSync(join(folder, 'ca.crt'), cluster.pki.ca);
    writeFileSync(join(folder, 'namespace'), 'connection');
    const { hostname, port } = new URL(cluster.address);
    const environment = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    const access = await accessInCluster({ hidden: new SecretRedactor(), folder, environment });
    const connection = new KubeConnection(access);
    opened.push(connection);
    assert.equal(await whoAmI(connection), runner);
    assert.equal(access.namespace, 'connection');
  });

  test('reports that this is not a pod, and what is missing in a pod', async () => {
    const hidden = new SecretRedactor();
    await assert.rejects(accessInCluster({ hidden, environment: {} }), {
      kind: 'NotInCluster',
      what: /does not run in a pod/,
    });
    const environment = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '1' };
    await assert.rejects(accessInCluster({ hidden, environment, folder: join(cluster.folder, 'none') }), {
      kind: 'NotInCluster',
      what: /Can't read .*ca\.crt \(ENOENT\)/,
    });
  });

  test('tells a token that is over from one that was never good', async () => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: cluster.address, aud: [cluster.address], sub: runner, iat: now - 7200, nbf: now - 7200 };
    const over = cluster.tokenKey.sign({ ...claims, exp: now - 3600 });
    await assert.rejects(whoAmI(await open(cluster.kubeconfig({ token: over }))), {
      kind: 'CredentialsExpired',
      what: /^The API server rejected the token of the user "test", which expired at \d{4}-/,
    });
    await assert.rejects(whoAmI(await open(cluster.kubeconfig({ token: 'planted-token' }))), {
      kind: 'CredentialsRefused',
      what: 'The API server does not accept the token of the user "test".',
    });
  });

  test('tells who has no credentials from who has the wrong ones', async () => {
    const file = cluster.kubeconfig('alice', (config) => setUser(config, {}));
    await assert.rejects(whoAmI(await open(file)), { kind: 'CredentialsMissing' });
  });

  test('refuses who may not act as the person that the kubeconfig names, since every question would be', async () => {
    const file = cluster.kubeconfig('alice', (config) => setUser(config, { ...user(config), as: 'bob' }));
    await assert.rejects(personOf(file), {
      kind: 'CredentialsRefused',
      what: 'alice is not allowed to impersonate bob, as the kubeconfig requests.',
    });
  });

  test('refuses an address with a path that the server has nothing below', async () => {
    const server = `${cluster.address}/k8s/clusters/c-1`;
    await assert.rejects(personOf(cluster.kubeconfig('alice', (config) => atServer(config, { server }))), {
      kind: 'WrongServer',
      what: 'The API server serves nothing below /k8s/clusters/c-1, which is part of its address.',
    });
  });

  test('says what is forbidden in the words of the server', async () => {
    const connection = await open(cluster.kubeconfig('alice'));
    await assert.rejects(connection.request({ method: 'GET', path: '/api/v1/secrets' }, signal), {
      kind: 'Forbidden',
      status: 403,
      what: /^GET \/api\/v1\/secrets: secrets is forbidden: User "alice" cannot list resource "secrets"/,
    });
  });

  test('checks the name of the certificate, and takes another that the kubeconfig names', async () => {
    const address = cluster.address.replace('127.0.0.1', '127.0.0.2');
    const wrong = cluster.kubeconfig('alice', (config) => atServer(config, { server: address }));
    const attempt = whoAmI(await open(wrong));
    // `Unreachable` is allowed, because on some machines the server listens on 127.0.0.1 only and not at this address.
    await assert.rejects(attempt, (error: { kind?: string }) => /TlsUntrusted|Unreachable/.test(error.kind ?? ''));
    const named = cluster.kubeconfig('alice', (config) => atServer(config, { 'tls-server-name': 'localhost' }));
    assert.equal(await whoAmI(await open(named)), 'alice');
    const other = cluster.kubeconfig('alice', (config) => atServer(config, { 'tls-server-name': 'elsewhere' }));
    await assert.rejects(whoAmI(await open(other)), {
      kind: 'TlsUntrusted',
      what: /its certificate is for other names: .*localhost/,
    });
  });

  suite('through something that counts', () => {
    let relay: Relay;
    setup(async () => (relay = await startRelay(cluster.address)));
    teardown(() => relay.stop());

    test('keeps a few connections for all that it asks, and closes them', async () => {
      const file = cluster.kubeconfig('alice', (config) => atServer(config, { server: relay.address }));
      const connection = await open(file);
      for (let round = 0; round < 4; round++)
        await Promise.all(
          Array.from({ length: 10 }, () => connection.request({ method: 'GET', path: '/version' }, signal)),
        );
      assert.ok(relay.connections() <= 4, `${relay.connections()} connections for 40 requests`);
      await connection.close();
      await relay.untilIdle();
      await assert.rejects(connection.request({ method: 'GET', path: '/version' }, signal), { kind: 'Aborted' });
    });

    for (const [name, addressOf] of [
      ['HTTP', (one: Relay) => one.proxyAddress],
      ['SOCKS', (one: Relay) => one.socksAddress],
    ] as const)
      test(`goes by the proxy that the kubeconfig names, of ${name}`, async () => {
        const proxy = { 'proxy-url': addressOf(relay) };
        assert.equal(
          await whoAmI(await open(cluster.kubeconfig('alice', (config) => atServer(config, proxy)))),
          'alice',
        );
        assert.equal(relay.tunnels(), 1);
      });
  });

  suite('through the Kubernetes client', () => {
    test('watches objects as the same person, over the connections of the run', async () => {
      const connection = await open(cluster.kubeconfig('admin'));
      const watch = new Watch(await connection.kubeConfig(signal));
      const seen = await new Promise<string>((resolve, reject) => {
        watch
          .watch(
            '/api/v1/namespaces/connection/serviceaccounts',
            {},
            (type: string, object: unknown) => resolve(`${type} ${stringAt(object, 'metadata', 'name')}`),
            reject,
          )
          .catch(reject);
      });
      assert.equal(seen, 'ADDED runner');
    });

    test('waits for a change of an object by a watch', async () => {
      const connection = await open(cluster.kubeconfig('admin'));
      const path = '/api/v1/namespaces/connection/serviceaccounts/runner';
      const { body } = await connection.request({ method: 'GET', path }, signal);
      const mark = cluster.audit.mark();
      const changed = waitForChange(connection, path, body, signal);
      await cluster.api.merge(
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'runner', namespace: 'connection' } },
        { metadata: { annotations: { round: String(Date.now()) } } },
      );
      await changed;
      // Wait for the log, because the server logs a watch only when the watch ends.
      await until('The watch in the log', async () => cluster.audit.since(mark).some(({ verb }) => verb === 'watch'));
    });

    test('opens web sockets as the same person', async () => {
      const file = cluster.kubeconfig('alice');
      const connection = await open(file);
      const forward = new PortForward(await connection.kubeConfig(signal));
      const mark = cluster.audit.mark();
      // No pods run in this cluster, so the server refuses the web socket. The log shows which user has sent the
      // request.
      await assert.rejects(async () => {
        await forward.portForward('connection', 'head', [8265], new PassThrough(), null, new PassThrough());
      });
      const asked = () => cluster.audit.since(mark).find(({ uri }) => uri.includes('/pods/head/portforward'));
      await until('The socket in the log', async () => asked() !== undefined);
      assert.equal(asked()?.user, 'alice');
    });
  });
});
