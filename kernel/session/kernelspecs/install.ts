import { existsSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeRuntime } from '#processes/childProcess.ts';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { isObjectStore, localRoot } from '#catalog/root.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import type { TypeCheck } from '#shared/protocol/kernelMessages.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import { makeFolder } from '#processes/files.ts';
import { kernelsFolder, knownFolders, type SpecPlace } from './folders.ts';
import { launcherFolder, remember } from './remembered.ts';
import { isOurs, readSpec, shellLauncher } from './spec.ts';

type Installation = {
  place: SpecPlace;
  /** Jupyter's name of the kernel, which is that of its folder. */
  name: string;
  displayName: string;
  /** The catalog that `db` is, as `--catalog` has it; without it that of the environment. */
  catalog?: string | undefined;
  typeCheck?: TypeCheck | undefined;
  /** What its cells are written in. */
  language: NotebookLanguage;
  /** The folder that holds `package.json`, `dist/` and `media/`. */
  installation: string;
  node: NodeRuntime;
};

/** Where a script starts in the time that a Node takes to look around. */
const hasShell = process.platform !== 'win32';

/** A kernelspec may be for all who use a machine. */
const forAll = 0o777;

/** Pictures of the kernel under the names by which Jupyter's launchers look for them. */
const logos = ['logo-32x32.png', 'logo-64x64.png', 'logo-svg.svg'] as const;

/**
 * Writes a kernelspec, and the launcher that it points to. The installation is remembered, so that the launcher finds the
 * newest one whatever happens to this one.
 * @returns the folder of the kernelspec
 * @throws CatalogError PermissionDenied (15) naming what can't be written, ServiceUnavailable (17) for an installation that
 *   is not whole, InvalidInput (13) for a name or an address that can't be taken
 */
export async function installKernelspec(options: Installation): Promise<string> {
  const { place, name, displayName, catalog, typeCheck, language, installation, node } = options;
  checkName(name);
  const spec = join(kernelsFolder(place), name);
  await checkFree(spec, name);
  const launcher = join(launcherFolder(), 'launcher.cjs');
  const content = {
    argv: [
      ...(hasShell ? ['/bin/sh', join(launcherFolder(), shellLauncher)] : []),
      node.path,
      // Not those of today's version: the Node of this path may be another one tomorrow. The launcher adds them.
      ...kernelFlags(),
      launcher,
      '--connection-file={connection_file}',
      ...(catalog === undefined ? [] : [`--catalog=${placeOf(catalog)}`]),
      ...(typeCheck === undefined ? [] : [`--type-check=${typeCheck}`]),
      ...(language === 'typescript' ? [] : [`--language=${language}`]),
    ],
    display_name: displayName,
    language,
    interrupt_mode: 'message',
    // JupyterLab has its debugger for kernels that say so here.
    metadata: { debugger: true },
    env: node.env,
  };
  try {
    makeFolder(launcherFolder(), forAll);
    for (const file of [...(hasShell ? [shellLauncher] : []), 'launcher.cjs'])
      await copyFile(join(installation, 'dist', file), join(launcherFolder(), file));
    await remember('installed', installation);
    makeFolder(spec, forAll);
    for (const logo of logos) await copyFile(join(installation, 'media', 'kernel', logo), join(spec, logo));
    await writeFile(join(spec, 'kernel.json'), `${JSON.stringify(content, null, 2)}\n`);
    await remember('kernelspecs', spec);
    return spec;
  } catch (cause) {
    throw failure(cause, spec);
  }
}

function failure(cause: unknown, spec: string): CatalogError {
  const { path, dest, syscall } = Object(cause) as { path?: string; dest?: string; syscall?: string };
  const isCopy = syscall === 'copyfile';
  if (isCopy && path !== undefined && !existsSync(path))
    return new CatalogError(
      'ServiceUnavailable',
      `The kernelspec can't be installed: "${path}" is missing.`,
      'Install Lance Catalog again.',
      { cause },
    );
  // A copy has two paths, of which the second is written.
  const written = (isCopy ? dest : path) ?? spec;
  const isSpec = spec.startsWith(written) || written.startsWith(spec);
  return new CatalogError(
    'PermissionDenied',
    `The kernelspec can't be installed: "${written}" can't be written (${messageOf(cause)}).`,
    isSpec
      ? 'Use --user, or --prefix with a folder of yours.'
      : 'The launcher of all kernelspecs is kept there, so make room, or make it writable.',
    { cause },
  );
}

function checkName(name: string): void {
  if (/^[a-z0-9._-]+$/.test(name) && /[a-z0-9]/.test(name)) return;
  throw new CatalogError(
    'InvalidInput',
    `"${name}" is no name of a kernel.`,
    'Use small letters, digits, hyphens, dots and underscores; --display-name is what people read.',
  );
}

/**
 * A kernel of another program stays, and stays the one that Jupyter finds by its name: of two folders it takes one.
 * @throws CatalogError InvalidInput (13) naming the folder of that kernel
 */
async function checkFree(folder: string, name: string): Promise<void> {
  for (const each of new Set([folder, ...knownFolders().map((kernels) => join(kernels, name))])) {
    const there = await readSpec(each);
    if (!there || isOurs(there)) continue;
    throw new CatalogError(
      'InvalidInput',
      `There is a kernel "${name}" in "${each}" that is not one of Lance Catalog's.`,
      'Give another --name.',
    );
  }
}

/**
 * A directory as a path from everywhere, an address as it is. What lets one in does not belong into a file that others can
 * read.
 * @throws CatalogError InvalidInput (13) for nothing, and for an address with a password or a query in it
 */
function placeOf(catalog: string): string {
  // Of a variable that is not set, in a script: it would be whatever folder this runs in.
  if (catalog.trim() === '')
    throw new CatalogError(
      'InvalidInput',
      'The catalog is empty.',
      'Give --catalog a directory or an address, or leave it out.',
    );
  const isServer = /^https?:\/\//i.test(catalog);
  if (!isServer && !isObjectStore(catalog)) return localRoot(catalog);
  const address = URL.canParse(catalog) ? new URL(catalog) : undefined;
  if (!address || address.username || address.password || address.search)
    throw new CatalogError(
      'InvalidInput',
      'The address of the catalog would be kept in a file, and has a user, a password or a query in it.',
      'Give the address alone; what lets you in comes from the environment of Jupyter.',
    );
  return catalog;
}
