import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join, relative } from 'node:path';
import { FolderStore } from '#jobs/local/checkpoints/folderStore.ts';
import { tempFolder } from '../../../../harness/temp.ts';

/** Records what is synced and renamed during a call, in order. */
async function noteSyncs(root: string, call: () => Promise<void>): Promise<string[]> {
  const notes: string[] = [];
  const { open, rename } = fs;
  const nameOf = (path: unknown): string => relative(root, String(path)).replace(/\.[^./]+\.tmp$/, '.tmp');
  Object.assign(fs, {
    open: async (...args: Parameters<typeof open>) => {
      const file = await open(...args);
      for (const kind of ['sync', 'datasync'] as const) {
        const own = file[kind].bind(file);
        file[kind] = async () => {
          await own();
          notes.push(`sync ${nameOf(args[0])}`);
        };
      }
      return file;
    },
    rename: async (from: string, to: string) => {
      await rename(from, to);
      notes.push(`rename ${nameOf(to)}`);
    },
  });
  syncBuiltinESMExports();
  try {
    await call();
  } finally {
    Object.assign(fs, { open, rename });
    syncBuiltinESMExports();
  }
  return notes;
}

suite('Checkpoints in a folder', () => {
  test('are on the disk when they are written: the file, then its name, and the names of new folders', async function () {
    if (process.platform === 'win32') this.skip();
    const root = tempFolder();
    const store = new FolderStore(root);
    const write = (): Promise<void> => store.write('_checkpoints/a/f0.arrow', Uint8Array.of(1));
    const file = ['sync _checkpoints/a/f0.arrow.tmp', 'rename _checkpoints/a/f0.arrow', 'sync _checkpoints/a'];
    assert.deepEqual(await noteSyncs(root, write), ['sync ', 'sync _checkpoints', ...file]);
    assert.deepEqual(await noteSyncs(root, write), file);
    assert.deepEqual(await store.read(join('_checkpoints', 'a', 'f0.arrow')), Buffer.of(1));
  });

  for (const [code, isWritten] of [
    ['EINVAL', true],
    ['EIO', false],
  ] as const)
    test(`are ${isWritten ? 'written' : 'an error'} if syncing their folder fails with ${code}`, async () => {
      const store = new FolderStore(tempFolder());
      const { open } = fs;
      Object.assign(fs, {
        open: async (path: string, flags: string, mode?: number) => {
          const file = await open(path, flags, mode);
          if (flags === 'r') file.sync = () => Promise.reject(Object.assign(new Error(code), { code }));
          return file;
        },
      });
      syncBuiltinESMExports();
      try {
        const writing = store.write('a/f0.arrow', Uint8Array.of(1));
        await (isWritten ? writing : assert.rejects(writing));
      } finally {
        Object.assign(fs, { open });
        syncBuiltinESMExports();
      }
    });
});
