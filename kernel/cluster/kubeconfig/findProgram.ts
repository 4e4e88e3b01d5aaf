import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where a program is that a name or a path stands for, as the operating system would look for it; `undefined` where it is
 * not. Looking first tells a program that is missing from one whose own interpreter is.
 */
export async function findProgram(command: string, environment: Environment): Promise<string | undefined> {
  const isWindows = process.platform === 'win32';
  const endings = isWindows ? ['', ...(environment['PATHEXT'] ?? '.EXE;.CMD').split(';')] : [''];
  const folders = isAbsolute(command) ? [''] : pathOf(environment).split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    for (const ending of endings) {
      const file = folder === '' ? `${command}${ending}` : join(folder, `${command}${ending}`);
      if (await isProgram(file)) return file;
    }
  }
  return undefined;
}

/** PATH of an environment; on Windows it is called `Path`. */
export const pathOf = (environment: Environment): string =>
  environment['PATH'] ?? Object.entries(environment).find(([name]) => name.toUpperCase() === 'PATH')?.[1] ?? '';

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
