#!/usr/bin/env node
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '#shared/errors.ts';
import { UsageError, asksForHelp, type Command } from './cli/command.ts';
import { stopWhileLoading } from './cli/signals.ts';
import { version } from './cli/installation.ts';

/**
 * The commands by name, in the order of the help, loaded lazily: a kernel must not wait for the code that copies
 * tables, nor be installed with it.
 */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  copy: async () => (await import('./cli/copy.ts')).copyCommand,
  serve: async () => (await import('./cli/serve.ts')).serveCommand,
  repair: async () => (await import('./cli/repair.ts')).repairCommand,
  kernel: async () => (await import('./cli/kernel.ts')).kernelCommand,
  run: async () => (await import('./cli/run.ts')).runCommand,
  check: async () => (await import('./cli/check.ts')).checkCommand,
  backfill: async () => (await import('./cli/backfill.ts')).backfillCommand,
  jobs: async () => (await import('./cli/jobs.ts')).jobsCommand,
  python: async () => (await import('./cli/python.ts')).pythonCommand,
};

async function help(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  return `lance-catalog: tables in Lance catalogs, and TypeScript notebooks over them

${all.map(({ summary }) => summary).join('\n')}

  lance-catalog COMMAND --help   says all of a command
  --help, --version`;
}

async function main([word, ...rest]: readonly string[], isLoaded: () => void): Promise<number> {
  const command = word !== undefined && Object.hasOwn(commands, word) ? await commands[word]?.() : undefined;
  if (asksForHelp(word === undefined ? [] : [word, ...rest])) {
    console.log(command?.help ?? (await help()));
    return 0;
  }
  // A signal during loading is handled in the next turn, by the current listeners.
  await nextTurn();
  isLoaded();
  if (command) return command.run(rest);
  switch (word) {
    case undefined:
    case 'help':
      console.log(await help());
      return word === undefined ? 2 : 0;
    case '--version':
      console.log(version());
      return 0;
    default:
      throw new UsageError(`There is no command "${word}".`);
  }
}

/** The exit code of a process killed by SIGPIPE, by the convention of shells. */
const brokenPipe = 128 + 13;
/** As if the command did not run: its output was lost. */
const notWritten = 2;

function onOutputError({ code, message }: NodeJS.ErrnoException): void {
  // Quiet, since a reader such as `head` has stopped on purpose.
  if (code === 'EPIPE') process.exit(brokenPipe);
  const hint =
    code === 'ENOSPC' ? 'Make room where the output goes, and run it again.' : 'See to where the output goes.';
  console.error(`The output can't be written (${message}). ${hint}`);
  process.exit(notWritten);
}

async function enter(): Promise<void> {
  process.stdout.on('error', onOutputError);
  // A failure to write messages does not stop the command.
  process.stderr.on('error', () => {});
  try {
    process.exitCode = await main(process.argv.slice(2), stopWhileLoading());
  } catch (error) {
    const isUsage = error instanceof UsageError;
    console.error(isUsage ? `${messageOf(error)} See lance-catalog --help.` : messageOf(error));
    process.exitCode = isUsage ? 2 : 1;
  }
}

void enter();
