import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, replaceFileAsync } from '#processes/files.ts';
import { dataFolder } from '#processes/userFolders.ts';

/** Returns our folder for kernelspecs. The folder has the launcher that kernelspecs start, and two lists. */
export const launcherFolder = (): string => join(dataFolder(), 'kernel');

/**
 * `installed` lists the installations that the launcher searches. `kernelspecs` lists the created kernelspecs, in any
 * folder.
 */
const files = { installed: 'installed.json', kernelspecs: 'kernelspecs.json' } as const;
type List = keyof typeof files;

const fileOf = (list: List): string => join(launcherFolder(), files[list]);

/** Returns a list of folders. As in the launcher, an unreadable list counts as empty. */
export async function readFolderList(list: List): Promise<string[]> {
  try {
    const known: unknown = JSON.parse(await readFile(fileOf(list), 'utf8'));
    return Array.isArray(known) ? known.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}

/** Moves a folder to the end of its list, or adds the folder at the end. */
export async function addToFolderList(list: List, folder: string): Promise<void> {
  await write(list, [...(await readFolderList(list)).filter((each) => each !== folder), folder]);
}

export async function removeFromFolderList(list: List, folder: string): Promise<void> {
  const known = await readFolderList(list);
  if (known.includes(folder))
    await write(
      list,
      known.filter((each) => each !== folder),
    );
}

async function write(list: List, folders: readonly string[]): Promise<void> {
  // Launchers of other users read the lists, so others may read the folder. Only the owner may write it, because the
  // lists name programs that run.
  makeFolder(dirname(fileOf(list)), 0o755);
  await replaceFileAsync(fileOf(list), `${JSON.stringify(folders, null, 2)}\n`, { isLasting: false, mode: 0o644 });
}
