import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VersionInfo } from '#catalog/table/table.ts';

/** Encodes an unsigned number as in protobuf. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
}

/**
 * Makes versions of a table in a local folder older, because tests can't wait for days. Writes another time into their
 * manifests, which store the time as seconds since 1970.
 * @param folder the folder of the table
 */
export function ageVersions(folder: string, versions: readonly VersionInfo[], days: number): void {
  const manifests = join(folder, '_versions');
  for (const { version, timestamp } of versions) {
    const name = readdirSync(manifests).find((file) => versionIn(file) === version);
    if (name === undefined) throw new Error(`There is no manifest of version ${version}.`);
    const bytes = readFileSync(join(manifests, name));
    const seconds = Math.floor(timestamp.getTime() / 1000);
    const [from, to] = [seconds, seconds - days * 86_400].map((time) =>
      Buffer.concat([Buffer.from([8]), varint(time)]),
    );
    const at = bytes.indexOf(from!);
    if (at < 0 || from!.length !== to!.length) throw new Error(`There is no time in ${name}.`);
    bytes.set(to!, at);
    writeFileSync(join(manifests, name), bytes);
  }
}

/** File names of manifests count down from the largest number of 64 bits. */
const versionIn = (file: string): number | undefined =>
  /^\d+\.manifest$/.test(file) ? Number(2n ** 64n - 1n - BigInt(file.split('.', 1)[0]!)) : undefined;
