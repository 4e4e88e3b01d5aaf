import assert from 'node:assert/strict';
import { catalogOfEnvironment, profileOfArguments } from '../../../kernel/cli/check.ts';

suite('Arguments that describe a cluster', () => {
  test('are refused by the name of the option, since there is no profile to correct', async () => {
    await assert.rejects(profileOfArguments({ context: '' }), {
      message: '--context must be the name of a kubeconfig context, but is empty.',
    });
    await assert.rejects(profileOfArguments({ kubeconfig: 'config', 'service-account': 'Runner' }), {
      message: '--service-account must be the name of a Kubernetes service account, but is "Runner".',
    });
  });
});

suite('the catalog of a profile and the key of the environment', () => {
  const uri = 'https://catalog.example.com';
  const env = { LANCE_CATALOG_API_KEY: 'sesame' };
  const resolve = async (variables: Record<string, string>, sendsKeys: boolean) => {
    const found = await catalogOfEnvironment(variables, sendsKeys).resolve(
      { implementation: 'rest', uri },
      new AbortController().signal,
    );
    assert.ok(found?.config.implementation === 'rest');
    return found.config;
  };

  test('are put together for a profile that the user named', async () => {
    assert.deepEqual(await resolve(env, true), { implementation: 'rest', uri, apiKey: 'sesame' });
  });

  test('stay apart where only a settings file of a folder names the server', async () => {
    const { apiKey, token, keyHint } = await resolve({ ...env, LANCE_CATALOG_TOKEN: 't' }, false);
    assert.deepEqual([apiKey, token], [undefined, undefined]);
    assert.match(keyHint ?? '', /was not sent.*Set LANCE_CATALOG.*--trust/);
  });

  test('are put together where the user named the same server, and no other', async () => {
    assert.equal((await resolve({ ...env, LANCE_CATALOG: uri }, false)).apiKey, 'sesame');
    assert.equal((await resolve({ ...env, LANCE_CATALOG: 'https://other.example.com' }, false)).apiKey, undefined);
  });
});
