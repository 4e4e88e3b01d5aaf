#!/usr/bin/env node
import { messageOf } from '#shared/errors.ts';
import { UsageError, asksForHelp, type Command } from './cli/command.ts';
import { copyCommand } from './cli/copy.ts';
import { version } from './cli/installation.ts';
import { kernelCommand } from './cli/kernel.ts';
import { runCommand } from './cli/run.ts';
import { serveCommand } from './cli/serve.ts';

/** By their words, in the order of the help. */
const commands: Readonly<Record<string, Command>> = {
  copy: copyCommand,
  serve: serveCommand,
  kernel: kernelCommand,
  run: runCommand,
};

const help = `lance-catalog: tables in Lance catalogs, and TypeScript notebooks over them

${Object.values(commands)
  .map(({ summary }) => summary)
  .join('\n')}

  lance-catalog COMMAND --help   says all of a command
  --help, --version`;

async function main([word, ...rest]: readonly string[]): Promise<number> {
  const command = word !== undefined && Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (asksForHelp(word === undefined ? [] : [word, ...rest])) {
    console.log(command?.help ?? help);
    return 0;
  }
  if (command) return command.run(rest);
  switch (word) {
    case undefined:
    case 'help':
      console.log(help);
      return word === undefined ? 2 : 0;
    case '--version':
      console.log(version());
      return 0;
    default:
      throw new UsageError(`There is no command "${word}".`);
  }
}

async function enter(): Promise<void> {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    const isUsage = error instanceof UsageError;
    console.error(isUsage ? `${messageOf(error)} See lance-catalog --help.` : messageOf(error));
    process.exitCode = isUsage ? 2 : 1;
  }
}

void enter();
