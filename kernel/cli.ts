#!/usr/bin/env node
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '#shared/errors.ts';
import { UsageError, asksForHelp, type Command } from './cli/command.ts';
import { stopWhileLoading } from './cli/signals.ts';
import { version } from './cli/installation.ts';

/**
 * By their words, in the order of the help. Loaded when asked for: a kernel starts without waiting for what copies
 * tables, and is installed without it.
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
  // A signal that came while this thread was loading is taken at the next turn, by whoever listens then.
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

/** What a shell says of a program that wrote to one that had gone. */
const brokenPipe = 128 + 13;
/** As of a command that could not be run: what it had to say was not heard. */
const notWritten = 2;

function onOutputError({ code, message }: NodeJS.ErrnoException): void {
  // As `head` goes: nobody wants the rest, and there is nothing to complain about.
  if (code === 'EPIPE') process.exit(brokenPipe);
  const hint =
    code === 'ENOSPC' ? 'Make room where the output goes, and run it again.' : 'See to where the output goes.';
  console.error(`The output can't be written (${message}). ${hint}`);
  process.exit(notWritten);
}

async function enter(): Promise<void> {
  process.stdout.on('error', onOutputError);
  // What is said beside the output is no reason not to go on.
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
