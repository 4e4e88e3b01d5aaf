import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chainKeys } from '#cluster/aws/awsKeys.ts';
import { isClusterError } from '#cluster/errors.ts';
import { connectKube } from '#cluster/kube/connectKube.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { findProfiles } from '#cluster/profiles/findProfiles.ts';
import { confirmPrograms, trustPrograms } from '#cluster/profiles/signInPrograms.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { launchProblem } from '#jobs/service/launchChecks.ts';
import { withRay } from '#jobs/runners/ray/openRay.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { ClonedRepository } from '../clonedRepository.ts';
import { kubeconfigText, written } from '../kubeconfigs.ts';

const { signal } = new AbortController();
const variables = ['XDG_DATA_HOME', 'AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE'] as const;

const profileOf = async ({ folder }: ClonedRepository, settings?: string): Promise<ClusterProfile> =>
  (await findProfiles({ folder, environment: {}, settings })).profile('prod');

/** Signs in to the cluster, as each request does. */
async function signIn({ auth }: ClusterProfile): Promise<string | undefined> {
  const connection = await connectKube(auth, { hidden: new SecretRedactor(), signal });
  try {
    return (await connection.access.credential(signal)).token;
  } finally {
    await connection.close();
  }
}

const isRefused = (error: unknown): boolean => isClusterError(error) && error.kind === 'ProgramNotTrusted';

