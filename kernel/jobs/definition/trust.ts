import { statSync } from 'node:fs';
import { join } from 'node:path';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { makeFolder } from '#processes/files.ts';
import { dataFolder } from '#processes/userFolders.ts';
import { replaceFile } from '#processes/files.ts';
import { notKept } from '#jobs/records/recordErrors.ts';
import { decodeOutput } from './outputType.ts';

// A function that is found on a table was written by whoever may write to the table, and would run here with all that this
// person may do. So each one is shown, and runs once it was accepted on this machine. What is accepted is a hash, and thus
// exactly this code: a table that is changed behind somebody's back is asked about anew.
//
// A file a hash, in a folder of the person alone: two windows that accept something at once need no lock for it.

const acceptedFolder = (): string => join(dataFolder(), 'accepted-functions');

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Whether a function brings code that runs with the rights of the person. A SQL expression computes values and no more. */
const bringsCode = ({ kind }: Pick<ComputedFunction, 'kind'>): boolean => kind === 'typescript' || kind === 'python';

/** Whether a function of this hash may run on this machine. */
export function isAccepted(hash: string): boolean {
  return isHash(hash) && statSync(join(acceptedFolder(), hash), { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * Remembers that functions of this hash may run on this machine: somebody has seen the code and said so, or has defined it
 * here.
 * @param about for who looks into the folder
 * @throws JobError Internal for what is no hash, StorageFull or StorageFailed where it can't be kept
 */
export function accept(hash: string, about: { readonly name?: string; readonly table?: string } = {}): void {
  if (!isHash(hash)) throw new JobError('Internal', `"${hash.slice(0, 100)}" is no hash of a function.`, '');
  if (isAccepted(hash)) return;
  const folder = acceptedFolder();
  const text = `${JSON.stringify({ ...about, accepted_at: new Date().toISOString() })}\n`;
  try {
    makeFolder(folder);
    replaceFile(join(folder, hash), text, { isLasting: true });
  } catch (error) {
    throw notKept(error, folder, 'accepted') ?? error;
  }
}

/**
 * Lets through what may run: what was accepted here, what is allowed for this one time, and what brings no code.
 * @throws JobError FunctionNotAccepted, which says how to look at it and how to allow it
 */
export function checkAccepted(fn: ComputedFunction, table: string, allowed: readonly string[] = []): void {
  if (!bringsCode(fn) || allowed.includes(fn.hash) || isAccepted(fn.hash)) return;
  throw new JobError(
    'FunctionNotAccepted',
    `The function "${fn.name}" was found on the table "${table}" and was not accepted on this machine. Its hash is ${fn.hash}.`,
    'Look at its code, and accept it if you trust who wrote it.',
  );
}

/** Characters of code that a person is shown at once. */
const maxShown = 20_000;

/**
 * What somebody has to see before they agree that a function runs: where it is from, what it does to the table, and its
 * code. Names are in quotes, since they are the words of whoever wrote them.
 */
export function consentText(
  fn: ComputedFunction,
  { author, table, column }: { readonly author: string; readonly table: string; readonly column: string },
): string {
  const type = typeText(decodeOutput(fn.output).type);
  const lines = [
    `The column "${column}" of the table "${table}" is computed by the function ${JSON.stringify(fn.name)}.`,
    `It reads ${fn.inputs.map((name) => `"${name}"`).join(', ') || 'no column'} and gives ${type}.`,
    `Registered by ${author === '' ? 'nobody who says so' : JSON.stringify(author)}, in their own words. Hash: ${fn.hash}`,
    '',
    codeShown(fn),
  ];
  return visible(lines.join('\n'));
}

// Signs that move a cursor, colour a terminal, turn the direction of text or take no room: a way to hide code from who reads it.
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text with all signs to be seen that are not by themselves. */
const visible = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(unseen, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`);

/**
 * The code that would run. Of TypeScript what is shown is the bundle and not only the text beside it: that a text belongs to
 * a bundle is nothing that a hash could say.
 */
function codeShown(fn: ComputedFunction): string {
  switch (fn.kind) {
    case 'sql':
      return fn.expression;
    case 'python':
      return cut(fn.code);
    case 'typescript':
      return `${cut(fn.code)}\n\nIt was made of this text, as its author says:\n\n${cut(fn.source)}`;
    case 'server':
      return 'The server of the catalog has its code and runs it.';
  }
}

const cut = (code: string): string =>
  code.length <= maxShown ? code : `${code.slice(0, maxShown)}\n… and ${code.length - maxShown} characters more.`;
