import { constants } from 'node:os';
import { checkRoot, isObjectStore } from '#catalog/root.ts';
import { startNode } from '#processes/childProcess.ts';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { catalogOfArgument } from '#session/catalogArgument.ts';
import { kernelDisplayName, kernelName, type KernelspecLocation } from '#session/kernelspecs/folders.ts';
import { installKernelspec } from '#session/kernelspecs/install.ts';
import { findSpecs, type FoundSpec, settingsOf } from '#session/kernelspecs/list.ts';
import { removeKernelspec } from '#session/kernelspecs/remove.ts';
import { type SpecState, stateOf } from '#session/kernelspecs/specState.ts';
import { messageOf } from '#shared/errors.ts';
import { isTslabKernel, languageOfKernel, type NotebookLanguage } from '#shared/notebookLanguage.ts';
import { catalogHelp } from './catalogArguments.ts';
import {
  type Command,
  languageArgument,
  languageHelp,
  parse,
  typeCheckArgument,
  typeCheckHelp,
  UsageError,
} from './command.ts';
import { installation, kernelEntry, thisNode } from './installation.ts';
import { terminalText } from './terminal.ts';

export const placeOptions = {
  user: { type: 'boolean' },
  'sys-prefix': { type: 'boolean' },
  prefix: { type: 'string' },
} as const;

/** Reads the location options. @throws UsageError if there is more than one */
export function placeArgument(values: {
  user?: boolean | undefined;
  'sys-prefix'?: boolean | undefined;
  prefix?: string | undefined;
}): KernelspecLocation | undefined {
  const places: KernelspecLocation[] = [];
  if (values.user) places.push({ kind: 'user' });
  if (values['sys-prefix']) places.push({ kind: 'sys-prefix' });
  if (values.prefix !== undefined) places.push({ kind: 'prefix', folder: values.prefix });
  if (places.length > 1) throw new UsageError('Give only one of --user, --sys-prefix and --prefix.');
  return places[0];
}

const installOptions = {
  ...placeOptions,
  name: { type: 'string' },
  'display-name': { type: 'string' },
  catalog: { type: 'string' },
  'type-check': { type: 'string' },
  language: { type: 'string' },
} as const;

/** `kernel install`: registers the kernel with Jupyter. */
export async function install(args: readonly string[]): Promise<number> {
  const { values } = parse(args, installOptions);
  const { name = kernelName, catalog } = values;
  const language = languageArgument(values.language) ?? languageOfKernel(name);
  // A blank name is replaced, because users could not choose it.
  const displayName = values['display-name']?.trim() || usualDisplayName(name, language);
  const spec = await installKernelspec({
    place: placeArgument(values) ?? { kind: 'user' },
    name,
    displayName,
    catalog,
    typeCheck: typeCheckArgument(values['type-check']),
    language,
    installation,
    node: thisNode(),
  });
  console.log(`Installed the kernel "${displayName}" in ${spec}`);
  const problem = await rootProblem(catalog);
  if (problem !== undefined) console.error(terminalText(`${problem} Until then its cells can't open the catalog.`));
  return 0;
}

/** Returns what is wrong with the directory of a new kernel, which may be created later. */
async function rootProblem(catalog: string | undefined): Promise<string | undefined> {
  const config = catalogOfArgument(catalog, {});
  if (config?.implementation !== 'dir' || isObjectStore(config.root)) return undefined;
  return checkRoot(config.root).then(
    () => undefined,
    (error: unknown) => messageOf(error),
  );
}

function usualDisplayName(name: string, language: NotebookLanguage): string {
  const title = language === 'javascript' ? 'JavaScript' : 'TypeScript';
  if (name === kernelName && language === 'typescript') return kernelDisplayName;
  // tslab's own kernels may be installed in another environment. They use the bare language as display name.
  return isTslabKernel(name) ? `${title} (Lance Catalog, ${name})` : `${title} (${name})`;
}

/** `kernel list`: prints our kernelspecs, their locations, what each one runs, and the reason if it fails. */
export async function list(args: readonly string[]): Promise<number> {
  parse(args, {});
  const ours = (await findSpecs()).filter((spec) => spec.isOurs);
  if (ours.length === 0) {
    console.log('Jupyter finds no Lance Catalog kernel here. To install one, run: lance-catalog kernel install');
    return 0;
  }
  for (const spec of ours) console.log(describe(spec, await stateOf(spec)));
  return 0;
}

