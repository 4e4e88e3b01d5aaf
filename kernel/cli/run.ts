import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { createTempFolder } from '#processes/files.ts';
import { KernelProcess } from '#processes/kernelProcess.ts';
import { languageInfo } from '#session/about.ts';
import { catalogOfArgument } from '#session/catalogArgument.ts';
import { checkLanguage, type Notebook, notebookText, parseNotebook } from '#session/headless/notebookFile.ts';
import {
  type InjectedParameters,
  type Parameter,
  readParameter,
  refusedParameters,
} from '#session/headless/parameters.ts';
import { type FailedCell, type RunListener, runNotebook } from '#session/headless/runNotebook.ts';
import { checkOutputFile, writeOutputFile } from '#processes/outputFile.ts';
import { kernelDisplayName, kernelName } from '#session/kernelspecs/folders.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import type { KernelHandshake } from '#shared/protocol/kernelMessages.ts';
import { catalogHelp } from './catalogArguments.ts';
import { type Command, parse, typeCheckArgument, typeCheckHelp, UsageError } from './command.ts';
import { kernelEntry, thisNode } from './installation.ts';
import { printCells, progressOfCells } from './runScreen.ts';
import { stopBySignals } from './signals.ts';
import { codeExcerpt, progressLine, terminalText, type TextPosition } from './terminal.ts';

type Shown = {
  /** Whether the error is already visible above, as an output of the cell. */
  isPrinted: boolean;
  /** The cell that was added for the parameters, if there are any. */
  injected?: InjectedParameters | undefined;
};

export function describeFailure(failed: FailedCell, notebook: string, { isPrinted, injected }: Shown): string {
  const { cell, traceback, evalue, remark } = failed;
  const text = traceback.join('\n') || evalue;
  const where = notebook === '-' ? 'the notebook' : notebook;
  // Errors of the compiler already include the line.
  const hasLine = /^\s*\^+$/m.test(text);
  return [
    `Cell ${cell.number} of ${where} failed.`,
    ...(remark === undefined ? [] : [remark]),
    ...(injected?.source === cell.source ? refusedParameters(text, injected) : []),
    ...(hasLine ? [] : ['', ...codeExcerpt(cell.source, placeIn(text, cell.number))]),
    ...(isPrinted ? [] : ['', text]),
  ].join('\n');
}

/** Finds the first position of the cell in the traceback: `[3]:2:7`. */
function placeIn(text: string, number: number): TextPosition | undefined {
  const found = new RegExp(`\\[${number}\\]:(\\d+):(\\d+)`).exec(text);
  return found ? { line: Number(found[1]), column: Number(found[2]) } : undefined;
}

export type RunSaver = {
  /** Saves the notebook, unless it was saved recently. A failure is reported, and does not end the run. */
  soon(): Promise<void>;
  /**
   * Saves everything.
   * @throws CatalogError PermissionDenied (15), which names the fallback file with the notebook
   */
  now(): Promise<void>;
};

/**
 * Saves the notebook of a run: at the end, and at intervals before, so that a killed run leaves its results so far.
 * @param target a path, `-` for stdout, undefined to save nothing
 * @param isFile false for a pipe or a device, which can be written only once
 * @param everyMs minimum time between two saves by `soon`
 */
export function createNotebookSaver(
  target: string | undefined,
  notebook: Notebook,
  { isFile, everyMs = 5000 }: { isFile: boolean; everyMs?: number },
): RunSaver {
  let last = performance.now();
  let isTold = false;
  const save = async (path: string): Promise<void> => {
    await writeOutputFile(path, notebookText(notebook));
    last = performance.now();
  };
  return {
    async now() {
      if (target === '-') process.stdout.write(notebookText(notebook));
      else if (target !== undefined) await save(target).catch((error: unknown) => elsewhere(error, target, notebook));
    },
    async soon() {
      if (!isFile || target === undefined || performance.now() - last < everyMs) return;
      try {
        await save(target);
      } catch (error) {
        // The failure is not fatal, because a full disk may have space again at the end.
        last = performance.now();
        if (!isTold)
          console.error(`${terminalText(messageOf(error))} The run continues and saves the notebook when it ends.`);
        isTold = true;
      }
    },
  };
}

