import { catalogOfArgument } from '#session/catalogArgument.ts';
import { runNotebook } from '#session/runNotebook.ts';
import { catalogHelp } from './catalogHelp.ts';
import { UsageError, parse, type Command } from './command.ts';
import { kernelEntry, thisNode } from './installation.ts';

const summary = `  lance-catalog run NOTEBOOK.ipynb [--catalog DIR | --catalog ADDRESS]
      runs a notebook without a screen and prints what each cell gave`;

export const runCommand: Command = {
  summary,
  help: `Runs a notebook

${summary}

${catalogHelp}

Stops at the first cell that fails and ends with 1.`,
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args, { catalog: { type: 'string' } }, true);
  const [notebook, ...more] = positionals;
  if (notebook === undefined || more.length > 0) throw new UsageError('"run" needs one NOTEBOOK.ipynb.');
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const running = runNotebook({
    notebook,
    entry: kernelEntry,
    node: thisNode(),
    catalog: catalogOfArgument(values['catalog'], process.env),
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
