import { realpath } from 'node:fs/promises';
import * as path from 'node:path';
import { isObjectStore } from '#catalog/root.ts';
import { CatalogError } from '#shared/errors.ts';
import type { ViewConnection } from '#shared/viewFile.ts';
import { absoluteRoot } from '../connections/connectionRules.ts';
import { cleanAddress } from '../connections/restRules.ts';
import type { Connection } from '../explorer/node.ts';

/** Where a view file is: its folder, the home directory, and the folders of the workspace. */
export type FilePlace = { readonly folder: string; readonly home: string; readonly workspace: readonly string[] };

/**
 * Describes a connection for a view file, without secrets. A directory in the same workspace as the file is relative to the
 * file, so that the file means the same where another user has the workspace.
 * @throws CatalogError Unsupported (0) for another implementation than `dir` and `rest`
 */
export function describeConnection(connection: Connection, place: FilePlace): ViewConnection {
  const { name } = connection;
  switch (connection.kind) {
    case 'dir':
      return { kind: 'dir', path: writtenRoot(connection.root, place), name };
    case 'rest': {
      const { uri, database } = connection;
      return { kind: 'rest', uri: withoutCredentials(uri), ...(database !== undefined && { database }), name };
    }
    case 'other':
      throw new CatalogError(
        'Unsupported',
        `Can't save the view as a file: the connection "${name}" has the implementation "${connection.implementation}".`,
        'Save it as a view instead.',
      );
  }
}

function writtenRoot(root: string, { folder, home, workspace }: FilePlace): string {
  if (isObjectStore(root) || !path.isAbsolute(root)) return root;
  const isShared = workspace.some((one) => isInside(root, one) && isInside(folder, one));
  if (isShared)
    return `./${slashed(path.relative(folder, root))}`.replace(/^\.\/(?=\.\.(?:\/|$))/, '').replace(/^\.\/$/, '.');
  return isInside(root, home) ? `~/${slashed(path.relative(home, root))}`.replace(/\/$/, '') : root;
}

const slashed = (text: string): string => text.split(path.sep).join('/');

function isInside(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return !path.isAbsolute(relative) && relative.split(path.sep)[0] !== '..';
}

function withoutCredentials(uri: string): string {
  const url = new URL(uri);
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  return cleanAddress(url.toString());
}

/** Returns the root that a view file names. @throws CatalogError InvalidInput (13) for an invalid store address */
export const rootOfFile = (written: string, { folder, home }: Pick<FilePlace, 'folder' | 'home'>): string =>
  absoluteRoot(written, { folder, home });

/**
 * Returns the connection that a view file means; undefined if the user has none. Looks at no folder and no server that the
 * file names, only at the folder of the file and those of connections.
 */
export async function findConnection(
  wanted: ViewConnection,
  place: Pick<FilePlace, 'folder' | 'home'>,
  all: readonly Connection[],
): Promise<Connection | undefined> {
  const found = wanted.kind === 'dir' ? await findDirectory(wanted.path, place, all) : findServers(wanted, all);
  return found.find(({ name }) => name === wanted.name) ?? found[0];
}

function findServers(
  { uri, database = '' }: { uri: string; database?: string | undefined },
  all: readonly Connection[],
): Connection[] {
  const address = new URL(cleanAddress(uri)).href;
  return all.filter(
    (one) =>
      one.kind === 'rest' &&
      URL.canParse(one.uri) &&
      new URL(one.uri).href === address &&
      (one.database ?? '') === database,
  );
}

async function findDirectory(
  written: string,
  { folder, home }: Pick<FilePlace, 'folder' | 'home'>,
  all: readonly Connection[],
): Promise<Connection[]> {
  const folders = [folder, await realOf(folder)];
  const roots = new Set(folders.map((one) => plainRoot(absoluteRoot(written, { folder: one, home }))));
  const directories = all.filter((one) => one.kind === 'dir');
  const real = await Promise.all(directories.map(({ root }) => realOf(root)));
  return directories.filter(
    ({ root }, index) => roots.has(plainRoot(root)) || roots.has(plainRoot(real[index] ?? root)),
  );
}

/** Addresses of object stores, and folders that don't exist, are compared as they are written. */
const realOf = (root: string): Promise<string> =>
  path.isAbsolute(root) ? realpath(root).catch(() => root) : Promise.resolve(root);

const plainRoot = (root: string): string => (path.isAbsolute(root) ? path.resolve(root) : root.replace(/\/+$/, ''));
