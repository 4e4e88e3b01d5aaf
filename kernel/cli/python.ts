import { findPython, whyNoPython } from '#jobs/python/findPython.ts';
import {
  environmentFolder,
  hasPythonEnvironment,
  makePythonEnvironment,
  removePythonEnvironment,
} from '#jobs/python/pythonEnvironment.ts';
import { environmentSize } from '#jobs/python/pythonPackages.ts';
import { UsageError, parse, type Command } from './command.ts';
import { stopBySignals } from './signals.ts';

const summary = `  lance-catalog python [show | install | remove]
      show which Python runs backfills, or manage an environment for it`;

export const pythonCommand: Command = {
  summary,
  help: `Manages the Python that runs backfills ("--runner local-python")

${summary}

  show      show which Python backfills use, or why none is suitable (default)
  install   create an environment with pylance in the data folder, about ${environmentSize} MB, and use it from then on
  remove    remove this environment

Exit code 0; for show, 1 if no Python is suitable.`,
  run,
};

const actions: Readonly<Record<string, (signal: AbortSignal) => Promise<number>>> = { show, install, remove };

async function run(args: readonly string[]): Promise<number> {
  const { positionals } = parse(args, {}, true);
  const [word = 'show', ...more] = positionals;
  const action = Object.hasOwn(actions, word) ? actions[word] : undefined;
  if (!action || more.length > 0) throw new UsageError(`There is no command "python ${positionals.join(' ')}".`);
  const stopping = stopBySignals();
  try {
    return await action(stopping.signal);
  } catch (error) {
    if (stopping.code !== undefined) return stopping.code;
    throw error;
  } finally {
    stopping.dispose();
  }
}

async function show(signal: AbortSignal): Promise<number> {
  const { found, tried } = await findPython({}, signal);
  console.log(found ? `${found.path}: Python ${found.python} with pylance ${found.lance}` : whyNoPython(tried));
  if (!found) console.log(`To create an environment (about ${environmentSize} MB), run: lance-catalog python install`);
  return found ? 0 : 1;
}

async function install(signal: AbortSignal): Promise<number> {
  console.log(await makePythonEnvironment(signal, (line) => console.error(line)));
  return 0;
}

async function remove(): Promise<number> {
  const wasThere = hasPythonEnvironment();
  await removePythonEnvironment();
  console.log(wasThere ? `Removed ${environmentFolder()}` : 'There is no Lance Catalog environment.');
  return 0;
}
