import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { messageOf } from '#shared/errors.ts';
import { MagicError, splitArguments, type MagicRun } from './magicTypes.ts';

/** Names of variables whose values are secret. They are not printed, because a notebook stores its output. */
const secretNames = /key|token|secret|passw|passphrase|credential|auth|cookie|private|signature|\bpat\b|dsn/i;
/** Patterns of secret values: `https://user:password@host`, and tokens with known prefixes. */
const secretValues = /:\/\/[^/\s:@]+:[^/\s@]+@|^(?:gh[pousr]_|github_pat_|sk-|xox[abprs]-|AKIA|eyJ[\w-]+\.)/;
const validName = /^[^=\0\s]+$/;

/** `%env`: lists and changes the `process.env` of cells and of the processes that they start. */
export const env: MagicRun = async ({ rest }, { ask }) => {
  const set = /^([^=\s]+)=(.*)$/s.exec(rest);
  if (set) return setVariable(set[1] ?? '', unquoted(set[2] ?? ''));
  const [first, second, ...more] = splitArguments(rest);
  if (first === undefined) {
    const names = Object.keys(process.env).toSorted();
    process.stdout.write(names.map((name) => `${shownVariable(name)}\n`).join(''));
    return;
  }
  if (more.length > 0 || (second === undefined) !== !first.startsWith('-')) throw new MagicError(misuse);
  if (second === undefined) {
    checkName(first);
    if (process.env[first] === undefined)
      throw new MagicError(`The environment variable ${first} is not set. Use %env ${first}=value to set it.`);
    process.stdout.write(`${shownVariable(first)}\n`);
  } else if (first === '-u') {
    checkName(second);
    delete process.env[second];
  } else if (first === '--ask') {
    checkName(second);
    process.env[second] = await ask(`${second}: `, { password: true });
  } else throw new MagicError(misuse);
};

const misuse = 'Write %env, %env NAME, %env NAME=value, %env -u NAME or %env --ask NAME.';

function setVariable(name: string, value: string): void {
  checkName(name);
  process.env[name] = value;
}

function checkName(name: string): void {
  if (!validName.test(name)) throw new MagicError(`"${name}" is not a valid name of an environment variable.`);
}

function shownVariable(name: string): string {
  const value = process.env[name] ?? '';
  const isSecret = value !== '' && (secretNames.test(name) || secretValues.test(value));
  return isSecret ? `${name}=•••••• (hidden, since the notebook would store it)` : `${name}=${value}`;
}

let before: string | undefined;

/** `%cd`: changes the working directory, which is the base for imports of cells, relative paths and child processes. */
export const cd: MagicRun = ({ rest }) => {
  const target = unquoted(rest);
  if (target === '-' && before === undefined) throw new MagicError('There is no previous folder.');
  const folder = target === '-' ? (before ?? '') : resolve(target.replace(/^~(?=$|[\\/])/, homedir()) || homedir());
  const left = currentFolder();
  try {
    process.chdir(folder);
  } catch (error) {
    throw new MagicError(whyNot(folder, error), { cause: error });
  }
  before = left ?? before;
  process.stdout.write(`${process.cwd()}\n`);
};

function whyNot(folder: string, error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === 'ENOENT') return `Can't change to "${folder}": it does not exist. The working directory is unchanged.`;
  if (code === 'ENOTDIR') return `Can't change to "${folder}": it is a file. Use the folder that contains it.`;
  if (code === 'EACCES') return `Can't change to "${folder}": permission denied.`;
  return `Can't change to "${folder}": ${messageOf(error)}`;
}

export const pwd: MagicRun = () => {
  const folder = currentFolder();
  if (folder === undefined)
    throw new MagicError('The working directory was deleted. Change to another folder with %cd.');
  process.stdout.write(`${folder}\n`);
};

function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    // The working directory was deleted, so there is no path.
    return undefined;
  }
}

/** Removes quotes around a string, if any. */
function unquoted(text: string): string {
  const [, , inner] = /^(["'])(.*)\1$/s.exec(text.trim()) ?? [];
  return inner ?? text.trim();
}
