import { statSync } from 'node:fs';
import { join } from 'node:path';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { escapeInvisibleCharacters, pluralize } from '#shared/format/markup.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { makeFolder, replaceFile } from '#processes/files.ts';
import { dataFolder } from '#processes/userFolders.ts';
import { recordWriteError } from '#jobs/records/recordErrors.ts';
import { decodeOutput } from './outputType.ts';

// A function on a table may come from any user with write access, and would run with all rights of the local user. So
// its code is shown, and it runs only after it was accepted on this machine. Accepting stores a hash: if the function
// on the table changes, the user is asked again.
//
// One private file per hash: two windows can accept functions at once without a lock.

const acceptedFolder = (): string => join(dataFolder(), 'accepted-functions');

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Whether a function needs consent. SQL expressions only compute values, and server functions do not run here. */
const bringsCode = ({ kind }: Pick<ComputedFunction, 'kind'>): boolean => kind === 'typescript' || kind === 'python';

export function isAccepted(hash: string): boolean {
  return isHash(hash) && statSync(join(acceptedFolder(), hash), { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * Records that the user has accepted this code or defined it here, so that it may run on this machine.
 * @param about stored for information only
 * @throws JobError Internal if `hash` is not a function hash, StorageFull or StorageFailed if it can't be stored
 */
export function acceptFunction(hash: string, about: { readonly name?: string; readonly table?: string } = {}): void {
  if (!isHash(hash)) throw new JobError('Internal', `"${hash.slice(0, 100)}" is not a function hash.`, '');
  if (isAccepted(hash)) return;
  const folder = acceptedFolder();
  const text = `${JSON.stringify({ ...about, accepted_at: new Date().toISOString() })}\n`;
  try {
    makeFolder(folder);
    replaceFile(join(folder, hash), text, { isLasting: true });
  } catch (error) {
    throw recordWriteError(error, folder, 'accepted') ?? error;
  }
}

/**
 * Checks that a function was accepted here, is allowed for this run, or contains no code.
 * @throws JobError FunctionNotAccepted with the steps to review and accept it
 */
export function checkAccepted(fn: ComputedFunction, table: string, allowed: readonly string[] = []): void {
  if (!bringsCode(fn) || allowed.includes(fn.hash) || isAccepted(fn.hash)) return;
  throw new JobError(
    'FunctionNotAccepted',
    `The function "${fn.name}" of table "${table}" is not accepted on this machine. Its hash is ${fn.hash}.`,
    'Review its code, and accept it if you trust its author.',
  );
}

/**
 * Describes a function for consent, with all of its code. Its name and author are quoted, because its author chose them.
 */
export function consentText(
  fn: ComputedFunction,
  { author, table, column }: { readonly author: string; readonly table: string; readonly column: string },
): string {
  const type = typeText(decodeOutput(fn.output).type);
  const lines = [
    `The column "${column}" of the table "${table}" is computed by the function ${JSON.stringify(fn.name)}.`,
    `It reads ${fn.inputs.map((name) => `"${name}"`).join(', ') || 'no column'} and returns ${type}.`,
    `Registered by ${author === '' ? 'an unknown author' : JSON.stringify(author)} (not verified). Hash: ${fn.hash}`,
    '',
    codeShown(fn),
  ];
  return escapeInvisibleCharacters(lines.join('\n').replaceAll('\r\n', '\n'));
}

/**
 * Shows the bundle of a TypeScript function before its source, because the bundle is what runs, and the hash does not
 * prove that the source belongs to the bundle. The size is shown before each part, so that a fake heading within the
 * code can't mislead the reader about the end of the code.
 */
function codeShown(fn: ComputedFunction): string {
  switch (fn.kind) {
    case 'sql':
      return fn.expression;
    case 'python':
      return `The code that runs has ${sizeText(fn.code)}:\n\n${fn.code}`;
    case 'typescript': {
      const runs = `The code that runs has ${sizeText(fn.code)}`;
      if (fn.source.trim() === fn.code.trim()) return `${runs}:\n\n${fn.code}`;
      return (
        `${runs}. Below it is the source, according to the author (${sizeText(fn.source)}), which does not run ` +
        `and may differ.\n\n${fn.code}\n\nSource code, according to the author, which does not run:\n\n${fn.source}`
      );
    }
    case 'server':
      return 'The catalog server stores and runs its code.';
  }
}

const sizeText = (code: string): string =>
  `${pluralize(code.split('\n').length, 'line')} and ${pluralize(code.length, 'character')}`;
