import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beginAttempt, isUsable, type StartSnapshot } from '#processes/startSnapshot.ts';
import { tempFolder } from '../../harness/temp.ts';

function snapshot(): StartSnapshot {
  const folder = tempFolder();
  chmodSync(folder, 0o700);
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('blob'), 'memory', { mode: 0o600 });
  writeFileSync(at('note'), JSON.stringify({ size: 6 }), { mode: 0o600 });
  return { entry: at('entry'), folder, blob: at('blob'), note: at('note'), attempt: at('attempt') };
}

suite('A snapshot to start from', () => {
  test('can be used while a process starts from it', () => {
    const made = snapshot();
    assert.equal(isUsable(made), true);
    beginAttempt(made, process.pid);
    assert.equal(readFileSync(made.attempt, 'utf8'), String(process.pid));
    assert.equal(isUsable(made), true);
  });

  for (const [name, text] of [
    ['has ended', String(2 ** 30)],
    ['could not write its number', ''],
  ] as const)
    test(`is removed if the process that started from it ${name}`, () => {
      const made = snapshot();
      writeFileSync(made.attempt, text);
      assert.equal(isUsable(made), false);
      assert.equal(existsSync(made.blob), false);
    });
});
