import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { inRoot } from '../../../scripts/paths.ts';

suite('A catalog in memory', () => {
  test('is removed when its process ends', () => {
    const module = JSON.stringify(inRoot('kernel/catalog/memoryRoot.ts'));
    const code = `const { createMemoryRoot } = await import(${module});
      const { existsSync, writeFileSync } = await import('node:fs');
      const root = createMemoryRoot();
      writeFileSync(root + '/file', '');
      console.log(root + ' ' + existsSync(root));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    const [root = '', wasThere] = stdout.trim().split(' ');
    assert.equal(wasThere, 'true', stderr);
    assert.equal(existsSync(root), false);
  });
});
