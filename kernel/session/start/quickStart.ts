import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile } from '#processes/files.ts';
import { keepHashSeedFlag, type StartSnapshot } from '#processes/startSnapshot.ts';

// Writes the note that `launcher.sh` reads to start a snapshot directly, without starting Node first. The note has one
// item per line, in the order in which the script reads them. This file imports little, because it is a part of the
// launcher.

type Quick = {
  /** The launcher's folder, which will contain the note. */
  folder: string;
  snapshot: StartSnapshot;
  flags: readonly string[];
  /** Files and folders that change when a kernel is installed or removed. */
  watched: readonly string[];
  /** The time before the search for the newest kernel started, in milliseconds. */
  since: number;
};

/**
 * The note gets a time this long before the search. File times may have a resolution of seconds, and a change right
 * after the search must count as newer than the note.
 */
const marginMs = 2000;

/** Records what this start depended on. Without a valid note, kernels start through Node as this one did. */
export function writeQuickStartNote({ folder, snapshot, flags, watched, since }: Quick): void {
  if (!existsSync(join(folder, 'launcher.sh'))) return;
  const { env, execArgv, execPath } = process;
  const dist = dirname(snapshot.entry);
  const lines = [
    execArgv.map((flag) => ` ${flag}`).join(''),
    `${env['HOME'] ?? ''}:${env['XDG_CACHE_HOME'] ?? ''}`,
    execPath,
    [...flags, keepHashSeedFlag].join(' '),
    snapshot.blob,
    dist,
    readFileSync(join(dist, 'kernelSnapshot.key'), 'utf8'),
    ...listed([execPath, snapshot.blob]),
    ...watched,
  ];
  // Writes no note if an item has a line break, because the shell reads one item per line.
  if (lines.some((line) => line.includes('\n'))) return;
  const note = join(folder, 'quick-start');
  const time = (since - marginMs) / 1000;
  const text = lines.map((line) => `${line}\n`).join('');
  replaceFile(note, text, { isLasting: false }, (draft) => utimesSync(draft, time, time));
}

/** Returns the `ls` output that the shell will compare. */
function listed(files: readonly string[]): string[] {
  const env = { ...process.env, LC_ALL: 'C' };
  const said = execFileSync('ls', ['-din', '--', ...files], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return said.trimEnd().split('\n');
}
