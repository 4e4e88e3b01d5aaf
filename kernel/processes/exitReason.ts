import type { Readable } from 'node:stream';

/** Enough for the stack trace that Node.js prints when memory runs out. */
const tailChars = 10_000;
/** Lines that follow the line with the reason. */
const noReason = /^(?:Node\.js v\d|\s+at |\}$|\s+\w+: |- |\s*\d+: |-+ .* -+$)/;

/** Reads a stream to its end and keeps its last 10,000 characters for a message. */
export function readTail(stream: Readable | null): () => string {
  let tail = '';
  stream?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-tailChars);
  });
  return () => tail;
}

/** Returns the line of stderr with the reason why the process ended; empty if there is none. */
export function lastErrorLine(stderr: string): string {
  const fatal = /FATAL ERROR: .*?(JavaScript heap out of memory|$)/m.exec(stderr);
  if (fatal) return fatal[1] || fatal[0];
  const lines = stderr.trimEnd().split('\n');
  return (lines.findLast((line) => line.trim() !== '' && !noReason.test(line)) ?? '').trim();
}

/** Describes for users why a child process ended: `exit code 1 (Error: no space left on device)`. */
export function exitReason(code: number | null, signal: NodeJS.Signals | null, stderr: string): string {
  const how = signal ? `killed by ${signal}` : `exit code ${code ?? 'unknown'}`;
  const said = lastErrorLine(stderr);
  return said ? `${how} (${said})` : how;
}
