import { access, constants, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { CatalogError } from '#shared/errors.ts';

/** The folder for temporary files where somebody has said which; the engine looks for it by the same name. */
const named = (): string | undefined => (process.platform === 'win32' ? tmpdir() : process.env['TMPDIR'] || undefined);

/**
 * Looks whether there is a folder for temporary files. The engine keeps what does not fit into memory there, makes a folder in
 * it for every table that is opened, and panics where it can't, on the screen of whoever asked.
 * @throws CatalogError InvalidInput (13) where it is missing or can't be written to
 */
export async function checkTemporary(path = named()): Promise<void> {
  if (path === undefined) return;
  try {
    if (!(await stat(path)).isDirectory()) throw new Error('it is a file');
    await access(path, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const why = Object(cause).code === 'ENOENT' ? 'is not there' : "can't be written to";
    const variable = process.platform === 'win32' ? 'TEMP' : 'TMPDIR';
    throw new CatalogError(
      'InvalidInput',
      `The folder for temporary files "${path}", which the variable ${variable} names, ${why}.`,
      `Make it, or let ${variable} name one that can be written to.`,
      { cause },
    );
  }
}
