import assert from 'node:assert/strict';
import { chmodSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { isRunning } from '../../../harness/running.ts';
import { connectBy, kubeconfigText, written } from '../kubeconfigs.ts';

const apiVersion = 'client.authentication.k8s.io/v1';
const printing = (value: unknown): string => `process.stdout.write(${JSON.stringify(JSON.stringify(value))})`;
const credential = (status: unknown): unknown => ({ apiVersion, kind: 'ExecCredential', status });

type Exec = Readonly<Record<string, unknown>>;

/** Signs in with a program in a real process, as a kubeconfig names it. */
async function signIn(exec: Exec, { pluginLimit = 20_000, hidden = new SecretRedactor() } = {}) {
  const file = written(kubeconfigText({ user: { exec: { apiVersion, ...exec } } }));
  const connection = await connectBy(file, { pluginLimit, hidden });
  return connection.access.credential(new AbortController().signal);
}

/** Returns a program that is Node with a line of code. */
const running = (code: string): Exec => ({ command: process.execPath, args: ['-e', code] });

const nowhere = [{ name: 'PATH', value: join('/', 'nowhere') }];

/** Returns the token that the check creates itself if the program is not on PATH. */
async function replacementOf(exec: Exec) {
  const user = { exec: { apiVersion, env: nowhere, ...exec } };
  return (await connectBy(written(kubeconfigText({ user })))).access.plugin;
}

suite('A program that a kubeconfig signs in by', function () {
  this.timeout(30_000);

  test('gives a token, which is put out of sight', async () => {
    const hidden = new SecretRedactor();
    const expirationTimestamp = new Date(Date.now() + 3_600_000).toISOString();
    const code = printing(credential({ token: 'planted-token', expirationTimestamp }));
    const { token, expiresAt } = await signIn(running(code), { hidden });
    assert.deepEqual([token, expiresAt?.toISOString()], ['planted-token', expirationTimestamp]);
    assert.equal(hidden.hide('planted-token'), '•••');
  });

  test('gets its arguments unchanged, its environment, the cluster if requested, and that it can not prompt', async () => {
    const code = `const { cluster, interactive } = JSON.parse(process.env.KUBERNETES_EXEC_INFO).spec;
      const token = [process.argv[1], process.env.TEAM, cluster.server, interactive].join(' ');
      console.log(JSON.stringify({ apiVersion: ${JSON.stringify(apiVersion)}, kind: 'ExecCredential', status: { token } }));`;
    const { token } = await signIn({
      command: process.execPath,
      args: ['-e', code, '$(id); `id`'],
      env: [{ name: 'TEAM', value: 'data' }],
      provideClusterInfo: true,
    });
    assert.equal(token, '$(id); `id` data https://127.0.0.1:1 false');
  });

  test('is run once for many requests, and again when what it gave nears its end', async () => {
    const counter = written('');
    const code = (seconds: number): string => `require('fs').appendFileSync(${JSON.stringify(counter)}, 'x');
      const expirationTimestamp = new Date(Date.now() + ${seconds} * 1000).toISOString();
      console.log(JSON.stringify({ apiVersion: ${JSON.stringify(apiVersion)}, kind: 'ExecCredential', status: { token: 't', expirationTimestamp } }));`;
    const runs = async (seconds: number): Promise<number> => {
      const before = readFileSync(counter, 'utf8').length;
      const file = written(kubeconfigText({ user: { exec: { apiVersion, ...running(code(seconds)) } } }));
      const { access } = await connectBy(file);
      const { signal } = new AbortController();
      await Promise.all([access.credential(signal), access.credential(signal)]);
      await access.credential(signal);
      return readFileSync(counter, 'utf8').length - before;
    };
    assert.deepEqual([await runs(3600), await runs(30)], [1, 2]);
  });

  test('is looked for beside the kubeconfig when it is named by a path', async () => {
    const file = written(kubeconfigText({ user: { exec: { apiVersion, command: './sign-in' } } }));
    const script = written(
      `#!${process.execPath}\n${printing(credential({ token: 'beside' }))}`,
      'sign-in',
      dirname(file),
    );
    chmodSync(script, 0o755);
    const { access } = await connectBy(file);
    assert.equal((await access.credential(new AbortController().signal)).token, 'beside');
  });

  test('that is missing is named with the PATH where it was looked for and what the kubeconfig says to do', async () => {
    const exec = {
      command: 'sign-in-9',
      env: [{ name: 'PATH', value: '/nowhere' }],
      installHint: 'Get it from\n the team.',
    };
    await assert.rejects(signIn(exec), {
      kind: 'ExecPluginMissing',
      what: 'The kubeconfig uses the credential plugin "sign-in-9", which is not on the PATH of this process: /nowhere.',
      hint: /An editor that was not started from a terminal may have another PATH.* The kubeconfig says: Get it from the team\./,
    });
  });

  test('that is missing at its path is called that', async () => {
    await assert.rejects(signIn({ command: '/nowhere/sign-in' }), {
      kind: 'ExecPluginMissing',
      what: /the credential plugin "\/nowhere\/sign-in", which does not exist or can't be run/,
    });
  });

  test('that hangs is killed with what it started', async () => {
    const pids = written('');
    const code = `const { spawn } = require('child_process');
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
      require('fs').writeFileSync(${JSON.stringify(pids)}, process.pid + ' ' + child.pid);
      console.error('Waiting for you to sign in');
      setInterval(() => {}, 1000);`;
    await assert.rejects(signIn(running(code), { pluginLimit: 3_000 }), {
      kind: 'ExecPluginTimeout',
      what: /did not finish within 3 s/,
      hint: /it may wait for you to sign in/,
    });
    const started = readFileSync(pids, 'utf8').split(' ').map(Number);
    for (const pid of started.filter((one) => one > 0)) {
      const end = Date.now() + 10_000;
      while (isRunning(pid) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(isRunning(pid), false, `${pid}`);
    }
  });

  test('is done when it has ended, whatever it left running', async () => {
    const pid = written('');
    const code = `const { spawn } = require('child_process');
      const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20000)'], { stdio: 'inherit' });
      require('fs').writeFileSync(${JSON.stringify(pid)}, String(child.pid));
      child.unref();
      ${printing(credential({ token: 'early' }))}`;
    try {
      assert.equal((await signIn(running(code), { pluginLimit: 15_000 })).token, 'early');
    } finally {
      process.kill(Number(readFileSync(pid, 'utf8')));
    }
  });

  test('is killed when the run is stopped', async () => {
    const file = written(kubeconfigText({ user: { exec: { apiVersion, ...running('setInterval(() => {}, 1000)') } } }));
    const { access } = await connectBy(file);
    const controller = new AbortController();
    const signing = access.credential(controller.signal);
    controller.abort();
    await assert.rejects(signing, { kind: 'Aborted' });
  });

  const failures: readonly (readonly [name: string, code: string, kind: string, message: RegExp])[] = [
    [
      'fails',
      'console.error("first\\nno network\\n"); process.exit(3)',
      'ExecPluginFailed',
      /failed with status 3: no network\. Run it/,
    ],
    ['fails without a word', 'process.exit(1)', 'ExecPluginFailed', /failed with status 1 and printed no message\./],
    [
      'is ended by a signal',
      'process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)',
      'ExecPluginFailed',
      /was ended by SIGTERM/,
    ],
    ['prints nothing', '', 'ExecPluginFailed', /printed nothing\./],
    ['prints garbage', 'console.log("planted-token")', 'ExecPluginFailed', /printed 14 characters that are not JSON\./],
    [
      'prints other JSON',
      'console.log("{\\"kind\\":\\"Pod\\"}")',
      'ExecPluginFailed',
      /JSON that is not an ExecCredential/,
    ],
    [
      'prints another version',
      printing({ apiVersion: 'x/v9', kind: 'ExecCredential' }),
      'ExecPluginFailed',
      /another version/,
    ],
    ['prints no credential', printing(credential({})), 'ExecPluginFailed', /neither a token nor a certificate/],
    ['prints half a pair', printing(credential({ clientCertificateData: 'x' })), 'ExecPluginFailed', /without its key/],
    [
      'prints without an end',
      'for (;;) require("fs").writeSync(1, "x".repeat(65536))',
      'ExecPluginFailed',
      /too much output for a credential/,
    ],
    [
      'prints what is over',
      printing(credential({ token: 'planted-token', expirationTimestamp: '2020-01-01T00:00:00Z' })),
      'CredentialsExpired',
      /expired at 2020-01-01/,
    ],
    [
      'wants somebody to sign in to AWS again',
      'console.error("Error loading SSO Token: Token for work does not exist"); process.exit(255)',
      'CredentialsExpired',
      /aws sso login/,
    ],
    [
      'wants somebody to sign in to Google again',
      'console.error("Please run: gcloud auth login"); process.exit(1)',
      'CredentialsExpired',
      /Sign in again with `gcloud auth login`/,
    ],
  ];
  for (const [name, code, kind, message] of failures)
    test(`that ${name} is told in one sentence, without what it printed`, () =>
      assert.rejects(signIn(running(code)), (error: Error & { kind?: string }) => {
        assert.equal(error.kind, kind);
        assert.match(error.message, message);
        assert.ok(!error.message.includes('planted'));
        return true;
      }));

  test('that cannot be started is distinguished from a missing one', async () => {
    const script = written('#!/nowhere/interpreter\n', 'sign-in');
    chmodSync(script, 0o755);
    await assert.rejects(signIn({ command: script }), {
      kind: 'ExecPluginFailed',
      what: /Can't start the credential plugin/,
    });
  });

  test('of EKS or GKE is not needed: what it does is done without it', async () => {
    const eks = ['--region', 'us-east-1', 'eks', 'get-token', '--cluster-name', 'ml', '--output', 'json'];
    assert.deepEqual(await replacementOf({ command: 'aws', args: eks }), {
      command: 'aws',
      program: undefined,
      replacedBy: 'AWS',
    });
    assert.equal((await replacementOf({ command: 'gke-gcloud-auth-plugin' }))?.replacedBy, 'Google Cloud');
    assert.equal((await replacementOf({ command: 'aws', args: ['sso', 'something'] }))?.replacedBy, undefined);
  });
});
