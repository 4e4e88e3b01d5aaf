import { spawn } from 'node:child_process';
import { buildAll, isStale } from './build.ts';
import { inRoot } from './paths.ts';
import { commandEnvironment } from './start/windowData.ts';

/**
 * `npm run lance-catalog -- …`: the command line, built first if sources are newer. Commands on the sample catalog use
 * the data folder of the sample window. Returns the exit code.
 */
export async function main(args: readonly string[]): Promise<number> {
  if (isStale() && (await buildAll((line) => console.error(line))) > 0) return 1;
  const { env, hint } = commandEnvironment({ args, env: process.env, cwd: process.cwd() });
  if (hint !== undefined) console.error(hint);
  const child = spawn(process.execPath, [inRoot('dist/cli.cjs'), ...args], { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
