import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { knownFolders } from './folders.ts';
import { removeFromFolderList, readFolderList } from './folderList.ts';
import { hasSpecFile, isOurs, optionOf, readSpec, type SpecFile } from './spec.ts';

export type FoundSpec = SpecFile & { name: string; folder: string; isOurs: boolean; isReadable: boolean };

export async function findSpecs(): Promise<FoundSpec[]> {
  const known = await Promise.all(knownFolders().map(specFolders));
  const made = await readFolderList('kernelspecs');
  const folders = new Set([...known.flat(), ...made]);
  const found: FoundSpec[] = [];
  for (const folder of folders) {
    const spec = await readSpec(folder);
    const name = basename(folder);
    if (spec) found.push({ ...spec, name, folder, isOurs: isOurs(spec), isReadable: true });
    // This product created the folder, but another program has changed the file in it.
    else if (made.includes(folder) && hasSpecFile(folder))
      found.push({ argv: [], displayName: '', name, folder, isOurs: true, isReadable: false });
    // The folder was removed by another program, for instance by Jupyter.
    else await removeFromFolderList('kernelspecs', folder).catch(() => undefined);
  }
  return found.toSorted((a, b) => a.name.localeCompare(b.name) || a.folder.localeCompare(b.folder));
}

async function specFolders(kernels: string): Promise<string[]> {
  const names = await readdir(kernels).catch(() => []);
  return names.map((name) => join(kernels, name));
}

export const settingsOf = ({ argv }: SpecFile): Record<'catalog' | 'typeCheck' | 'language', string | undefined> => ({
  catalog: optionOf(argv, 'catalog'),
  typeCheck: optionOf(argv, 'type-check'),
  language: optionOf(argv, 'language'),
});
