import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder, by default of the person's alone, and those above it that are missing. Not by `recursive` of Node, which
 * tries for ever where a file system says of a new folder that it does not exist, as `/proc` and some mounts of a home do.
 * Several processes may make the same ones at the same time.
 * @throws an error of the file system
 */
export function makeFolder(path: string, mode = 0o700): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    const above = dirname(path);
    if ((error as { code?: unknown }).code !== 'ENOENT' || above === path) throw error;
    makeFolder(above, mode);
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
