import { lstat, rm, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CatalogError } from '#shared/errors.ts';
import { findSpecs, type FoundSpec } from './list.ts';
import { kernelsFolder, type KernelspecLocation } from './folders.ts';
import { removeFromFolderList } from './folderList.ts';

/**
 * Removes one of our kernelspecs. The launcher is kept, because other kernelspecs may use it.
 * @param place the location, if the name exists in several locations
 * @returns the removed folder
 * @throws CatalogError InvalidInput (13) if none or several of our kernelspecs have this name; PermissionDenied (15)
 * naming the folder
 */
export async function removeKernelspec(name: string, place?: KernelspecLocation): Promise<string> {
  const where = place && kernelsFolder(place);
  const named = (await findSpecs()).filter(
    (spec) => spec.name === name && (where === undefined || dirname(spec.folder) === where),
  );
  const { folder } = oneOf(named, name, where);
  try {
    // Removes only the link, because the user keeps the target of the link elsewhere on purpose.
    if ((await lstat(folder)).isSymbolicLink()) await unlink(folder);
    else await rm(folder, { recursive: true });
  } catch (cause) {
    const what = `Can't remove kernel "${name}" from "${folder}".`;
    throw new CatalogError('PermissionDenied', what, 'Run the command as the owner of the folder.', { cause });
  }
  await removeFromFolderList('kernelspecs', folder).catch(() => undefined);
  return folder;
}

function oneOf(named: readonly FoundSpec[], name: string, where: string | undefined): FoundSpec {
  const ours = named.filter(({ isOurs }) => isOurs);
  const [spec, ...more] = ours;
  if (spec && more.length > 0) {
    const folders = ours.map(({ folder }) => `"${folder}"`).join(' and ');
    throw bad(
      `Several kernels have the name "${name}": ${folders}.`,
      'Choose one with --user, --sys-prefix or --prefix DIR.',
    );
  }
  if (spec) return spec;
  const [foreign] = named;
  if (foreign)
    throw bad(
      `Can't remove kernel "${name}": the kernel in "${foreign.folder}" belongs to another program.`,
      `Run: jupyter kernelspec remove ${name}`,
    );
  throw bad(
    `There is no kernel "${name}"${where === undefined ? '' : ` in "${where}"`}.`,
    'Run: lance-catalog kernel list',
  );
}

const bad = (what: string, hint: string): CatalogError => new CatalogError('InvalidInput', what, hint);
