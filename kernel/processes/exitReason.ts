import type { Readable } from 'node:stream';

/** What Node says of its own stack when memory runs out fits in. */
const tailChars = 10_000;
/** Lines that follow the one that says why. */
const noReason = /^(?:Node\.js v\d|\s+at |\}$|\s+\w+: |- |\s*\d+: |-+ .* -+$)/;

/** Reads a stream to its end, keeping the last few thousand characters for a message. */
export function tailOf(stream: Readable | null): () => string {
  let tail = '';
  stream?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-tailChars);
  });
  return () => tail;
}

/** The line of a process's last words that says why it ended; empty where none does. */
export function lastSaid(stderr: string): string {
  const fatal = /FATAL ERROR: .*?(JavaScript heap out of memory|$)/m.exec(stderr);
  if (fatal) return fatal[1] || fatal[0];
  const lines = stderr.trimEnd().split('\n');
  return (lines.findLast((line) => line.trim() !== '' && !noReason.test(line)) ?? '').trim();
}

/** Why a child process ended, for people: `exit code 1 (Error: no space left on device)`. */
export function exitReason(code: number | null, signal: NodeJS.Signals | null, stderr: string): string {
  const how = signal ? `killed by ${signal}` : `exit code ${code ?? 'unknown'}`;
  const said = lastSaid(stderr);
  return said ? `${how} (${said})` : how;
}
