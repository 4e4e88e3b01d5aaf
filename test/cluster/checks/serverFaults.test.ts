import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { CheckId } from '#cluster/checkIds.ts';
import type { CheckReport } from '#cluster/result.ts';
import { verifyCluster } from '#cluster/verifyCluster.ts';
import { freePorts } from '../../harness/freePorts.ts';
import { tempFolder } from '../../harness/temp.ts';
import type { Kubeconfig } from '../parts/kubeconfig.ts';
import { problemsOf, sentenceOf, wronglyBlocked } from '../parts/outcome.ts';
import { Pki, TokenKey } from '../parts/pki.ts';
import { soundCluster, type SoundCluster } from '../parts/soundCluster.ts';
import { EchoStandIn } from '../standIns/echoStandIn.ts';
import { OtherClockStandIn } from '../standIns/otherClockStandIn.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Asserts that a check fails with a message that matches, and blocks only the checks that need it. */
const assertFails = (report: CheckReport, id: CheckId, sentence: RegExp): void => {
  assert.deepEqual(problemsOf(report), { [id]: 'fail' });
  assert.deepEqual(wronglyBlocked(report), []);
  assert.match(sentenceOf(report, id), sentence);
};

/** Returns claims of the service account's token, as issued by the API server at an address. */
const claims = (issuer: string, ended: boolean) => {
  const now = Math.floor(Date.now() / 1000);
  const [from, to] = ended ? [now - 7200, now - 3600] : [now - 60, now + 3600];
  const about = { namespace: 'geneva', serviceaccount: { name: 'geneva-sa', uid: 'unknown' } };
  const sub = 'system:serviceaccount:geneva:geneva-sa';
  return {
    iss: issuer,
    aud: [issuer],
    sub,
    iat: from,
    nbf: from,
    exp: to,
    'kubernetes.io': about,
  };
};

suite('A fault of the API server, or of the way to it', function () {
  this.timeout(120_000);
  let cluster: SoundCluster;
  suiteSetup(async () => (cluster = await soundCluster()));

  const check = (kubeconfig: string): Promise<CheckReport> =>
    verifyCluster(
      { ...cluster.profile, auth: { configMethod: 'LOCAL', kubeconfig } },
      { signal: AbortSignal.timeout(100_000) },
    );

  /** Writes alice's kubeconfig with a change, such as another address. */
  const alice = (change: (config: Kubeconfig) => void): string => cluster.kubeconfig('alice', change);

  const tlsFiles = (name: string): { cert: string; key: string } => {
    const { cert, key } = cluster.pki.server(name);
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  };

  test('nobody listens', async () => {
    const [port] = await freePorts(1);
    const kubeconfig = alice(({ clusters }) => (clusters[0]!.cluster['server'] = `https://127.0.0.1:${port}`));
    assertFails(await check(kubeconfig), 'k8s-reach', /127\.0\.0\.1:\d+/);
  });

  test('it takes connections and does not answer, until it does', async () => {
    cluster.pause();
    try {
      assertFails(await check(alice(() => undefined)), 'k8s-reach', /127\.0\.0\.1:\d+/);
    } finally {
      cluster.resume();
    }
    assert.deepEqual(problemsOf(await check(alice(() => undefined))), {});
  });

  test('another authority has signed its certificate', async () => {
    const other = new Pki(tempFolder(), 'another-ca');
    const data = base64(other.ca);
    const kubeconfig = alice(({ clusters }) => (clusters[0]!.cluster['certificate-authority-data'] = data));
    assertFails(await check(kubeconfig), 'k8s-tls', /certificate/);
  });

  test('its certificate is for another name', async () => {
    const named = alice(({ clusters }) => (clusters[0]!.cluster['tls-server-name'] = 'production.example'));
    assertFails(await check(named), 'k8s-tls', /for other names/);
  });

  test('a web page answers in its place', async () => {
    const page = {
      status: 200,
      type: 'text/html',
      text: '<html><title>Sign in</title><body>Who are you?</body></html>',
    };
    const server = await EchoStandIn.start({ error: () => page, tls: tlsFiles('page') });
    const kubeconfig = alice(({ clusters }) => (clusters[0]!.cluster['server'] = server.address));
    try {
      assertFails(await check(kubeconfig), 'k8s-reach', /Sign in/);
    } finally {
      await server.stop();
    }
  });

  test('its clock goes wrong, which is a warning and blocks nothing', async () => {
    const real = { address: cluster.address, ca: cluster.pki.ca };
    const server = await OtherClockStandIn.start(real, tlsFiles('clock'), 3_600_000);
    const token = await cluster.api.token('geneva', 'geneva-sa');
    const kubeconfig = cluster.kubeconfig(
      { token },
      ({ clusters }) => (clusters[0]!.cluster['server'] = server.address),
    );
    try {
      const report = await check(kubeconfig);
      assert.equal(problemsOf(report)['k8s-clock'], 'warn');
      assert.match(sentenceOf(report, 'k8s-clock'), /60 minutes behind/);
      assert.deepEqual(wronglyBlocked(report), []);
    } finally {
      await server.stop();
    }
  });

  suite('in front of somebody', () => {
    test('whose token ended an hour ago', async () => {
      const kubeconfig = cluster.kubeconfig({ token: cluster.tokenKey.sign(claims(cluster.address, true)) });
      assertFails(await check(kubeconfig), 'k8s-whoami', /expired|ended/);
    });

    test('whose token comes from another cluster', async () => {
      const other = new TokenKey(tempFolder());
      const kubeconfig = cluster.kubeconfig({ token: other.sign(claims(cluster.address, false)) });
      const report = await check(kubeconfig);
      assertFails(report, 'k8s-whoami', /not|refuse/);
      assert.doesNotMatch(sentenceOf(report, 'k8s-whoami'), /expired/);
    });

    test('whose certificate has ended', async () => {
      const { cert, key } = cluster.pki.client('late', ['devs'], 0);
      const kubeconfig = alice(({ users }) => {
        users[0]!.user = { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
      });
      assertFails(await check(kubeconfig), 'k8s-whoami', /expired|ended/);
    });

    test('who has no right at all: what they may not ask is skipped with the reason', async () => {
      const report = await check(cluster.kubeconfig({ user: 'mallory', groups: [] }));
      assert.deepEqual(wronglyBlocked(report), []);
      const problems = Object.keys(problemsOf(report));
      assert.ok(problems.includes('client-rayclusters-create'), problems.join());
      assert.ok(
        problems.every((id) => id.startsWith('client-')),
        problems.join(),
      );
      const skipped = report.results.find(({ id }) => id === 'ns-exists');
      assert.equal(skipped?.status, 'skipped');
      assert.match(skipped.sentence, /mallory|not allowed|may not/);
    });
  });
});
