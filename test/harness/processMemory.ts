import { readFileSync } from 'node:fs';

/** Returns the bytes that a process has in memory, or the most it has had; NaN where the system does not tell. */
export function processMemory(pid: number | 'self', which: 'now' | 'most'): number {
  const field = which === 'now' ? 'VmRSS' : 'VmHWM';
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) * 1024;
}