function describe(spec: FoundSpec, state: SpecState): string {
  const { catalog, typeCheck, language } = settingsOf(spec);
  const lines = [
    `${spec.name}  ${spec.displayName}`.trimEnd(),
    `  in          ${spec.folder}`,
    ...(catalog === undefined ? [] : [`  catalog     ${catalog}`]),
    ...(typeCheck === undefined ? [] : [`  type check  ${typeCheck}`]),
    ...(language === undefined ? [] : [`  language    ${language}`]),
    state.works
      ? `  runs        Lance Catalog ${state.version} in ${state.installation}, by Node ${state.nodeVersion} (${state.node})`
      : `  fails       ${state.why}`,
  ];
  return lines.join('\n');
}

/** `kernel remove`: removes one of our kernelspecs. */
export async function remove(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args, placeOptions, true);
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError('"kernel remove" needs one NAME.');
  const folder = await removeKernelspec(name, placeArgument(values));
  console.log(`Removed the kernel "${name}" from ${folder}`);
  return 0;
}

const runOptions = {
  'connection-file': { type: 'string' },
  catalog: { type: 'string' },
  'type-check': { type: 'string' },
  language: { type: 'string' },
} as const;

/** `kernel run`: runs a kernel for Jupyter, and exits with its exit code. */
export async function runKernel(args: readonly string[]): Promise<number> {
  const { values } = parse(args, runOptions);
  const { 'connection-file': file, catalog } = values;
  if (file === undefined) throw new UsageError('"kernel run" needs --connection-file FILE.');
  const typeCheck = typeCheckArgument(values['type-check']);
  const language = languageArgument(values.language);
  const child = startNode({
    node: thisNode(),
    flags: kernelFlags(process.versions.node),
    entry: kernelEntry,
    args: [
      `--connection-file=${file}`,
      ...(catalog === undefined ? [] : [`--catalog=${catalog}`]),
      ...(typeCheck === undefined ? [] : [`--type-check=${typeCheck}`]),
      ...(language === undefined ? [] : [`--language=${language}`]),
    ],
    stdio: 'inherit',
  });
  // Ctrl-C is ignored here. The kernel receives Ctrl-C directly, and the client of the kernel decides what it does.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolveExit, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolveExit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
  });
}

const summary = `  lance-catalog kernel install [--user | --sys-prefix | --prefix DIR] [--name NAME] [--display-name TEXT]
                               [--catalog DIR | --catalog ADDRESS] [--type-check MODE] [--language LANGUAGE]
      register the kernel "TypeScript (Lance Catalog)" with Jupyter
  lance-catalog kernel list
      list the Lance Catalog kernels that Jupyter finds, what each one runs, and the reason if it fails
  lance-catalog kernel remove NAME [--user | --sys-prefix | --prefix DIR]
      remove a kernel from Jupyter
  lance-catalog kernel run --connection-file FILE [--catalog DIR | --catalog ADDRESS] [--type-check MODE]
                           [--language LANGUAGE]
      run a kernel for a Jupyter client`;

export const kernelCommand: Command = {
  summary,
  help: `Installs, lists, removes and runs the TypeScript kernel for notebooks

${summary}

  --user              install for the current user (default)
  --sys-prefix        install in the active Python environment
  --prefix DIR        install below another folder, such as /usr/local
  --name NAME         the kernel's name in Jupyter (default: lance-typescript). Use another name for another catalog.
                      With "tslab" or "jslab", the kernel runs notebooks of those kernels where they are not installed
  --display-name TEXT   the name that users see when they choose a kernel
${typeCheckHelp}
${languageHelp}
${catalogHelp}

Credentials are never stored: the kernel reads them from the environment of Jupyter.`,
  run: ([word, ...rest]) => {
    switch (word) {
      case 'install':
        return install(rest);
      case 'list':
        return list(rest);
      case 'remove':
        return remove(rest);
      case 'run':
        return runKernel(rest);
      case undefined:
        throw new UsageError('Use "kernel install", "kernel list", "kernel remove" or "kernel run".');
      default:
        throw new UsageError(`There is no command "kernel ${word}".`);
    }
  },
};
