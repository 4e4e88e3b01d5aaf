import assert from 'node:assert/strict';
import manifest from '../../../../package.json' with { type: 'json' };

suite('the setting of cluster profiles', () => {
  test('is read in trusted workspaces only, since a kubeconfig may name programs to run', () => {
    const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
    assert.ok(restrictedConfigurations.includes('lanceCatalog.cluster.profiles'));
  });

  test('offers to ask a cluster in trusted workspaces only', () => {
    const asking = ['verify', 'verifyWithProbe', 'rerun', 'rerunFailed'].map((name) => `lanceCatalog.cluster.${name}`);
    for (const one of manifest.contributes.commands) {
      if (asking.includes(one.command)) assert.equal('enablement' in one && one.enablement, 'isWorkspaceTrusted');
    }
  });
});
