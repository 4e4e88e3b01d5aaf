import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process inside of a namespace, with its id outside of it. */
export type InsideProcess = {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  /** The time of its start, in ticks since that of the machine. */
  readonly started: number;
};

/** Returns all processes of the namespace whose first process is the child of `unshare`, the oldest first. */
export function processesInside(unsharePid: number): InsideProcess[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const processes = all.flatMap((name) => processOf(Number(name)) ?? []);
  const first = processes.find(({ parent }) => parent === unsharePid);
  const namespace = first && namespaceOf(first.pid);
  if (namespace === undefined) return [];
  // Ids say nothing about the age: the system begins with small ones again.
  return processes
    .filter(({ pid }) => namespaceOf(pid) === namespace)
    .toSorted((one, other) => one.started - other.started);
}

const namespaceOf = (pid: number): string | undefined => attempt(() => readlinkSync(`/proc/${pid}/ns/pid`));

function processOf(pid: number): InsideProcess | undefined {
  return attempt(() => {
    // The fields after the name of the program, which may contain spaces: the second is the parent, the 20th the start.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { pid, parent: Number(fields[1]), command, started: Number(fields[19]) };
  });
}

/** Returns the result of `read`; `undefined` if the process has ended meanwhile. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
