import { readdirSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { nearestName } from '#shared/nearestName.ts';

const importable = /^[^.]+$|\.(?:[cm]?[jt]sx?|json)$/;

/** Whether an import names a file by its place, and not a package. */
export const isPath = (specifier: string): boolean => /^(?:\.{0,2}[\\/]|\.{1,2}$)/.test(specifier);

/**
 * Where a file that is imported was looked for, and a name there that may have been meant; undefined where there is
 * something of that name.
 * @param from folder of the one who imports
 * @param called what the file is called in the sentence
 */
export function missingFile(specifier: string, from: string, called = 'it'): string | undefined {
  const path = resolve(from, specifier);
  const folder = dirname(path);
  const names = namesIn(folder);
  if (!names) return `There is no folder ${folder}: check the path.`;
  if (names.includes(basename(path))) return undefined;
  const near = nearIn(names, basename(path));
  const there = specifier.slice(0, specifier.length - basename(specifier).length);
  const step = near === undefined ? ': check the name, or make the file.' : `. Is '${there}${near}' meant?`;
  return `There is no file for ${called} in ${folder}${step}`;
}

/** The name of a file may be written with its extension, with another one or without. */
function nearIn(names: readonly string[], written: string): string | undefined {
  const files = names.filter((name) => importable.test(name));
  const stem = nearestName(stemOf(written), files.map(stemOf));
  return nearestName(written, files) ?? files.find((name) => stemOf(name) === stem);
}

const stemOf = (name: string): string => basename(name, extname(name));

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}
