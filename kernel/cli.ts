#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { constants } from 'node:os';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { startNode, type NodeRuntime } from '#client/childProcess.ts';
import { isFitNode, kernelFlags, minimumNode } from '#client/nodeVersion.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { installKernelspec, type SpecPlace } from '#session/kernelspec.ts';
import { runNotebook } from '#session/runNotebook.ts';

const help = `lance-catalog: tables in Lance catalogs, and TypeScript notebooks over them

  lance-catalog kernel install [--user | --sys-prefix | --prefix DIR]
      makes the kernel "TypeScript (Lance Catalog)" known to Jupyter; --user when nothing is said
  lance-catalog kernel run --connection-file FILE [--catalog DIR]
      runs a kernel for a Jupyter front
  lance-catalog run NOTEBOOK.ipynb [--catalog DIR]
      runs a notebook without a screen and prints what each cell gave

  --catalog DIR   the directory that db reads; else the environment variable LANCE_CATALOG
  --help, --version`;

/** What the person typed can't be meant: one sentence, exit code 2. */
class UsageError extends Error {}

const distFolder = import.meta.dirname;
const kernelEntry = join(distFolder, 'kernel.cjs');

async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  if (asksForHelp(args)) {
    console.log(help);
    return 0;
  }
  switch (command) {
    case undefined:
    case 'help':
      console.log(help);
      return command === undefined ? 2 : 0;
    case '--version':
      console.log(version());
      return 0;
    case 'run':
      return run(rest);
    case 'kernel':
      return kernel(rest);
    default:
      throw new UsageError(`There is no command "${command}".`);
  }
}

async function kernel([command, ...rest]: readonly string[]): Promise<number> {
  switch (command) {
    case 'install':
      return install(rest);
    case 'run':
      return runKernel(rest);
    case undefined:
      throw new UsageError('Say "kernel install" or "kernel run".');
    default:
      throw new UsageError(`There is no command "kernel ${command}".`);
  }
}

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
  const spec = await installKernelspec({
    place,
    installation: dirname(distFolder),
    node: thisNode(),
  });
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

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args, { catalog: { type: 'string' } }, true);
  const [notebook, ...more] = positionals;
  if (notebook === undefined || more.length > 0) throw new UsageError('"run" needs one NOTEBOOK.ipynb.');
  const root = values['catalog'] ?? process.env['LANCE_CATALOG'];
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const running = runNotebook({
    notebook,
    entry: kernelEntry,
    node: thisNode(),
    catalog: typeof root === 'string' && root ? { implementation: 'dir', root: resolve(root) } : null,
    print: (line) => console.log(line),
    signal: stop.signal,
  });
  const failed = await running.catch((error: unknown) => {
    // Between two cells the run ends with an error, in a cell with that cell.
    if (!stop.signal.aborted) throw error;
    return null;
  });
  if (stop.signal.aborted) return 130;
  if (failed === null) return 0;
  console.error(`Cell ${failed} of ${notebook} failed.`);
  return 1;
}

function parse(args: readonly string[], options: ParseArgsOptionsConfig, allowPositionals = false) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals });
  } catch (error) {
    // Node adds advice on positional arguments, which is of no use here.
    throw new UsageError(`${messageOf(error).split('. ', 1)[0]}.`, { cause: error });
  }
}

/** Wherever it stands: who asks does not know the rest. What follows `--` is a name. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end).some((arg) => arg === '--help' || arg === '-h');
}

/** The Node that runs this, for what it starts. */
function thisNode(): NodeRuntime {
  const { node } = process.versions;
  if (isFitNode(node)) return { path: process.execPath, env: {}, version: node };
  const wanted = minimumNode.join('.');
  throw new CatalogError('ServiceUnavailable', `This is Node ${node}.`, `Use Node ${wanted} or newer.`);
}

function version(): string {
  const { version: found } = JSON.parse(readFileSync(join(distFolder, '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  return found;
}

async function enter(): Promise<void> {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    const isUsage = error instanceof UsageError;
    console.error(isUsage ? `${messageOf(error)} See lance-catalog --help.` : messageOf(error));
    process.exitCode = isUsage ? 2 : 1;
  }
}

void enter();
