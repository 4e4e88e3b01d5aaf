import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process inside of a namespace, with its id outside of it. */
export type InsideProcess = { readonly pid: number; readonly parent: number; readonly command: string };

/** Returns all processes of the namespace whose first process is the child of `unshare`. */
export function processesInside(unsharePid: number): InsideProcess[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const processes = all.flatMap((name) => processOf(Number(name)) ?? []);
  const first = processes.find(({ parent }) => parent === unsharePid);
  const namespace = first && namespaceOf(first.pid);
  return namespace === undefined ? [] : processes.filter(({ pid }) => namespaceOf(pid) === namespace);
}

const namespaceOf = (pid: number): string | undefined => attempt(() => readlinkSync(`/proc/${pid}/ns/pid`));

function processOf(pid: number): InsideProcess | undefined {
  return attempt(() => {
    const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { pid, parent: Number(parent), command };
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
