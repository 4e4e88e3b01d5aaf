import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, quietInstall } from '../../scripts/npm.mjs';
import { inRoot } from '../../scripts/paths.ts';
import type { Need } from '../harness/needs/installing.ts';
import { python } from '../harness/needs/python.ts';
import { tempFolder } from '../harness/temp.ts';
import type { KernelName } from './kernelCells.ts';

const folder = inRoot('.toolchain/bench');
const stamp = join(folder, 'installed');

/** The other kernels, and the packages that all cells import. */
const packages = ['tslab@1.0.22', 'deno@2.9.6', '@lancedb/lancedb@0.39.0', 'apache-arrow@18.1.0'];

export const peerKernels: Need = {
  title: 'Kernels to compare with (.toolchain/bench)',
  download: 150,
  disk: 415,
  isThere: () => existsSync(stamp) && readFileSync(stamp, 'utf8') === packages.join('\n'),
  install: async (say) => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
    say('  installing the kernels to compare with …');
    await npm(['install', ...quietInstall, ...packages], { cwd: folder, quiet: true });
    // Our installs run no scripts, but Deno's script installs its executable.
    await npm(['rebuild', '--ignore-scripts=false', 'deno'], { cwd: folder, quiet: true });
    writeFileSync(stamp, packages.join('\n'));
  },
};

/** The environment in which Jupyter finds the kernels, and the folder in which their cells run. */
export type Kernels = { env: NodeJS.ProcessEnv; notebooks: string; specs: Record<KernelName, string> };

/**
 * Installs the four kernels for a separate Jupyter of the benchmark: ours with its installer, the others with their own
 * kernelspecs.
 * @throws Error that names a missing kernel
 */
export function installKernels(): Kernels {
  const home = tempFolder('lance-bench-');
  const notebooks = join(home, 'notebooks');
  mkdirSync(notebooks);
  symlinkSync(join(folder, 'node_modules'), join(notebooks, 'node_modules'));
  writeFileSync(join(notebooks, 'package.json'), '{"private":true}\n');
  // Deno uses node_modules only with this setting.
  writeFileSync(join(notebooks, 'deno.json'), '{"nodeModulesDir":"manual"}\n');
  const env = {
    ...process.env,
    HOME: home,
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'cache'),
    DENO_DIR: join(home, 'deno'),
    JUPYTER_DATA_DIR: join(home, 'jupyter'),
    JUPYTER_RUNTIME_DIR: join(home, 'run'),
    JUPYTER_CONFIG_DIR: join(home, 'config'),
    IPYTHONDIR: join(home, 'ipython'),
  };
  const { status, stderr } = spawnSync(process.execPath, [inRoot('dist/cli.cjs'), 'kernel', 'install'], {
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Our kernel can't be installed: ${stderr}`);
  const modules = join(folder, 'node_modules');
  spec(home, 'tslab', 'signal', [process.execPath, join(modules, 'tslab/bin/tslab'), 'kernel', '--config-path']);
  spec(home, 'deno', 'signal', [join(modules, 'deno/deno'), 'jupyter', '--kernel', '--conn']);
  spec(home, 'ipykernel', 'signal', [python(), '-m', 'ipykernel_launcher', '-f']);
  return { env, notebooks, specs: { ours: 'lance-typescript', tslab: 'tslab', deno: 'deno', ipykernel: 'ipykernel' } };
}

function spec(home: string, name: string, interruptMode: string, command: readonly string[]): void {
  const program = command.find((each) => each.startsWith(folder)) ?? command[0]!;
  if (!existsSync(program)) throw new Error(`The kernel ${name} is not there: ${program} is missing.`);
  const target = join(home, 'jupyter/kernels', name);
  mkdirSync(target, { recursive: true });
  const content = { argv: [...command, '{connection_file}'], display_name: name, interrupt_mode: interruptMode };
  writeFileSync(join(target, 'kernel.json'), `${JSON.stringify({ ...content, language: name })}\n`);
}
