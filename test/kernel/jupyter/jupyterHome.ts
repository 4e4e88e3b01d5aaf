import assert from 'node:assert/strict';
import { join } from 'node:path';
import { snapshotVariable } from '#processes/startSnapshot.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command, sampleCatalog } from '../support.ts';
import { relayKernelspec } from './relayedKernel.ts';

/** A separate Jupyter with our kernel installed. This Jupyter neither reads nor writes files of the user. */
export type JupyterHome = { home: string; env: Record<string, string>; said: string };

/** Returns the environment that makes the folder the home of a Jupyter and of our kernels. */
export const jupyterFolders = (home: string) => ({
  HOME: home,
  XDG_DATA_HOME: join(home, 'data'),
  JUPYTER_DATA_DIR: join(home, 'jupyter'),
  JUPYTER_RUNTIME_DIR: join(home, 'run'),
  JUPYTER_CONFIG_DIR: join(home, 'config'),
  IPYTHONDIR: join(home, 'ipython'),
  // Kernels that start from a snapshot have a relay, which is the subject of tests of its own.
  [snapshotVariable]: 'off',
});

/** @param isRelayed whether its kernels have a relay, like those that start from a snapshot */
export async function installedKernel({ isRelayed = false } = {}): Promise<JupyterHome> {
  const home = tempFolder();
  const env = { ...jupyterFolders(home), PYTHONDONTWRITEBYTECODE: '1', LANCE_CATALOG: await sampleCatalog() };
  const { code, stdout, stderr } = await command(process.execPath, [cliEntry, 'kernel', 'install'], { env });
  assert.equal(code, 0, stderr);
  if (isRelayed) relayKernelspec(env.JUPYTER_DATA_DIR);
  return { home, env, said: stdout };
}
