import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command, type Ran } from '../support.ts';

/** Creates a folder with a catalog in `data`, where the command line runs and its jobs are stored. */
export function backfillPlace() {
  const folder = tempFolder();
  const env = { XDG_DATA_HOME: join(folder, 'state'), LANCE_CATALOG: '' };
  const root = join(folder, 'data');
  mkdirSync(root, { recursive: true });
  mkdirSync(env.XDG_DATA_HOME);
  const cli = (...args: string[]): Promise<Ran> =>
    command(process.execPath, [cliEntry, ...args], { cwd: folder, env, seconds: 120 });
  const backfill = (...args: string[]): Promise<Ran> => cli('backfill', ...args, '--catalog', './data');
  return { folder, env, root, cli, backfill };
}
