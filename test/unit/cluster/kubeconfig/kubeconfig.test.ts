import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { chooseContext } from '#cluster/kubeconfig/chooseContext.ts';
import { loadKubeconfig } from '#cluster/kubeconfig/loadKubeconfig.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { connectBy, kubeconfigText, type Parts, written } from '../kubeconfigs.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

suite('A kubeconfig', () => {
  test('that is not there is named, with where to get one', async () => {
    const file = join(tempFolder(), 'none');
    await assert.rejects(connectBy(file), {
      kind: 'KubeconfigMissing',
      what: `The kubeconfig ${file} does not exist.`,
      hint: /aws eks update-kubeconfig/,
    });
  });

  const files: readonly (readonly [name: string, text: string, kind: string, what: RegExp])[] = [
    ['that is empty', ' \n', 'KubeconfigInvalid', /is empty\.$/],
    [
      'that is no YAML is named with the line',
      'clusters:\n- name: a\n b: [\n',
      'KubeconfigInvalid',
      /config:3 is not valid YAML: /,
    ],
    ['of nothing but a text', 'hello', 'KubeconfigInvalid', /contains no settings/],
    [
      'that is another kind of object',
      'kind: Pod\nspec: {}',
      'KubeconfigInvalid',
      /is not a kubeconfig: its kind is "Pod"/,
    ],
    [
      'without a current context',
      '{clusters: [], contexts: [{name: a}, {name: b}]}',
      'ContextMissing',
      /no current context/,
    ],
    [
      'whose current context is not in it',
      '{current-context: x}',
      'ContextMissing',
      /current context "x" does not exist in the kubeconfig/,
    ],
    [
      'whose contexts are no list',
      '{contexts: {a: b}}',
      'KubeconfigInvalid',
      /"contexts" of the kubeconfig .* is not a list/,
    ],
    [
      'with a cluster without a name',
      '{clusters: [{cluster: {}}]}',
      'KubeconfigInvalid',
      /clusters\[0\] .* has no name/,
    ],
    [
      'whose context names a cluster that is not in it',
      '{current-context: a, contexts: [{name: a, context: {cluster: gone}}]}',
      'KubeconfigInvalid',
      /context "a" names the cluster "gone", which does not exist in/,
    ],
    [
      'whose context names a user that is not in it',
      '{current-context: a, contexts: [{name: a, context: {cluster: c, user: gone}}], clusters: [{name: c}]}',
      'KubeconfigInvalid',
      /context "a" names the user "gone"/,
    ],
    [
      'whose context names no cluster',
      '{current-context: a, contexts: [{name: a, context: {}}]}',
      'KubeconfigInvalid',
      /context "a" .* does not name a cluster/,
    ],
  ];
  for (const [name, text, kind, what] of files)
    test(`${name} is refused in one sentence`, () => assert.rejects(connectBy(written(text)), { kind, what }));

  test('that is a directory is called one', async () => {
    await assert.rejects(connectBy(tempFolder()), { kind: 'KubeconfigUnreadable', what: /is a directory\.$/ });
  });

  test('that is a pipe is refused immediately, because it may never be written to', async function () {
    if (process.platform === 'win32') this.skip();
    const pipe = join(tempFolder(), 'config');
    execFileSync('mkfifo', [pipe]);
    await assert.rejects(connectBy(pipe), {
      kind: 'KubeconfigUnreadable',
      what: `The kubeconfig ${pipe} is a pipe or a device.`,
    });
  });

  test('that may not be read is called that', async function () {
    // The user root may read every file.
    if (process.getuid?.() === 0) {
      const file = join('/proc', 'self', 'mem');
      await assert.rejects(connectBy(file), { kind: 'KubeconfigUnreadable', what: /Can't read the kubeconfig/ });
      return;
    }
    const file = written(kubeconfigText());
    chmodSync(file, 0);
    await assert.rejects(connectBy(file), { kind: 'KubeconfigUnreadable', what: /Can't read .*: permission denied/ });
  });

  test('without the context that is wanted lists those there are', async () => {
    const file = written('{current-context: a, contexts: [{name: a}, {name: b}]}');
    await assert.rejects(connectBy(file, { context: 'prod' }), {
      kind: 'ContextMissing',
      what: `The context "prod" does not exist in the kubeconfig ${file}.`,
      hint: 'Its contexts are a, b.',
    });
  });

  const fields: readonly (readonly [name: string, parts: Parts, what: RegExp])[] = [
    ['a server that is no address', { server: 'cluster.example.com' }, /server of the cluster "test" .* https:\/\/\.$/],
    ['a server without TLS elsewhere', { server: 'http://10.0.0.1' }, /sent unencrypted/],
    ['a server with a password in it', { server: 'https://a:planted@10.0.0.1' }, /contains a user name or password/],
    ['no server', { server: null }, /server of the cluster "test" .* is missing/],
    [
      'an authority that is no base64',
      { cluster: { 'certificate-authority-data': '&%' } },
      /certificate-authority-data .* is not valid base64/,
    ],
    [
      'an authority that is no PEM',
      { cluster: { 'certificate-authority-data': base64('x') } },
      /does not contain PEM data/,
    ],
    [
      'an authority that is PEM of something else',
      {
        cluster: {
          'certificate-authority-data': base64('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'),
        },
      },
      /certificate-authority of the cluster "test" .* does not contain a certificate/,
    ],
    [
      'an authority in a file that is not there',
      { cluster: { 'certificate-authority': 'ca.crt' } },
      /names .*ca\.crt, which does not exist/,
    ],
    [
      'a certificate without its key',
      { user: { 'client-certificate-data': base64('-----BEGIN X') } },
      /client-key of the user "test" .* is missing/,
    ],
    ['a proxy that is no address', { cluster: { 'proxy-url': 'bastion:1080' } }, /proxy-url of the cluster "test"/],
    ['a flag that is a text', { cluster: { 'insecure-skip-tls-verify': 'yes' } }, /neither true nor false/],
    ['a token that is a number', { user: { token: 5 } }, /token of the user "test" .* is not a string/],
    ['a token of two lines', { user: { token: 'planted\nplanted' } }, /token of the user "test" .* a line break/],
    [
      'a program without a name',
      { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1' } } },
      /exec\.command .* is missing/,
    ],
    [
      'a program of long ago',
      { user: { exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1alpha1' } } },
      /too old/,
    ],
    ['groups to be without a person', { user: { 'as-groups': ['admins'] } }, /as of the user "test" .* is missing/],
  ];
  for (const [name, parts, what] of fields)
    test(`with ${name} is refused in one sentence`, () =>
      assert.rejects(connectBy(written(kubeconfigText(parts))), (error: Error & { kind?: string; what?: string }) => {
        assert.equal(error.kind, 'KubeconfigInvalid');
        assert.match(error.what ?? '', what);
        assert.ok(!error.message.includes('planted'));
        return true;
      }));

  test('with a mistake in what is not used is good', async () => {
    const config = JSON.parse(kubeconfigText()) as { clusters: unknown[] };
    config.clusters.push({ name: 'other', cluster: { server: 5 } });
    const connection = await connectBy(written(JSON.stringify(config)));
    assert.equal(connection.server, 'https://127.0.0.1:1');
  });

  test('has its secrets put out of sight before they are used', async () => {
    const hidden = new SecretRedactor();
    await connectBy(written(kubeconfigText({ user: { token: 'planted-token' } })), { hidden });
    await connectBy(written(kubeconfigText({ user: { username: 'a', password: 'planted-password' } })), { hidden });
    assert.equal(hidden.hide('planted-token planted-password'), '••• •••');
  });

  test('has paths from where it is', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'tokens'));
    writeFileSync(join(folder, 'tokens', 'mine'), 'first\n');
    const file = written(kubeconfigText({ user: { tokenFile: 'tokens/mine' } }), 'config', folder);
    const { access } = await connectBy(file);
    assert.equal((await access.credential(new AbortController().signal)).token, 'first');
  });

  test('says who to be in place of who signs in', async () => {
    const user = { token: 'planted-token', as: 'alice', 'as-groups': ['devs'] };
    const { access } = await connectBy(written(kubeconfigText({ user })));
    assert.deepEqual(access.impersonation, { user: 'alice', groups: ['devs'] });
  });

  test('that signs in by a provider of long ago says by what to replace it', async () => {
    const user = { 'auth-provider': { name: 'gcp', config: {} } };
    await assert.rejects(connectBy(written(kubeconfigText({ user }))), {
      kind: 'ExecPluginMissing',
      what: /auth-provider "gcp", which is not supported/,
      hint: /gke-gcloud-auth-plugin/,
    });
  });
});

suite('The files that a kubeconfig is read from', () => {
  const home = tempFolder('home-');

  test('are those of KUBECONFIG, of which the first that says something counts', async () => {
    const first = written(
      '{contexts: [{name: a, context: {cluster: c}}], clusters: [{name: c, cluster: {server: one}}]}',
    );
    const second = written(
      '{current-context: a, contexts: [{name: a}, {name: b}], clusters: [{name: c, cluster: {server: two}}]}',
    );
    const missing = join(dirname(first), 'none');
    const KUBECONFIG = [missing, first, second].join(delimiter);
    const config = await loadKubeconfig({ environment: { KUBECONFIG }, home });
    assert.deepEqual(
      config.contexts.map(({ name }) => name),
      ['a', 'b'],
    );
    assert.equal(chooseContext(config).cluster.value['server'], 'one');
    assert.equal(config.label, `${first}, ${second}`);
  });

  test('are reported if KUBECONFIG names no existing file', async () => {
    const KUBECONFIG = [join(home, 'x'), '/none/y'].join(delimiter);
    await assert.rejects(loadKubeconfig({ environment: { KUBECONFIG }, home }), {
      kind: 'KubeconfigMissing',
      what: 'KUBECONFIG names no existing file: ~/x, /none/y.',
    });
  });

  test('are the usual one where nothing is set, and it is named when it is missing', async () => {
    await assert.rejects(loadKubeconfig({ environment: {}, home }), {
      kind: 'KubeconfigMissing',
      what: 'No kubeconfig was found: KUBECONFIG is not set, and ~/.kube/config does not exist.',
    });
    mkdirSync(join(home, '.kube'));
    written(kubeconfigText(), 'config', join(home, '.kube'));
    assert.equal((await loadKubeconfig({ environment: {}, home })).label, '~/.kube/config');
  });
});
