import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { replaceFileAsync } from '#processes/files.ts';
import { countText } from '#shared/format/numbers.ts';
import { RecentTexts } from '#session/core/boundedSets.ts';
import { messageOf } from '#shared/errors.ts';
import { partsOf } from './cellParts.ts';
import { MagicError, type MagicRun, splitArguments } from './magicTypes.ts';

/** Limits of the kept cells: number and characters, because a cell may contain megabytes of data. */
const limits = { count: 10_000, chars: 16 << 20 };

export class CellTexts {
  readonly #texts = new RecentTexts<number>(limits);

  /**
   * Keeps the first text for each number, because a cell that is not stored in the history has 0 or the number of
   * another cell.
   */
  add(count: number, text: string): void {
    if (count < 1 || this.#texts.has(count)) return;
    this.#texts.set(count, text);
  }

  get(count: number): string | undefined {
    return this.#texts.get(count);
  }

  get numbers(): number[] {
    return this.#texts.entries.map(([count]) => count);
  }
}

export function saver(texts: CellTexts): MagicRun {
  return async ({ rest, count }) => {
    const words = splitArguments(rest);
    const isForced = words.includes('-f');
    const [file, ...cells] = words.filter((word) => word !== '-f');
    if (file === undefined) throw new MagicError('Name the file: %save file.ts, or %save file.ts 2 4-6.');
    const numbers =
      cells.length > 0
        ? cells
            .flatMap((word) => word.split(','))
            .filter((word) => word !== '')
            .flatMap(rangeOf)
        : texts.numbers.filter((each) => each !== count);
    if (numbers.length === 0) throw new MagicError('No cell has run yet, so there is nothing to save.');
    const sources = numbers.map((number) => {
      const text = texts.get(number);
      if (text === undefined)
        throw new MagicError(`No executed cell has the number ${number}. Use numbers of cells that ran.`);
      return `// [${number}]\n${asCode(text)}\n`;
    });
    if (/[\\/]$/.test(file) || (await isFolder(resolve(file))))
      throw new MagicError(
        `"${file}" is a folder. Name a file in it, for example %save ${file.replace(/[\\/]$/, '')}/cells.ts.`,
      );
    const path = resolve(/\.[cm]?tsx?$/.test(file) ? file : `${file}.ts`);
    await write(path, sources.join('\n'), isForced);
    process.stdout.write(`${numbers.length === 1 ? '1 cell is' : `${numbers.length} cells are`} saved in ${path}\n`);
  };
}

function rangeOf(word: string): number[] {
  const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? [];
  if (first === undefined) throw new MagicError(`Expected cell numbers, for example 2 4-6, got "${word}".`);
  const from = Number(first);
  const to = Number(last ?? first);
  if (to < from) throw new MagicError(`The range "${word}" ends before it starts. Write the smaller number first.`);
  if (to - from >= limits.count)
    throw new MagicError(`The range "${word}" has more than ${countText(limits.count)} cells. Write a smaller range.`);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

const commented = (text: string): string => text.replace(/^(?=.*\S)/gm, '// ');

/** Returns a cell as TypeScript, with magics and questions as comments. */
function asCode(text: string): string {
  const parts = partsOf(text) ?? [];
  let at = 0;
  let code = '';
  for (const part of parts.filter(({ kind }) => kind !== 'code')) {
    code += text.slice(at, part.start) + commented(text.slice(part.start, part.end));
    at = part.end;
  }
  return (code + text.slice(at)).trimEnd();
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Error codes of file systems without hard links. */
const linkless: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP']);

/**
 * Permissions of a saved file, regardless of the umask. Other users must not be able to change code that may run later.
 */
const savedMode = 0o644;

/** Writes a complete file or nothing; replaces an existing file only if `isForced`. */
async function write(path: string, text: string, isForced: boolean): Promise<void> {
  const written = `${path}.${randomUUID()}.tmp`;
  try {
    if (isForced) return await replaceFileAsync(path, text, { isLasting: false, mode: savedMode });
    await writeFile(written, text, { flag: 'wx', mode: savedMode });
    // Uses a link or an exclusive copy, because each fails if the file exists. A rename would replace the file.
    await link(written, path).catch((error: unknown) => {
      if (!linkless.has((error as { code?: unknown }).code)) throw error;
      return copyFile(written, path, constants.COPYFILE_EXCL);
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST')
      throw new MagicError(`The file "${path}" already exists. Use %save -f to replace it.`, { cause: error });
    const folder = dirname(path);
    if (!(await isFolder(folder)))
      throw new MagicError(`The folder "${folder}" does not exist. Create it, or choose another file.`);
    // Removes the path from the message, because it is the path of a temporary file.
    const why = messageOf(error).replace(/, \w+ '[^]*$/, '');
    throw new MagicError(`Can't write "${path}": ${why}. Fix this, or choose another file.`, {
      cause: error,
    });
  } finally {
    await rm(written, { force: true }).catch(() => undefined);
  }
}
