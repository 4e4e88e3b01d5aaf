import assert from 'node:assert/strict';
import { isFitNode, kernelFlags } from '#processes/nodeVersion.ts';

suite('The Node of a kernel', () => {
  test('is fit from 22.19 on', () => {
    const fit = ['v22.19.0', '22.20.1', '24.0.0'];
    const unfit = ['20.19.0', 'v22.18.9', '', 'none'];
    for (const version of fit) assert.ok(isFitNode(version), version);
    for (const version of unfit) assert.ok(!isFitNode(version), version);
  });

  test('gets the flag for contexts while it is one, and never unasked', () => {
    const always = ['--no-force-async-hooks-checks', '--max-semi-space-size=16'];
    assert.deepEqual(kernelFlags('v22.19.0'), [...always, '--experimental-async-context-frame']);
    assert.deepEqual(kernelFlags('24.0.0'), always);
    assert.deepEqual(kernelFlags(), always);
  });
});
