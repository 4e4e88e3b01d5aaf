import { createHash } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';

/** Files for the folder that a job starts in. */
export type RayPackage = {
  /** `_ray_pkg_….zip`, with a hash of the content, so that the same files always have the same name. */
  readonly name: string;
  readonly bytes: Uint8Array;
};

/** 1 January 1980, the zip format's first day. With real times, equal packages would differ. */
const noTime = { time: 0, date: (1 << 5) | 1 } as const;
const version = 20;
const utf8Names = 0x0800;
const deflated = 8;

/** @param files contents by file name; names must not contain folders */
export function rayPackage(files: Readonly<Record<string, Uint8Array | string>>): RayPackage {
  const bytes = zip(files);
  // The hash is of the content and not of the zip, because the bytes of the zip differ between versions of zlib.
  const hash = createHash('sha256');
  for (const [name, content] of sorted(files)) hash.update(`${name}\n${content.length}\n`).update(content);
  return { name: `_ray_pkg_${hash.digest('hex').slice(0, 32)}.zip`, bytes };
}

const sorted = (files: Readonly<Record<string, Uint8Array | string>>): [string, Buffer][] =>
  Object.keys(files)
    .toSorted()
    .map((name) => [name, Buffer.from(files[name] ?? '')]);

/** Builds a zip of small files by its specification ("APPNOTE"), without 64-bit sizes, folders or comments. */
function zip(files: Readonly<Record<string, Uint8Array | string>>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of sorted(files)) {
    const label = Buffer.from(name);
    const data = deflateRawSync(content);
    const common = commonFields(label, content, data);
    const local = Buffer.concat([words32(0x04034b50), common, words16(0), label, data]);
    // Unix attributes: the owner may read and write the file, others may read it.
    const made = words16((3 << 8) | version);
    const rest = Buffer.concat([words16(0, 0, 0, 0), words32((0o100644 << 16) >>> 0, offset)]);
    entries.push(Buffer.concat([words32(0x02014b50), made, common, rest, label]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const count = entries.length;
  const end = [words32(0x06054b50), words16(0, 0, count, count), words32(directory.length, offset), words16(0)];
  return Buffer.concat([...locals, directory, ...end]);
}

/** Returns the fields that a local header and a directory entry share. */
const commonFields = (label: Buffer, content: Buffer, data: Buffer): Buffer =>
  Buffer.concat([
    words16(version, utf8Names, deflated, noTime.time, noTime.date),
    words32(crc32(content), data.length, content.length),
    words16(label.length),
  ]);

function words16(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) buffer.writeUInt16LE(value, 2 * index);
  return buffer;
}

function words32(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) buffer.writeUInt32LE(value, 4 * index);
  return buffer;
}
