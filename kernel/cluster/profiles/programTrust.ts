import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ClusterError } from '#cluster/errors.ts';
import { shellCommand } from '#cluster/fixes/commands.ts';
import type { ProfileOrigin } from '#cluster/profile.ts';
import { makeFolder, replaceFile } from '#processes/files.ts';
import { dataFolder } from '#processes/userFolders.ts';
import { escapeControlCharacters, escapeInvisibleCharacters } from '#shared/format/markup.ts';

// A settings file that was found from the working folder upwards may be part of a repository that the user has only
// cloned. Therefore a program that such a profile names runs only after the user has accepted the program on this
// machine. The same applies to a token file, because the profile can name any file of the user, and the server that
// receives the file. Accepting stores a hash of everything that determines the effect. If the hash changes, the user is
// asked again.
//
// Each hash has its own private file, so that two processes can accept programs at once without a lock.

/** A program that a found profile runs to sign in. */
export type SignInProgram = {
  readonly origin: ProfileOrigin;
  /** The program and its arguments; for AWS one line for the shell. */
  readonly command: readonly string[] | string;
  readonly env: Readonly<Record<string, string>>;
  /** What configures it, for display: `the kubeconfig ~/.kube/config`. */
  readonly source: string;
  /** The key of the user's consent. */
  readonly hash: string;
};

/** A file whose content a found profile sends to a server to sign in. */
export type SignInTokenFile = {
  readonly origin: ProfileOrigin;
  /** The absolute path. */
  readonly tokenFile: string;
  /** The URL of the server. */
  readonly server: string;
  /** What names the file, for display: `the kubeconfig ~/.kube/config`. */
  readonly source: string;
  /** The key of the user's consent. */
  readonly hash: string;
};

/** A step by which a profile that was found in a folder signs in. The user must accept it first. */
export type SignInStep = SignInProgram | SignInTokenFile;

/** Describes a token file. @param sourceHash hash of the configuration as it was read */
export function signInTokenFile(about: Omit<SignInTokenFile, 'hash'>, sourceHash: string): SignInTokenFile {
  const { origin, tokenFile, server, source } = about;
  const parts = [origin.settingsFile, 'token file', tokenFile, server, source, sourceHash];
  return { ...about, hash: hashOf(parts) };
}

/**
 * Describes a program and hashes what determines its effect.
 * @param sourceHash hash of the configuration as it was read
 */
export function signInProgram(about: Omit<SignInProgram, 'hash'>, sourceHash: string): SignInProgram {
  const { origin, command, env, source } = about;
  const words = typeof command === 'string' ? command.split(/\s+/) : command;
  const files = words.map((word) => fileHash(origin, word));
  const parts = [origin.settingsFile, command, Object.entries(env), source, sourceHash, files];
  return { ...about, hash: hashOf(parts) };
}

const hashOf = (parts: readonly unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** Hashes a program inside the repository, because a `git pull` may change it. Returns `null` for other programs. */
function fileHash({ settingsFile }: ProfileOrigin, word: string): string | null {
  const file = resolve(word);
  const inside = relative(dirname(dirname(settingsFile)), file);
  if (word === '' || inside === '' || inside === '..' || inside.startsWith(`..${sep}`)) return null;
  try {
    return statSync(file).isFile() ? createHash('sha256').update(readFileSync(file)).digest('hex') : null;
  } catch {
    return null;
  }
}

const trustedFolder = (): string => join(dataFolder(), 'trusted-programs');

export const isTrustedStep = ({ hash }: SignInStep): boolean =>
  statSync(join(trustedFolder(), hash), { throwIfNoEntry: false })?.isFile() === true;

/** Records that the user accepts a step. @throws ClusterError ProgramNotTrusted if the consent can't be stored */
export function trustStep(step: SignInStep): void {
  if (isTrustedStep(step)) return;
  const folder = trustedFolder();
  const { origin, source } = step;
  const what = 'command' in step ? { program: commandText(step) } : { file: step.tokenFile, server: step.server };
  const about = { settings: origin.settingsFile, ...what, source };
  try {
    makeFolder(folder);
    const text = `${JSON.stringify({ ...about, accepted_at: new Date().toISOString() })}\n`;
    replaceFile(join(folder, step.hash), text, { isLasting: true });
  } catch (cause) {
    const { code } = Object(cause) as { code?: unknown };
    throw new ClusterError(
      'ProgramNotTrusted',
      `Can't store in "${folder}" that a program is trusted (${String(code)}).`,
      'Check the permissions of the folder and the free space.',
      { cause },
    );
  }
}

/** @throws ClusterError ProgramNotTrusted if the user has not accepted the step on this machine */
export function requireTrustedStep(step: SignInStep): void {
  if (!isTrustedStep(step)) throw stepNotTrusted(step);
}

/** Maximum number of characters of a command in an error. A question to the user always has the whole command. */
const longestInError = 500;

export function stepNotTrusted(step: SignInStep, cause?: unknown): ClusterError {
  const { profile } = step.origin;
  const text = 'command' in step ? commandText(step) : visible(step.tokenFile);
  const shown = text.length > longestInError ? `${text.slice(0, longestInError)}…` : text;
  const does =
    'command' in step
      ? `runs the program \`${shown}\` to sign in, which is not trusted on this machine: review both files`
      : `sends the file \`${shown}\` to ${visible(step.server)} to sign in, which is not trusted on this machine: ` +
        'review the settings file and the kubeconfig';
  return new ClusterError(
    'ProgramNotTrusted',
    `${subject(step)} ${does}, then run \`${visible(shellCommand('lance-catalog', 'check', '--profile', profile, '--trust'))}\`.`,
    '',
    { cause },
  );
}

/** Returns the question to the user whether a step may be taken. The text contains all that determines the effect. */
export const stepQuestion = (step: SignInStep): string =>
  'command' in step ? programQuestion(step) : tokenFileQuestion(step);

const tokenFileQuestion = (step: SignInTokenFile): string =>
  [
    `${subject(step)} sends the content of a file to sign in:`,
    '',
    `  ${visible(step.tokenFile)}`,
    '',
    'to this server:',
    '',
    `  ${visible(step.server)}`,
    '',
    `It is configured in ${visible(step.source)}. Send it from this machine, now and later?`,
  ].join('\n');

function programQuestion(program: SignInProgram): string {
  const variables = Object.entries(program.env).map(([name, value]) => `  ${visible(`${name}=${value}`)}`);
  return [
    `${subject(program)} runs a program to sign in:`,
    '',
    `  ${commandText(program)}`,
    ...(variables.length > 0 ? ['', 'with these environment variables:', '', ...variables] : []),
    '',
    `It is configured in ${visible(program.source)}. Run it on this machine, now and later?`,
  ].join('\n');
}

const subject = ({ origin }: SignInStep): string =>
  `The cluster profile "${visible(origin.profile)}" of ${visible(origin.settingsFile)}`;

const commandText = ({ command }: SignInProgram): string =>
  visible(typeof command === 'string' ? command : shellCommand(...command));

/**
 * Invisible characters are escaped, because a repository may have written this text and could hide a part of the
 * command with them.
 */
const visible = (text: string): string => escapeInvisibleCharacters(escapeControlCharacters(text));
