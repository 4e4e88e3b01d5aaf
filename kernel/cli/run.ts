import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { KernelProcess } from '#client/kernelProcess.ts';
import { catalogOfArgument } from '#session/catalogArgument.ts';
import { checkLanguage, parseNotebook, type Notebook } from '#session/headless/notebookFile.ts';
import { readParameter, type Parameter } from '#session/headless/parameterValues.ts';
import type { Injected } from '#session/headless/parameters.ts';
import { runNotebook, type RunListener } from '#session/headless/runNotebook.ts';
import { checkTarget } from '#session/headless/saveNotebook.ts';
import { kernelDisplayName, kernelName } from '#session/kernelspec.ts';
import { languageInfo } from '#session/languageInfo.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import type { KernelHandshake } from '#shared/kernelMessages.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import { catalogHelp } from './catalogHelp.ts';
import { UsageError, parse, type Command } from './command.ts';
import { kernelEntry, thisNode } from './installation.ts';
import { progressLine } from './progressLine.ts';
import { describeFailure } from './runFailure.ts';
import { saverOf } from './runSaver.ts';
import { printCells, progressOfCells } from './runScreen.ts';
import { stopBySignals } from './runSignals.ts';
import { typeCheckArgument, typeCheckHelp } from './typeCheckArgument.ts';

const summary = `  lance-catalog run NOTEBOOK.ipynb [-p NAME=VALUE …] [-o OUT.ipynb] [--catalog DIR | --catalog ADDRESS]
      runs a notebook without a screen and prints what each cell gave, or saves it with that`;

export const runCommand: Command = {
  summary,
  help: `Runs a notebook

${summary}

  -p, --parameter NAME=VALUE   a value in place of the one that the cell tagged "parameters" gives; again for
                      another. Read as JSON where it is that (5, true, null, ["a"], "5"), else as text, and as
                      text where the cell declares text. It is in the saved notebook: what is secret goes by the
                      environment
  -o, --output OUT.ipynb       saves the notebook with its outputs there, whatever becomes of the run, and shows on
                      stderr how it gets on. - is stdout. It may be the notebook itself
  --timeout SECONDS   stops a cell that takes longer
  --allow-errors      goes on behind a cell that fails, and ends with 0
${typeCheckHelp}
${catalogHelp}

- in place of the notebook is stdin. Cells run in the notebook's folder. Those tagged "skip-execution" are left out,
those tagged "raises-exception" may fail. Ends with 0, with 1 when a cell failed, which is shown, with 130 at Ctrl-C.`,
  run,
};

const options = {
  parameter: { type: 'string', short: 'p', multiple: true },
  output: { type: 'string', short: 'o' },
  timeout: { type: 'string' },
  'allow-errors': { type: 'boolean' },
  'type-check': { type: 'string' },
  catalog: { type: 'string' },
} as const;

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args, options, true);
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new UsageError('"run" needs one NOTEBOOK.ipynb.');
  const typeCheck = typeCheckArgument(values['type-check']);
  const timeout = secondsOf(values.timeout);
  const parameters = new Map(values.parameter?.map(parameterOf));
  const target = values.output;
  // What is no file takes the text once: it can't be taken back.
  const isFile = target !== undefined && target !== '-' && (await checkTarget(target));

  const name = path === '-' ? 'The notebook on stdin' : `"${path}"`;
  const notebook = parseNotebook(await read(path), name);
  const language = checkLanguage(notebook, name);
  const injected = await inject(notebook, parameters, language);

  const saved = saverOf(target, notebook, { isFile });
  const screen = target === undefined ? printCells({ status: terminalLine() }) : progressOfCells();
  const stop = stopBySignals();
  try {
    const kernel = await KernelProcess.start({
      entry: kernelEntry,
      node: thisNode(),
      cwd: path === '-' ? process.cwd() : dirname(resolve(path)),
      catalog: catalogOfArgument(values.catalog, process.env),
      ...(typeCheck && { typeCheck }),
      language,
      signal: stop.signal,
    });
    describeKernel(notebook, language, kernel.handshake);
    stop.onRepeat(() => kernel.dispose());
    try {
      const allowErrors = values['allow-errors'] === true;
      const listener: RunListener = {
        ...screen,
        end: async (...ended) => {
          await screen.end(...ended);
          await saved.soon();
        },
      };
      const failures = await runNotebook(notebook, kernel, listener, { timeout, allowErrors, signal: stop.signal });
      await saved.now();
      const last = failures.at(-1);
      if (stop.code !== undefined) return stop.code;
      if (!last || last.isAllowed) return 0;
      console.error(describeFailure(last, path, { isPrinted: target === undefined, injected }));
      return 1;
    } finally {
      await kernel.shutdown();
    }
  } catch (error) {
    if (stop.code === undefined) throw error;
    return stop.code;
  } finally {
    stop.dispose();
  }
}

async function read(path: string): Promise<string> {
  if (path === '-') return text(process.stdin);
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const { code } = Object(cause) as { code?: unknown };
    const what =
      code === 'ENOENT' ? 'does not exist' : code === 'EISDIR' ? 'is a folder' : `can't be read: ${messageOf(cause)}`;
    throw new CatalogError('InvalidInput', `"${path}" ${what}.`, 'Give the path of an .ipynb file.', { cause });
  }
}

function parameterOf(argument: string): [string, Parameter] {
  try {
    return readParameter(argument);
  } catch (cause) {
    throw new UsageError(messageOf(cause), { cause });
  }
}

function secondsOf(argument: string | undefined): number | undefined {
  if (argument === undefined) return undefined;
  const seconds = Number(argument);
  // Node's timers hold no more.
  if (seconds > 0 && seconds < 2 ** 31 / 1000) return seconds;
  throw new UsageError(`--timeout needs a number of seconds, and "${argument}" is none.`);
}

async function inject(
  notebook: Notebook,
  parameters: ReadonlyMap<string, Parameter>,
  language: NotebookLanguage,
): Promise<Injected | undefined> {
  if (parameters.size === 0) return undefined;
  // With the compiler, which takes a while to load, and which nobody else here needs.
  const { injectParameters } = await import('#session/headless/parameters.ts');
  const injected = injectParameters(notebook, parameters, language);
  const { unknown } = injected;
  if (unknown.length > 0)
    console.error(`No cell tagged "parameters" declares ${unknown.join(', ')}. Look whether the names are right.`);
  return injected;
}

/** Where displays are shown while they change: nowhere if what is printed goes to a file or a program. */
const terminalLine = () => (process.stdout.isTTY && process.stderr.isTTY ? progressLine() : undefined);

/** What a front that opens the saved notebook goes by. */
function describeKernel({ metadata }: Notebook, language: NotebookLanguage, versions: KernelHandshake): void {
  // There is no usual name of a kernel of ours for JavaScript: a front finds one by the language.
  if (language === 'typescript')
    metadata['kernelspec'] ??= { name: kernelName, display_name: kernelDisplayName, language };
  metadata['language_info'] = languageInfo(language, versions);
}
