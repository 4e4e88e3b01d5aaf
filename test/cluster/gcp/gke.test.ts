import assert from 'node:assert/strict';
import { connectKube } from '#cluster/kube/connectKube.ts';
import { stringAt } from '#shared/fields.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type KubeCluster, sharedCluster } from '../parts/kubeCluster.ts';
import { MetadataStandIn } from '../standIns/metadataStandIn.ts';

const variables = ['PATH', 'GCE_METADATA_HOST', 'CLOUDSDK_CONFIG', 'GOOGLE_APPLICATION_CREDENTIALS'] as const;

suite('A kubeconfig of GKE where its plugin is not installed', function () {
  this.timeout(120_000);
  const before = new Map(variables.map((name) => [name, process.env[name]]));
  let cluster: KubeCluster;
  let metadata: MetadataStandIn;
  suiteSetup(async () => {
    cluster = await sharedCluster();
    metadata = await MetadataStandIn.start();
    process.env['GCE_METADATA_HOST'] = metadata.host;
    delete process.env['GOOGLE_APPLICATION_CREDENTIALS'];
    // Use an empty folder, so that neither the plugin nor gcloud's credentials are found.
    process.env['CLOUDSDK_CONFIG'] = process.env['PATH'] = tempFolder('nothing-');
  });
  suiteTeardown(async () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await metadata.stop();
  });

  /**
   * Returns a kubeconfig that names Google's plugin. This API server accepts its token, as GKE accepts a token of
   * Google.
   */
  const gkeConfig = (): string =>
    cluster.kubeconfig({ token: 'x' }, (config) => {
      const [user] = config.users;
      user!.user = {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1beta1',
          command: 'gke-gcloud-auth-plugin',
          provideClusterInfo: true,
          interactiveMode: 'Never',
        },
      };
    });

  test('signs in by the application-default credentials, and takes a new token when the old one ends', async () => {
    let given = 0;
    const tokens = [await tokenOf(cluster, 'first'), await tokenOf(cluster, 'second')];
    // The token expires so soon that no request may use it.
    metadata.seconds = 30;
    metadata.identity = { email: 'alice@example.com', token: () => tokens[given++] ?? 'none' };
    const hidden = new SecretRedactor();
    const { signal } = new AbortController();
    const auth = { configMethod: 'LOCAL', kubeconfig: gkeConfig() } as const;
    const connection = await connectKube(auth, { hidden, signal });
    try {
      const users: unknown[] = [];
      for (let asked = 0; asked < 2; asked++) {
        const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
        const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
        const { body } = await connection.request({ method: 'POST', path, body: review }, signal);
        users.push(stringAt(body, 'status', 'userInfo', 'username'));
      }
      assert.deepEqual(users, ['system:serviceaccount:default:first', 'system:serviceaccount:default:second']);
      assert.equal(hidden.hide(tokens.join(' ')), '••• •••');
    } finally {
      await connection.close();
    }
  });
});

/** Creates a service account and returns its token. */
async function tokenOf({ api }: KubeCluster, name: string): Promise<string> {
  const namespace = 'default';
  await api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await api.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } });
  return api.token(namespace, name);
}
