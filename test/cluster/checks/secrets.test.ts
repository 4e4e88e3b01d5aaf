import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterProfile } from '#cluster/profile.ts';
import { reportHtml } from '#cluster/report/reportHtml.ts';
import { reportJson } from '#cluster/report/reportJson.ts';
import { reportMarkdown } from '#cluster/report/reportMarkdown.ts';
import { reportTable } from '#cluster/report/reportTable.ts';
import type { CheckEvent, CheckReport } from '#cluster/result.ts';
import { verifyCluster, type VerifyOptions } from '#cluster/verifyCluster.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command } from '../../kernel/support.ts';
import type { Kubeconfig } from '../parts/kubeconfig.ts';
import { soundCluster, type SoundCluster } from '../parts/soundCluster.ts';
import { type EchoOptions, EchoStandIn } from '../standIns/echoStandIn.ts';
import { asAws, asCatalog, asGoogle, asKubernetes, asPage } from '../standIns/echoes.ts';

/** Returns a random secret that has no recognizable form. */
const secret = (): string => randomBytes(30).toString('base64');

/** Returns all output of a run for users and programs, including progress. */
const outputsOf = async (profile: ClusterProfile, options: Partial<VerifyOptions> = {}): Promise<string[]> => {
  const events: CheckEvent[] = [];
  const report: CheckReport = await verifyCluster(profile, {
    signal: AbortSignal.timeout(60_000),
    probe: true,
    observe: (event) => events.push(event),
    ...options,
  });
  const tables = [{}, { short: true }, { colours: true, width: 40 }].map((form) => reportTable(report, form));
  const texts = [...tables, reportJson(report), reportMarkdown(report), reportHtml(report)];
  return [...texts, JSON.stringify(events), JSON.stringify(report)];
};

const around = (text: string, part: string): string => {
  const at = Math.max(0, text.indexOf(part));
  return text.slice(Math.max(0, at - 200), at + 100);
};

/**
 * Asserts that the outputs contain neither a secret nor its start or end, although the server has quoted the secret.
 */
const assertSilent = (outputs: readonly string[], secrets: readonly string[]): void => {
  for (const [index, output] of outputs.entries()) {
    // Remove white space, because a wrapped table could split the secret.
    const text = output.replaceAll(/\s+/g, '');
    for (const each of secrets)
      for (const part of [each, each.slice(0, 12), each.slice(-12), encodeURIComponent(each)])
        assert.ok(!text.includes(part), `output ${index} has a secret: ${around(output, part)}`);
  }
};

