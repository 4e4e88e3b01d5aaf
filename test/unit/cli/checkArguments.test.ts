import assert from 'node:assert/strict';
import { profileOfArguments } from '../../../kernel/cli/check.ts';

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
