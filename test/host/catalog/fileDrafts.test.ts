import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { FileDrafts } from '../../../extension/host/fileDrafts.ts';
import { replacing, temporaryFolder } from '../support.ts';

const { signal } = new AbortController();

suite('a file that a page saves', () => {
  const folder = temporaryFolder();
  const drafts = new FileDrafts();
  suiteTeardown(() => {
    drafts.dispose();
    folder.remove();
  });

  /** Creates a file where the user wants it. Returns its id and the place that the dialog proposed. */
  async function createAt(path: string | undefined, name: string) {
    let proposed = '';
    let created: Awaited<ReturnType<FileDrafts['create']>> = null;
    const dialog = ({ defaultUri }: vscode.SaveDialogOptions) => {
      proposed = defaultUri?.path.split('/').at(-1) ?? '';
      return Promise.resolve(path === undefined ? undefined : vscode.Uri.file(path));
    };
    await replacing('showSaveDialog', dialog, async () => {
      created = await drafts.create({ name }, signal);
    });
    return { proposed, created: created as { id: number; name: string } | null };
  }

  test('appears when it is complete, and replaces an older one', async () => {
    const path = join(folder.path, 'value.bin');
    writeFileSync(path, 'old');
    const { proposed, created } = await createAt(path, '../a:b.png');
    assert.deepEqual([proposed, created?.name], ['-a-b.png', 'value.bin']);
    const { id } = created!;
    for (let part = 0; part < 20; part++) await drafts.write({ id, bytes: new Uint8Array(100_000).fill(part) });
    assert.equal(readFileSync(path, 'utf8'), 'old');
    await drafts.close({ id, isComplete: true });
    const written = readFileSync(path);
    assert.deepEqual([written.length, written[0], written.at(-1)], [2_000_000, 0, 19]);
  });

  test('that is given up leaves the older one and nothing else', async () => {
    const path = join(folder.path, 'kept.bin');
    writeFileSync(path, 'old');
    const { created } = await createAt(path, 'kept.bin');
    await drafts.write({ id: created!.id, bytes: new Uint8Array(500_000) });
    await drafts.close({ id: created!.id, isComplete: false });
    assert.equal(readFileSync(path, 'utf8'), 'old');
    assert.deepEqual(
      readdirSync(folder.path).filter((name) => name.endsWith('.tmp')),
      [],
    );
  });

  test('is not created if the user chooses no place, and says why it can not be written', async () => {
    assert.equal((await createAt(undefined, 'a')).created, null);
    const { created } = await createAt(join(folder.path, 'missing', 'a.bin'), 'a.bin');
    await drafts.write({ id: created!.id, bytes: Uint8Array.of(1) }).catch(() => undefined);
    await assert.rejects(drafts.close({ id: created!.id, isComplete: true }), /Can't save ".*a\.bin": /);
  });

  test('is not written by requests that are not valid', async () => {
    const invalid = /the request is not valid/;
    await assert.rejects(drafts.create({ name: 7 }, signal), invalid);
    await assert.rejects(drafts.write({ id: 999, bytes: Uint8Array.of(1) }), invalid);
    await assert.rejects(drafts.write({ id: 1, bytes: 'text' }), invalid);
    await assert.rejects(drafts.close({ id: 1 }), invalid);
  });
});
