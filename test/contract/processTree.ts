import { readdirSync, readFileSync } from 'node:fs';

export type RunningProcess = { readonly pid: number; readonly parent: number; readonly command: string };

/** Returns all processes of this machine, on Linux. */
function running(): RunningProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const [, rest = ''] = readFileSync(`/proc/${name}/stat`, 'utf8').split(/\) (?=[A-Z] )/);
      const [state, parent] = rest.split(' ');
      if (state === 'Z') return [];
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return [{ pid: Number(name), parent: Number(parent), command }];
    } catch {
      return [];
    }
  });
}

/** Returns the descendants of a process. */
export function descendantsOf(pid: number): RunningProcess[] {
  const all = running();
  const below = (parent: number): RunningProcess[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid);
}

/** Returns the processes that are still running. */
export function stillRunning(pids: readonly number[]): RunningProcess[] {
  return running().filter(({ pid }) => pids.includes(pid));
}
