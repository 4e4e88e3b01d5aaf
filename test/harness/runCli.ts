import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { inRoot } from '../../scripts/paths.ts';

/** Runs `lance-catalog` of the build to its end. */
export async function runCli(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [inRoot('dist/cli.cjs'), ...args]);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: code as unknown, stdout, stderr };
}
