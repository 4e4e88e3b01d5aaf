import { constants } from 'node:os';
import { startNode } from '#client/childProcess.ts';
import { kernelFlags } from '#client/nodeVersion.ts';
import { installKernelspec, type SpecPlace } from '#session/kernelspec.ts';
import { catalogHelp } from './catalogHelp.ts';
import { UsageError, parse, type Command } from './command.ts';
import { installation, kernelEntry, thisNode } from './installation.ts';

const summary = `  lance-catalog kernel install [--user | --sys-prefix | --prefix DIR]
      makes the kernel "TypeScript (Lance Catalog)" known to Jupyter; --user when nothing is said
  lance-catalog kernel run --connection-file FILE [--catalog DIR | --catalog ADDRESS]
      runs a kernel for a Jupyter front`;

export const kernelCommand: Command = {
  summary,
  help: `The TypeScript kernel for notebooks

${summary}

${catalogHelp}`,
  run: ([word, ...rest]) => {
    switch (word) {
      case 'install':
        return install(rest);
      case 'run':
        return runKernel(rest);
      case undefined:
        throw new UsageError('Say "kernel install" or "kernel run".');
      default:
        throw new UsageError(`There is no command "kernel ${word}".`);
    }
  },
};

async function install(args: readonly string[]): Promise<number> {
  const { values } = parse(args, {
    user: { type: 'boolean' },
    'sys-prefix': { type: 'boolean' },
    prefix: { type: 'string' },
  });
  const places: SpecPlace[] = [];
  if (values['user']) places.push({ kind: 'user' });
  if (values['sys-prefix']) places.push({ kind: 'sys-prefix' });
  if (typeof values['prefix'] === 'string') places.push({ kind: 'prefix', folder: values['prefix'] });
  const [place = { kind: 'user' }] = places;
  if (places.length > 1) throw new UsageError('Give one of --user, --sys-prefix and --prefix.');
  const spec = await installKernelspec({ place, installation, node: thisNode() });
  console.log(`Installed the kernel "TypeScript (Lance Catalog)" in ${spec}`);
  return 0;
}

async function runKernel(args: readonly string[]): Promise<number> {
  const { values } = parse(args, { 'connection-file': { type: 'string' }, catalog: { type: 'string' } });
  const file = values['connection-file'];
  if (typeof file !== 'string') throw new UsageError('"kernel run" needs --connection-file FILE.');
  const child = startNode({
    node: thisNode(),
    flags: kernelFlags(process.versions.node),
    entry: kernelEntry,
    args: [
      `--connection-file=${file}`,
      ...(typeof values['catalog'] === 'string' ? [`--catalog=${values['catalog']}`] : []),
    ],
    stdio: 'inherit',
  });
  // Ctrl-C reaches the kernel by itself, which leaves its meaning to the front.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolveExit, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolveExit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  });
}
