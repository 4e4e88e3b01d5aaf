import { closeSync, openSync, readdirSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The name of the first part. This part is the most useful one, so its name is simple; the names of later parts contain
 * the byte offset.
 */
const firstFile = 'log.txt';
const laterFile = /^log\.(\d{1,15})\.txt$/;

/** Bytes of a part, and number of parts kept in addition to the first. */
const partBytes = 1 << 20;
const laterParts = 7;
const maxRead = 256 << 10;

type Part = { readonly start: number; readonly path: string; readonly size: number };

/** Lists the parts of a log in order. @throws an error of the file system */
function partsOf(folder: string): Part[] {
  const parts = readdirSync(folder).flatMap((name): Part[] => {
    const start = name === firstFile ? 0 : Number(laterFile.exec(name)?.[1] ?? Number.NaN);
    if (!Number.isSafeInteger(start)) return [];
    const path = join(folder, name);
    return [{ start, path, size: statSync(path, { throwIfNoEntry: false })?.size ?? 0 }];
  });
  return parts.toSorted((a, b) => a.start - b.start);
}

type JobLog = { write(text: string): void; close(): void };

/**
 * Appends to the log of a job: its first megabyte and the last seven are kept. On a full disk text is lost and the
 * job continues.
 */
export function openJobLog(folder: string): JobLog {
  let part: { file: number; end: number; room: number } | undefined;

  const open = (start: number, size: number): void => {
    const path = join(folder, start === 0 ? firstFile : `log.${start}.txt`);
    part = { file: openSync(path, 'a', 0o600), end: start + size, room: partBytes - size };
  };
  const next = (start: number): void => {
    if (part) closeSync(part.file);
    part = undefined;
    for (const { path } of partsOf(folder)
      .slice(1)
      .slice(0, -(laterParts - 1)))
      rmSync(path, { force: true });
    open(start, 0);
  };

  return {
    write: (text) => {
      try {
        if (!part) {
          const last = partsOf(folder).at(-1);
          open(last?.start ?? 0, last?.size ?? 0);
        }
        const bytes = Buffer.from(text);
        if (part && part.room <= 0) next(part.end);
        if (!part) return;
        const written = writeSync(part.file, bytes);
        part.end += written;
        part.room -= written;
      } catch {
        // The error is ignored: the disk is full, or the folder was removed. Later text may succeed.
      }
    },
    close: () => {
      if (part) closeSync(part.file);
      part = undefined;
    },
  };
}

/**
 * Reads at most 256 KB of a job's log from a byte offset. A line reports dropped bytes; without a log the text is
 * empty.
 * @returns the text and the offset to continue from
 */
export function readLog(folder: string, from: number): { readonly text: string; readonly next: number } {
  let parts: Part[];
  try {
    parts = partsOf(folder);
  } catch {
    return { text: '', next: from };
  }
  const part = parts.find(({ start, size }) => from < start + size);
  if (!part) return { text: '', next: from };
  const skipped = Math.max(0, part.start - from);
  const at = Math.max(from, part.start);
  const bytes = wholeCharacters(readAt(part.path, at - part.start));
  const note = skipped === 0 ? '' : `… ${skipped} bytes omitted …\n`;
  return { text: note + bytes.toString('utf8'), next: at + bytes.length };
}

function readAt(path: string, offset: number): Buffer {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(maxRead);
      return bytes.subarray(0, readSync(file, bytes, 0, maxRead, offset));
    } finally {
      closeSync(file);
    }
  } catch {
    // The part no longer exists. The next call reads the parts that exist then.
    return Buffer.alloc(0);
  }
}

/** Cuts off an incomplete UTF-8 character at the end. The next read starts with this character. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back && bytes.length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
