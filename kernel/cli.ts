#!/usr/bin/env node
import { setImmediate as nextTurn } from 'node:timers/promises';
import { nearestName } from '#shared/names.ts';
import { asksForHelp, UsageError } from './cli/command.ts';
import { commands, help } from './cli/commands.ts';
import { handleEarlySignals } from './cli/signals.ts';
import { thisNode, version } from './cli/installation.ts';
import { failureText } from './cli/terminal.ts';

const isCommand = (word: string | undefined): word is string => word !== undefined && Object.hasOwn(commands, word);

async function main(args: readonly string[], isLoaded: () => void): Promise<number> {
  // `help sql` is `sql --help`.
  const [word, ...rest] = args[0] === 'help' && isCommand(args[1]) ? [args[1], '--help'] : args;
  // The modules of the commands may not even load on a Node.js that is too old.
  if (word !== '--version') thisNode();
  const command = isCommand(word) ? await commands[word]?.() : undefined;
  if (asksForHelp(word === undefined ? [] : [word, ...rest])) {
    console.log(command?.help ?? (await help()));
    return 0;
  }
  // A signal that arrived during loading is handled in the next turn of the event loop, while the current listeners are
  // set.
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
    default: {
      const meant = nearestName(word, Object.keys(commands));
      throw new UsageError(`There is no command "${word}".${meant === undefined ? '' : ` Did you mean "${meant}"?`}`);
    }
  }
}

/** The help that explains wrong arguments: that of the command, if there is one. */
const helpOf = (word: string | undefined): string => `lance-catalog ${isCommand(word) ? `${word} ` : ''}--help`;

/** The exit code of a process killed by SIGPIPE, by the convention of shells. */
const brokenPipe = 128 + 13;
/** The exit code is the same as for a command that did not run, because the output was lost. */
const notWritten = 2;

function onOutputError({ code, message }: NodeJS.ErrnoException): void {
  // Exits without a message, because a reader such as `head` has stopped on purpose.
  if (code === 'EPIPE') process.exit(brokenPipe);
  const hint =
    code === 'ENOSPC' ? 'Free up disk space, then run the command again.' : 'Check the destination of the output.';
  console.error(`Can't write the output: ${message}. ${hint}`);
  process.exit(notWritten);
}

async function enter(): Promise<void> {
  process.stdout.on('error', onOutputError);
  // A failure to write messages does not stop the command.
  process.stderr.on('error', () => {});
  try {
    process.exitCode = await main(process.argv.slice(2), handleEarlySignals());
  } catch (error) {
    const isUsage = error instanceof UsageError;
    console.error(`${failureText(error)}${isUsage ? ` See ${helpOf(process.argv[2])}.` : ''}`);
    process.exitCode = isUsage ? 2 : 1;
  }
}

void enter();
