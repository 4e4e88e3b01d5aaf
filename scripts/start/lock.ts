import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRunning } from '../../kernel/client/running.ts';

/**
 * Takes the one window of the sample: two servers on one profile would overwrite each other's state.
 * @throws Error naming the process that has it
 */
export function takeWindow(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      process.on('exit', () => rmSync(file, { force: true }));
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const owner = Number(readFileSync(file, 'utf8'));
    if (Number.isInteger(owner) && owner > 0 && isRunning(owner))
      throw new Error(`The sample window is open already (process ${owner}): use it, or end that process first.`);
    rmSync(file, { force: true });
  }
}