suite('No secret is in what a run of the checks gives', function () {
  this.timeout(120_000);
  let cluster: SoundCluster;
  const servers: EchoStandIn[] = [];
  const environment = { ...process.env };
  suiteSetup(async () => (cluster = await soundCluster()));
  teardown(async () => {
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
    const asked = servers.splice(0);
    for (const server of asked) await server.stop();
    assert.ok(
      asked.every(({ quoted }) => quoted > 0),
      'no error quoted a secret: the test asked nothing',
    );
  });

  const start = async (options: EchoOptions): Promise<EchoStandIn> => {
    const server = await EchoStandIn.start(options);
    servers.push(server);
    return server;
  };

  /** @returns the kubeconfig of a token for a Kubernetes API that quotes the token */
  const quotingApi = async (token: string, form: EchoOptions): Promise<string> => {
    const files = cluster.pki.server('echo');
    const tls = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') };
    const { address } = await start({ ...form, tls });
    const change = ({ clusters }: Kubeconfig): void => void (clusters[0]!.cluster['server'] = address);
    return cluster.kubeconfig({ token }, change);
  };

  for (const [what, form] of Object.entries({
    'a missing right': asKubernetes(403),
    'a wrong request': asKubernetes(400),
    'a failure of its own': asKubernetes(500),
    'a token that is not taken': asKubernetes(401),
    'a page of a proxy': asPage,
  })) {
    test(`when a Kubernetes API quotes the token in the error for ${what}`, async () => {
      const token = secret();
      const kubeconfig = await quotingApi(token, form);
      assertSilent(await outputsOf({ ...cluster.profile, auth: { configMethod: 'LOCAL', kubeconfig } }), [token]);
    });
  }

  test('on the command line, in its report and beside it', async () => {
    const token = secret();
    const kubeconfig = await quotingApi(token, asKubernetes(403));
    const outputs: string[] = [];
    for (const form of [[], ['--json'], ['--short'], ['--mend', 'k8s-reach']]) {
      const ran = await command(process.execPath, [cliEntry, 'check', '--kubeconfig', kubeconfig, ...form]);
      assert.notEqual(ran.stdout + ran.stderr, '');
      outputs.push(ran.stdout, ran.stderr);
    }
    assertSilent(outputs, [token]);
  });

  test('when a plugin that gives credentials prints them with its complaints', async () => {
    const token = secret();
    const kubeconfig = cluster.kubeconfig({ token }, ({ users }) => {
      const script = `echo "refused with token: ${token}" >&2; exit 3`;
      const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] };
      users[0]!.user = { exec: { ...exec, interactiveMode: 'Never' } };
    });
    assertSilent(await outputsOf({ ...cluster.profile, auth: { configMethod: 'LOCAL', kubeconfig } }), [token]);
  });

  test('when AWS quotes keys and tokens in its errors', async () => {
    const [own, role] = [secret(), { secretAccessKey: secret(), sessionToken: secret() }];
    const { address } = await start(asAws(role));
    const session = secret();
    process.env['AWS_ENDPOINT_URL'] = address;
    process.env['AWS_ACCESS_KEY_ID'] = 'AKIAPERSONOFTESTS000';
    process.env['AWS_SECRET_ACCESS_KEY'] = own;
    process.env['AWS_SESSION_TOKEN'] = session;
    const outputs = await outputsOf({
      ...cluster.profile,
      storage: { scheme: 's3', bucket: 'tables', prefix: 'geneva' },
      aws: {
        region: 'eu-west-1',
        clusterName: 'test',
        clientRole: 'geneva-client-role',
        serviceRole: undefined,
        account: undefined,
        profile: undefined,
      },
    });
    assertSilent(outputs, [own, session, role.secretAccessKey, role.sessionToken]);
  });

  test('when Google Cloud quotes tokens in its errors', async () => {
    const tokens = { person: secret(), federated: secret() };
    const { address } = await start(asGoogle(tokens));
    const login = { type: 'authorized_user', client_id: 'x', client_secret: secret(), refresh_token: secret() };
    const file = join(tempFolder(), 'credentials.json');
    writeFileSync(file, JSON.stringify(login));
    process.env['GOOGLE_APPLICATION_CREDENTIALS'] = file;
    const apis = ['oauth2', 'container', 'iam', 'iamcredentials', 'sts', 'storage'];
    const google = Object.fromEntries(apis.map((api) => [api, `${address}/${api}`]));
    const gcp = {
      project: 'p',
      location: 'europe-west1',
      clusterName: 'c',
      serviceAccount: 'g@p.iam.gserviceaccount.com',
    };
    const storage = { scheme: 'gs', bucket: 'tables', prefix: '' } as const;
    const outputs = await outputsOf({ ...cluster.profile, storage, gcp }, { endpoints: { google } });
    assertSilent(outputs, [tokens.person, tokens.federated, login.client_secret, login.refresh_token]);
  });

  test('when a catalog quotes its key in its errors', async () => {
    const { address } = await start(asCatalog);
    const apiKey = secret();
    const storage = { scheme: 's3', bucket: 'tables', prefix: '' } as const;
    const profile: ClusterProfile = { ...cluster.profile, storage, catalog: 'company' };
    const config = { implementation: 'rest', uri: address, apiKey } as const;
    assertSilent(await outputsOf(profile, { resolveCatalog: async () => ({ config }) }), [apiKey]);
  });
});
