import type { Readable } from 'node:stream';

const tailChars = 4000;

/** Reads a stream to its end, keeping the last few thousand characters for a message. */
export function tailOf(stream: Readable | null): () => string {
  let tail = '';
  stream?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-tailChars);
  });
  return () => tail;
}

/** Why a child process ended, for people: `exit code 1 (Error: no space left on device)`. */
export function exitReason(code: number | null, signal: NodeJS.Signals | null, stderr: string): string {
  const how = signal ? `killed by ${signal}` : `exit code ${code ?? 'unknown'}`;
  const said = stderr.trim().split('\n').at(-1)?.trim();
  return said ? `${how} (${said})` : how;
}
