import { chmodSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeRuntime } from '#processes/childProcess.ts';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { isObjectStore, localRoot } from '#catalog/root.ts';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import type { TypeCheck } from '#shared/protocol/kernelMessages.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import { fileProblem } from '#processes/fileProblem.ts';
import { makeFolder, replaceFileAsync } from '#processes/files.ts';
import { kernelsFolder, knownFolders, type KernelspecLocation } from './folders.ts';
import { launcherFolder, addToFolderList } from './folderList.ts';
import { isOurs, readSpec, shellLauncher } from './spec.ts';

type Installation = {
  place: KernelspecLocation;
  /** Jupyter's name of the kernel, also the name of its folder. */
  name: string;
  displayName: string;
  /** The catalog of `db`, as in `--catalog`. Default: the catalog in the environment. */
  catalog?: string | undefined;
  typeCheck?: TypeCheck | undefined;
  language: NotebookLanguage;
  /** The folder that contains `package.json`, `dist/` and `media/`. */
  installation: string;
  node: NodeRuntime;
};

/** Whether kernels start with the shell script, which is faster than starting Node to locate the kernel. */
const hasShell = process.platform !== 'win32';

/**
 * A kernelspec may be for all users of a machine. Only the owner of the file may write it, regardless of the umask,
 * because the file names the program that starts.
 */
const folderMode = 0o755;
const fileMode = 0o644;

const logos = ['logo-32x32.png', 'logo-64x64.png', 'logo-svg.svg'] as const;

/**
 * Writes a kernelspec and the launcher that it refers to. The installation is recorded, so that the launcher finds the
 * newest installation even if this installation is removed.
 * @returns the folder of the kernelspec
 * @throws CatalogError PermissionDenied (15) naming the path that can't be written, ServiceUnavailable (17) if the
 * installation is incomplete, InvalidInput (13) for an invalid name or catalog address
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
      // Flags that depend on the Node version are left out, because the Node at this path may be updated. The launcher
      // adds them at the start.
      ...kernelFlags(),
      launcher,
      '--connection-file={connection_file}',
      ...(catalog === undefined ? [] : [`--catalog=${absoluteCatalog(catalog)}`]),
      ...(typeCheck === undefined ? [] : [`--type-check=${typeCheck}`]),
      ...(language === 'typescript' ? [] : [`--language=${language}`]),
    ],
    display_name: displayName,
    language,
    interrupt_mode: 'message',
    // JupyterLab enables its debugger for kernels that set this field.
    metadata: { debugger: true },
    env: node.env,
  };
  try {
    makeProtectedFolder(launcherFolder());
    for (const file of [...(hasShell ? [shellLauncher] : []), 'launcher.cjs'])
      await copy(join(installation, 'dist', file), join(launcherFolder(), file));
    await addToFolderList('installed', installation);
    makeProtectedFolder(spec);
    for (const logo of logos) await copy(join(installation, 'media', 'kernel', logo), join(spec, logo));
    await write(join(spec, 'kernel.json'), `${JSON.stringify(content, null, 2)}\n`);
    await addToFolderList('kernelspecs', spec);
    return spec;
  } catch (cause) {
    if (isCatalogError(cause)) throw cause;
    throw failure(cause, spec);
  }
}

/** Creates a folder that only its owner may write, or removes the right of others to write an existing folder. */
function makeProtectedFolder(folder: string): void {
  makeFolder(folder, folderMode);
  const mode = statSync(folder).mode & 0o7777;
  // Windows has no such permissions.
  if (process.platform !== 'win32' && (mode & 0o022) !== 0) chmodSync(folder, mode & ~0o022);
}

/**
 * Replaces the file, because overwriting would keep the permissions of the old file, and a plain copy would take the
 * permissions of the installation.
 */
async function copy(source: string, target: string): Promise<void> {
  const content = await readFile(source).catch((cause: unknown) => {
    const why = Object(cause).code === 'ENOENT' ? 'is missing' : `can't be read (${messageOf(cause)})`;
    throw new CatalogError(
      'ServiceUnavailable',
      `Can't install the kernelspec: "${source}" ${why}.`,
      'Install Lance Catalog again.',
      { cause },
    );
  });
  await write(target, content);
}

const write = (path: string, content: string | Uint8Array): Promise<void> =>
  replaceFileAsync(path, content, { isLasting: false, mode: fileMode });

function failure(cause: unknown, spec: string): CatalogError {
  // The error of a rename has two paths. The second is the written file; the first is its temporary file.
  const { path, dest } = Object(cause) as { path?: string; dest?: string };
  const written = dest ?? path?.replace(/\.\w+\.tmp$/, '') ?? spec;
  const isSpec = spec.startsWith(written) || written.startsWith(spec);
  // A new folder that does not exist is in a file system without new folders, such as `/proc`.
  const why = Object(cause).code === 'ENOENT' ? 'no folder can be created there' : fileProblem(cause);
  return new CatalogError(
    'PermissionDenied',
    `Can't install the kernelspec: can't write "${written}": ${why}.`,
    isSpec
      ? 'Use --user, or --prefix with a folder that you can write to.'
      : 'Make it writable, or free disk space: the launcher of all kernelspecs is stored there.',
    { cause },
  );
}

function checkName(name: string): void {
  if (/^[a-z0-9._-]+$/.test(name) && /[a-z0-9]/.test(name)) return;
  throw new CatalogError(
    'InvalidInput',
    `"${name}" is not a valid kernel name.`,
    'Use lowercase letters, digits, hyphens, dots and underscores. Use --display-name for the name that users see.',
  );
}

/**
 * Checks that no kernel of another program has this name: such a kernel must not be overwritten. It must not be hidden
 * either: of two folders with the same name, Jupyter uses only one.
 * @throws CatalogError InvalidInput (13) naming the folder of that kernel
 */
async function checkFree(folder: string, name: string): Promise<void> {
  for (const each of new Set([folder, ...knownFolders().map((kernels) => join(kernels, name))])) {
    const there = await readSpec(each);
    if (!there || isOurs(there)) continue;
    throw new CatalogError(
      'InvalidInput',
      `Can't install kernel "${name}": the kernel in "${each}" belongs to another program.`,
      'Use another --name.',
    );
  }
}

/**
 * Returns a directory as an absolute path, and a URL unchanged. Rejects credentials in the URL, because other users can
 * read the kernelspec.
 * @throws CatalogError InvalidInput (13) if the value is empty, or if the URL is invalid or contains a user, a password
 * or a query
 */
function absoluteCatalog(catalog: string): string {
  // An empty value is refused, because it would mean the current folder. A script passes an empty value if its variable
  // is not set.
  if (catalog.trim() === '')
    throw new CatalogError(
      'InvalidInput',
      'Expected a directory or a URL for --catalog, got an empty value.',
      'Set --catalog to a directory or a URL, or omit it.',
    );
  const isServer = /^https?:\/\//i.test(catalog);
  if (!isServer && !isObjectStore(catalog)) return localRoot(catalog);
  const address = URL.canParse(catalog) ? new URL(catalog) : undefined;
  if (!address || address.username || address.password || address.search)
    throw new CatalogError(
      'InvalidInput',
      "Can't store the URL of the catalog in the kernelspec: it is invalid, or has a user, a password or a query.",
      'Use a URL without credentials; the kernel reads these from the environment of Jupyter.',
    );
  return catalog;
}
