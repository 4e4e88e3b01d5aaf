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
      the Python that backfills run with: which one it is, or an environment made for it`;

export const pythonCommand: Command = {
  summary,
  help: `The Python of backfills ("--runner local-python")

${summary}

  show      which Python would be taken, and why the others would not; what is done when nothing is said
  install   makes an environment with pylance in the data folder, about ${environmentSize} MB, and takes it from then on
  remove    removes that environment

Ends with 0; show with 1 where no Python will do.`,
  run,
};

const actions: Readonly<Record<string, (signal: AbortSignal) => Promise<number>>> = { show, install, remove };

async function run(args: readonly string[]): Promise<number> {
  const { positionals } = parse(args, {}, true);
  const [word = 'show', ...more] = positionals;
  const action = Object.hasOwn(actions, word) ? actions[word] : undefined;
  if (!action || more.length > 0) throw new UsageError(`"python ${positionals.join(' ')}" is no command.`);
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
  if (!found) console.log(`"lance-catalog python install" makes an environment, about ${environmentSize} MB.`);
  return found ? 0 : 1;
}

async function install(signal: AbortSignal): Promise<number> {
  console.log(await makePythonEnvironment(signal, (line) => console.error(line)));
  return 0;
}

async function remove(): Promise<number> {
  const wasThere = hasPythonEnvironment();
  await removePythonEnvironment();
  console.log(wasThere ? `removed ${environmentFolder()}` : 'There is no environment of Lance Catalog.');
  return 0;
}
