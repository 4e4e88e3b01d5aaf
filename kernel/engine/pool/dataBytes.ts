import { readFileSync } from 'node:fs';

/** Index of the field "data" in `/proc/PID/statm` (proc_pid_statm(5)), in pages. */
const dataField = 5;
/** The page size of x64, and of the usual kernels on arm64. */
const pageBytes = 4096;

/** Returns the bytes that a process may write to, as its memory limit counts them; `undefined` if unknown. */
export function dataBytes(pid: number): number | undefined {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[dataField]);
    return Number.isFinite(pages) ? pages * pageBytes : undefined;
  } catch {
    // The system is not Linux, or the process has ended.
    return undefined;
  }
}
