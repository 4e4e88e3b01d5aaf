#!/usr/bin/env node
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '#shared/errors.ts';
import { asksForHelp, UsageError } from './cli/command.ts';
import { commands, help } from './cli/commands.ts';
import { stopWhileLoading } from './cli/signals.ts';
import { version } from './cli/installation.ts';

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
