import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { messageOf } from '#shared/errors.ts';
import { type NotebookLanguage, notebookLanguages } from '#shared/notebookLanguage.ts';
import { type TypeCheck, typeCheckModes } from '#shared/protocol/kernelMessages.ts';

/** One word after `lance-catalog`, with all that belongs to it. */
export type Command = {
  /** How it is written, and what for; several lines where it has words of its own. Part of the general help. */
  readonly summary: string;
  /** What `lance-catalog WORD --help` prints. */
  readonly help: string;
  /** Runs it and gives the exit code. @throws UsageError for arguments that can't be meant */
  readonly run: (args: readonly string[]) => Promise<number>;
};

/** What the person typed can't be meant: one sentence, exit code 2. */
export class UsageError extends Error {}

/** Reads the arguments of a command. @throws UsageError for an option it does not have */
export function parse<const T extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: T,
  allowPositionals = false,
): ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: boolean }>> {
  try {
    return parseArgs({ args: withNegatives(args, options), options, allowPositionals });
  } catch (error) {
    const option = /^Option '(--[\w-]+)' argument is ambiguous/.exec(messageOf(error))?.[1];
    if (option !== undefined) {
      const what = `${option} is followed by what looks like another option: write its value as ${option}=VALUE.`;
      throw new UsageError(what, { cause: error });
    }
    // Node adds advice on positional arguments, which is of no use here.
    throw new UsageError(`${messageOf(error).split('. ', 1)[0]}.`, { cause: error });
  }
}

/** Node takes the `-1` of `--count -1` for an option. None is a number, so it is a value, right or wrong. */
function withNegatives(args: readonly string[], options: ParseArgsOptionsConfig): string[] {
  const joined: string[] = [];
  for (const [at, arg] of args.entries()) {
    const before = args[at - 1] ?? '';
    const isValue = before.startsWith('--') && options[before.slice(2)]?.type === 'string' && /^-\d/.test(arg);
    if (isValue) joined.splice(-1, 1, `${before}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

/** Wherever it stands: who asks does not know the rest. What follows `--` is a name. */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end).some((arg) => arg === '--help' || arg === '-h');
}

export const languageHelp = `  --language LANGUAGE   language of the cells: typescript, or javascript, whose types are not checked (default: typescript;
                      javascript for a kernel named "jslab")`;

/** The language that `--language` names. @throws UsageError for a language that is not run here */
export function languageArgument(argument: string | undefined): NotebookLanguage | undefined {
  if (argument === undefined) return undefined;
  const language = notebookLanguages.find((each) => each === argument);
  if (language) return language;
  throw new UsageError(`Expected ${notebookLanguages.join(' or ')} for --language, got "${argument}".`);
}

export const typeCheckHelp = `  --type-check MODE   what a type error does: "error" keeps its cell from running, "warn" is printed, "off" is not looked
                      for; "error" when nothing is said`;

/** What `--type-check` said. @throws UsageError for a mode that there is not */
export function typeCheckArgument(argument: string | undefined): TypeCheck | undefined {
  if (argument === undefined) return undefined;
  const mode = typeCheckModes.find((each) => each === argument);
  if (mode) return mode;
  throw new UsageError(`--type-check is one of ${typeCheckModes.join(', ')}, and "${argument}" is none.`);
}