suite('A program of settings that were only found', function () {
  this.timeout(30_000);
  const before = variables.map((name) => [name, process.env[name]] as const);
  let repository: ClonedRepository;
  let home: string;
  /** The prompts so far. */
  let asked: string[];
  const answer = (isYes: boolean) => (question: string) => {
    asked.push(question);
    return Promise.resolve(isYes);
  };
  setup(() => {
    asked = [];
    home = tempFolder();
    process.env['XDG_DATA_HOME'] = home;
    repository = new ClonedRepository();
  });
  teardown(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  test('does not run before it was accepted, and the error names the file, the program and --trust', async () => {
    const profile = await profileOf(repository);
    await assert.rejects(signIn(profile), (error: Error) => {
      for (const part of [repository.settings, `${repository.program} token`, 'check --profile prod --trust'])
        assert.ok(error.message.includes(part), `${part} is not in: ${error.message}`);
      return isRefused(error);
    });
    assert.equal(repository.takeRan(), false);
  });

  test('covers a token file, which can be any file of the user and goes to a server of the repository', async () => {
    const secret = written('the-token-of-another-service', 'vault-token');
    const server = 'https://collector.example.com';
    const write = (more = {}): void =>
      writeFileSync(repository.kubeconfig, kubeconfigText({ server, user: { tokenFile: secret }, ...more }));
    write();
    const profile = await profileOf(repository);
    await assert.rejects(signIn(profile), (error: Error) => {
      for (const part of [repository.settings, secret, server, 'check --profile prod --trust'])
        assert.ok(error.message.includes(part), `${part} is not in: ${error.message}`);
      return isRefused(error);
    });
    await assert.rejects(
      confirmPrograms(profile, answer(false)),
      /token file .* was not accepted\. Nothing was sent\.$/,
    );
    await confirmPrograms(profile, answer(true));
    await confirmPrograms(profile, answer(false));
    assert.equal(await signIn(profile), 'the-token-of-another-service');
    assert.equal(asked.length, 2);
    for (const part of [repository.settings, secret, server, repository.kubeconfig, 'sends the content of a file'])
      assert.ok(asked[1]!.includes(part), `${part} is not in: ${asked[1]}`);
    // If the server changes, the earlier consent must not count.
    write({ server: 'https://other.example.com' });
    await assert.rejects(signIn(profile), isRefused);
    writeFileSync(secret, 'renewed');
    write();
    assert.equal(await signIn(profile), 'renewed');
    // A profile that the user named needs no consent.
    const { foundIn: _, ...auth } = (await profileOf(repository)).auth;
    write({ server: 'https://third.example.com' });
    assert.equal(await signIn({ ...profile, auth }), 'renewed');
  });

  test('runs after a yes, which is asked for once and kept in a file of the user', async () => {
    repository.writeKubeconfig({ env: [{ name: 'TEAM', value: 'data\u202e' }] });
    const profile = await profileOf(repository);
    await confirmPrograms(profile, answer(true));
    await confirmPrograms(await profileOf(repository), answer(false));
    assert.equal(await signIn(profile), 't');
    assert.equal(repository.takeRan(), true);
    assert.equal(asked.length, 1);
    for (const part of [
      repository.settings,
      `${repository.program} token`,
      'TEAM=data\\u{202e}',
      repository.kubeconfig,
    ])
      assert.ok(asked[0]?.includes(part), `${part} is not in: ${asked[0]}`);
    const folder = join(home, 'lance-catalog', 'trusted-programs');
    const files = readdirSync(folder);
    assert.equal(files.length, 1);
    if (process.platform !== 'win32') assert.equal(statSync(join(folder, String(files[0]))).mode & 0o777, 0o600);
  });

  test('does not run if the user declines or can not be prompted, and prompts again the next time', async () => {
    const profile = await profileOf(repository);
    await assert.rejects(confirmPrograms(profile, answer(false)), isRefused);
    await assert.rejects(
      confirmPrograms(profile, () => Promise.reject(new Error('There is no terminal.'))),
      (error: Error) => isRefused(error) && error.message.includes('--trust'),
    );
    await assert.rejects(signIn(profile), isRefused);
    assert.equal(repository.takeRan(), false);
    await confirmPrograms(profile, answer(true));
    assert.equal(asked.length, 2);
  });

  test('is asked for again when its arguments, its environment or the kubeconfig change', async () => {
    const changes = [
      () => repository.writeKubeconfig({ args: ['token', '--other'] }),
      () => repository.writeKubeconfig({ env: [{ name: 'PATH', value: '/nowhere' }] }),
      () => writeFileSync(repository.kubeconfig, kubeconfigText({ user: {} })),
      () => repository.writeKubeconfig({ installHint: 'nothing that runs' }),
    ];
    await trustPrograms(await profileOf(repository));
    for (const change of changes) {
      change();
      await confirmPrograms(await profileOf(repository), answer(true));
    }
    // A kubeconfig without a program needs no prompt.
    assert.equal(asked.length, 3);
  });

  test('is refused when a file changes between the question and the sign-in, or between two sign-ins', async () => {
    const profile = await profileOf(repository);
    await confirmPrograms(profile, (question) => {
      asked.push(question);
      repository.writeKubeconfig({ args: ['harm'] });
      return Promise.resolve(true);
    });
    await assert.rejects(signIn(profile), isRefused);
    repository.writeKubeconfig();
    const { auth } = profile;
    const connection = await connectKube(auth, { hidden: new SecretRedactor(), signal });
    repository.writeProgram('touch harm');
    await assert.rejects(connection.access.credential(signal), isRefused);
    await connection.close();
    assert.equal(repository.takeRan(), false);
  });

  test('is asked for also where the kubeconfig is outside of the repository', async () => {
    const outside = new ClonedRepository(join(tempFolder(), 'config'));
    const profile = await profileOf(outside);
    await assert.rejects(signIn(profile), isRefused);
    await confirmPrograms(profile, answer(true));
    assert.equal(await signIn(profile), 't');
  });

  test('runs without a question where the user named the settings or set the variable', async () => {
    const named = await profileOf(repository, repository.settings);
    const value = JSON.stringify({ prod: { kubeconfig: repository.kubeconfig } });
    const found = await findProfiles({ folder: repository.folder, environment: { LANCE_CATALOG_CLUSTERS: value } });
    for (const profile of [named, found.profile('prod')]) {
      await confirmPrograms(profile, answer(false));
      assert.equal(await signIn(profile), 't');
    }
    assert.deepEqual(asked, []);
  });

  test('may be that of an AWS profile, or of one that it builds on', async () => {
    process.env['AWS_SHARED_CREDENTIALS_FILE'] = written('');
    process.env['AWS_CONFIG_FILE'] = written(
      `[profile team]\nrole_arn = arn:aws:iam::123456789012:role/x\nsource_profile = base\n
       [profile base]\ncredential_process = ${repository.program} keys\n`.replaceAll(/^ +/gm, ''),
    );
    const aws = { region: 'us-east-1', profile: 'team' };
    repository.writeSettings({ kubeconfig: written(kubeconfigText()), aws });
    const profile = await profileOf(repository);
    const { foundIn } = profile.auth;
    const keys = () => chainKeys({ ...aws, profile: 'base', hidden: new SecretRedactor(), foundIn });
    await assert.rejects(keys(), isRefused);
    assert.equal(repository.takeRan(), false);
    await confirmPrograms(profile, answer(true));
    assert.match(asked.join(), /run\.sh keys[^]*the AWS profile "base"/);
    // The program runs, although it prints no keys.
    await assert.rejects(keys(), (error) => !isRefused(error));
    assert.equal(repository.takeRan(), true);
  });

  test('does not run for the checks before a backfill or for a job on Ray', async () => {
    const ray = { profile: 'prod', folder: repository.folder };
    const table = { catalog: { implementation: 'dir', root: tempFolder() }, namespacePath: [], name: 't' } as const;
    const request: BackfillRequest = { table, column: 'c', runner: 'ray', ray };
    const problem = await launchProblem(request, signal);
    assert.match(String(problem?.message), /run\.sh token` to sign in, which is not trusted/);
    await assert.rejects(
      withRay(ray, signal, () => Promise.resolve()),
      isRefused,
    );
    assert.equal(repository.takeRan(), false);
  });

  test('is not found in a folder that has the name of a hash', async () => {
    const profile = await profileOf(repository);
    await trustPrograms(profile);
    const folder = join(home, 'lance-catalog', 'trusted-programs');
    const [hash = ''] = readdirSync(folder);
    process.env['XDG_DATA_HOME'] = tempFolder();
    mkdirSync(join(process.env['XDG_DATA_HOME'], 'lance-catalog', 'trusted-programs', hash), { recursive: true });
    await assert.rejects(signIn(profile), isRefused);
  });
});
