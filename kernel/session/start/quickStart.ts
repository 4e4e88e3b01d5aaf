import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { keepHashes, type StartSnapshot } from '#processes/startSnapshot.ts';

// What `launcher.sh` goes by to become a snapshot without a Node in between: a line for each thing, in the order in which
// it reads them. Imports little, as the launcher that it is a part of.

type Quick = {
  /** Where the launcher is, and the note will be. */
  folder: string;
  snapshot: StartSnapshot;
  /** Those of the kernel. */
  flags: readonly string[];
  /** Files and folders that change when a kernel is installed or removed. */
  watched: readonly string[];
  /** Before this was looked for which kernel is the newest; milliseconds. */
  since: number;
};

/** Times of files may be as coarse as seconds, and what changed right after it was looked at must count as new. */
const marginMs = 2000;

/** Notes what this start went by. Without the note, or with one that does not hold any more, kernels start as this one did. */
export function noteQuickStart({ folder, snapshot, flags, watched, since }: Quick): void {
  if (!existsSync(join(folder, 'launcher.sh'))) return;
  const { env, execArgv, execPath, pid } = process;
  const dist = dirname(snapshot.entry);
  const lines = [
    execArgv.map((flag) => ` ${flag}`).join(''),
    `${env['HOME'] ?? ''}:${env['XDG_CACHE_HOME'] ?? ''}`,
    execPath,
    [...flags, keepHashes].join(' '),
    snapshot.blob,
    dist,
    readFileSync(join(dist, 'kernelSnapshot.key'), 'utf8'),
    ...listed([execPath, snapshot.blob]),
    ...watched,
  ];
  // The shell reads a line for each.
  if (lines.some((line) => line.includes('\n'))) return;
  const note = join(folder, 'quick-start');
  const writing = `${note}.${pid}`;
  try {
    writeFileSync(writing, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
    const time = (since - marginMs) / 1000;
    utimesSync(writing, time, time);
    renameSync(writing, note);
  } catch (error) {
    rmSync(writing, { force: true });
    throw error;
  }
}

/** As the shell will see them. */
function listed(files: readonly string[]): string[] {
  const env = { ...process.env, LC_ALL: 'C' };
  const said = execFileSync('ls', ['-din', '--', ...files], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return said.trimEnd().split('\n');
}
