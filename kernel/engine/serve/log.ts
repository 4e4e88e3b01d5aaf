/** Writes one JSON line per event, for log collectors. */
export type Log = (level: 'info' | 'warn' | 'error', event: string, fields?: Record<string, unknown>) => void;

/**
 * Creates a log that redacts `secrets`, even if the message of an engine or a library contains them.
 * @param write takes a line without its line break
 */
export function jsonLog(write: (line: string) => void, secrets: readonly string[]): Log {
  // Short values are not redacted, because they also occur in ordinary words.
  const hidden = secrets.filter((secret) => secret.length >= 6);
  const clean = (_key: string, value: unknown): unknown =>
    typeof value === 'string' ? hidden.reduce((text, secret) => text.replaceAll(secret, '***'), value) : value;
  const replacer = hidden.length === 0 ? undefined : clean;
  return (level, event, fields = {}) =>
    write(JSON.stringify({ time: new Date().toISOString(), level, event, ...fields }, replacer));
}

/** How long a line waits for others, in milliseconds. */
const joinTime = 10;

/**
 * Returns a function that writes lines, those of a few milliseconds together: a write for each request would take a
 * tenth of the processor time of a busy server. Lines that still wait are written when the process exits.
 */
export function joinLines(write: (text: string) => void): (line: string) => void {
  let waiting = '';
  const flush = (): void => {
    const text = waiting;
    waiting = '';
    if (text !== '') write(text);
  };
  process.once('exit', flush);
  return (line) => {
    if (waiting === '') setTimeout(flush, joinTime).unref();
    waiting += `${line}\n`;
  };
}