/** Saves to the temporary folder, so that a failure to save does not lose the results of hours. */
async function elsewhere(error: unknown, target: string, notebook: Notebook): Promise<never> {
  let refuge: string;
  try {
    // The notebook is saved to a private folder with a random name: outputs may be confidential, and other users share
    // the temporary folder.
    refuge = join(await createTempFolder('run'), `${basename(target, '.ipynb')}.ipynb`);
    await writeOutputFile(refuge, notebookText(notebook), 0o600);
  } catch {
    // The first error is thrown, because that is the error that the user can fix.
    throw error;
  }
  throw new CatalogError('PermissionDenied', messageOf(error), `The notebook with its outputs is in "${refuge}".`, {
    cause: error,
  });
}

const summary = `  lance-catalog run NOTEBOOK.ipynb [-p NAME=VALUE …] [-o OUT.ipynb] [--catalog DIR | --catalog ADDRESS]
      run a notebook without a screen and print the output of each cell, or save the notebook with it`;

export const runCommand: Command = {
  summary,
  help: `Runs a notebook

${summary}

  -p, --parameter NAME=VALUE   set a parameter instead of the default in the cell tagged "parameters"; repeatable. VALUE
                      is read as JSON if it is JSON (5, true, null, ["a"], "5") and the cell does not declare a string,
                      otherwise as a string. The saved notebook contains VALUE: pass secrets in environment variables
  -o, --output OUT.ipynb       save the notebook with its outputs, even if the run fails, and print progress to stderr;
                      - for stdout. OUT.ipynb may be the notebook itself
  --timeout SECONDS   stop a cell that runs longer
  --allow-errors      continue after a failed cell; exit code 0
${typeCheckHelp}
${catalogHelp}

Use - to read the notebook from stdin. Cells run in the folder of the notebook. Cells tagged "skip-execution" are
skipped, cells tagged "raises-exception" may fail. Exit code 0, 1 if a cell failed, 130 after Ctrl-C.`,
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
  // A pipe or a device is written only once, at the end, because what was written to it can't be replaced.
  const isFile = target !== undefined && target !== '-' && (await checkOutputFile(target, 'notebook'));

  const name = path === '-' ? 'The notebook on stdin' : `"${path}"`;
  const notebook = parseNotebook(await read(path), name);
  const language = checkLanguage(notebook, name);
  const injected = await inject(notebook, parameters, language);

  const saved = createNotebookSaver(target, notebook, { isFile });
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
  if (path === '-') return readText(process.stdin);
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

/** The longest time that Node's timers can wait, in seconds. */
const longestTimeout = Math.floor(2 ** 31 / 1000);

function secondsOf(argument: string | undefined): number | undefined {
  if (argument === undefined) return undefined;
  const seconds = Number(argument);
  if (seconds > 0 && seconds <= longestTimeout) return seconds;
  throw new UsageError(`Expected more than 0 and at most ${longestTimeout} seconds for --timeout, got "${argument}".`);
}

async function inject(
  notebook: Notebook,
  parameters: ReadonlyMap<string, Parameter>,
  language: NotebookLanguage,
): Promise<InjectedParameters | undefined> {
  if (parameters.size === 0) return undefined;
  // Imported lazily, because it loads the compiler, which is slow and not needed otherwise.
  const { injectParameters } = await import('#session/headless/parameters.ts');
  const injected = injectParameters(notebook, parameters, language);
  const { unknown } = injected;
  if (unknown.length > 0) console.error(`No cell tagged "parameters" declares ${unknown.join(', ')}. Check the names.`);
  return injected;
}

/** Shows changing displays only if stdout and stderr are terminals. */
const terminalLine = () => (process.stdout.isTTY && process.stderr.isTTY ? progressLine() : undefined);

/** Sets the metadata by which clients choose the kernel of the saved notebook. */
function describeKernel({ metadata }: Notebook, language: NotebookLanguage, versions: KernelHandshake): void {
  // Our JavaScript kernels have no standard name: clients choose one by the language.
  if (language === 'typescript')
    metadata['kernelspec'] ??= { name: kernelName, display_name: kernelDisplayName, language };
  metadata['language_info'] = languageInfo(language, versions);
}
