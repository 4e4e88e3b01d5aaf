import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { messageOf } from '#shared/errors.ts';
import { nearestName } from '#shared/names.ts';
import { type NotebookLanguage, notebookLanguages, typeCheckModes } from '#shared/notebookLanguage.ts';
import type { TypeCheck } from '#shared/protocol/kernelMessages.ts';

/** A command: the word after `lance-catalog` and its implementation. */
export type Command = {
  /** Syntax and purpose, for the general help; several lines if there are subcommands. */
  readonly summary: string;
  readonly help: string;
  /** Runs it and returns the exit code. @throws UsageError for invalid arguments */
  readonly run: (args: readonly string[]) => Promise<number>;
};

/** Invalid arguments: one sentence, exit code 2. */
export class UsageError extends Error {}

/** Parses the arguments of a command. @throws UsageError for an unknown option */
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
      const what = `The value of ${option} looks like an option. Write it as ${option}=VALUE.`;
      throw new UsageError(what, { cause: error });
    }
    const unknown = /^Unknown option '--([^']*)'/.exec(messageOf(error))?.[1];
    const meant = unknown === undefined ? undefined : nearestName(unknown, Object.keys(options));
    const step = meant === undefined ? '' : ` Did you mean --${meant}?`;
    // Node adds advice on positional arguments, which does not help here.
    throw new UsageError(`${messageOf(error).split('. ', 1)[0]}.${step}`, { cause: error });
  }
}

/**
 * Joins a negative number to the option before it, as in `--count -1`, because Node would parse the number as an
 * option.
 */
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

/**
 * Whether help is requested. The option may be at any position, because the user may not know the other arguments.
 * Words after `--` are never options.
 */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end).some((arg) => arg === '--help' || arg === '-h');
}

/** Parses an option with a fixed set of values. @throws UsageError for another value */
export function choiceArgument<const T extends string>(
  option: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw new UsageError(`Expected one of ${choices.join(', ')} for ${option}, got "${text}".`);
}

/** Parses an option that is a whole number. @throws UsageError for another value */
export function wholeNumberArgument(
  option: string,
  text: string | undefined,
  { most = Number.MAX_SAFE_INTEGER, orZero = false }: { most?: number; orZero?: boolean } = {},
): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  const least = orZero ? 0 : 1;
  if (/^\d+$/.test(text) && number <= most && number >= least) return number;
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new UsageError(`Expected a whole number ${range} for ${option}, got "${text}".`);
}

export const languageHelp = `  --language LANGUAGE   language of the cells: typescript, or javascript, whose types are not checked (default:
                      typescript; javascript for a kernel with the name "jslab")`;

/** Parses `--language`. @throws UsageError for an unsupported language */
export function languageArgument(argument: string | undefined): NotebookLanguage | undefined {
  if (argument === undefined) return undefined;
  const language = notebookLanguages.find((each) => each === argument);
  if (language) return language;
  throw new UsageError(`Expected ${notebookLanguages.join(' or ')} for --language, got "${argument}".`);
}

export const typeCheckHelp = `  --type-check MODE   what to do with type errors: "error" doesn't run the cell, "warn" prints them, "off" doesn't check
                      types (default: error)`;

/** Parses `--type-check`. @throws UsageError for an unknown mode */
export const typeCheckArgument = (argument: string | undefined): TypeCheck | undefined =>
  choiceArgument('--type-check', argument, typeCheckModes);
