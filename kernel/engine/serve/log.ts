/** Writes lines of JSON, one an event, for programs that collect them. */
export type Log = (level: 'info' | 'warn' | 'error', event: string, fields?: Record<string, unknown>) => void;

/**
 * A log that never shows what is in `secrets`, whatever an engine or a library puts into its texts.
 * @param write takes a line without its end
 */
export function jsonLog(write: (line: string) => void, secrets: readonly string[]): Log {
  // Short values stand in ordinary words too.
  const hidden = secrets.filter((secret) => secret.length >= 6);
  const clean = (_key: string, value: unknown): unknown =>
    typeof value === 'string' ? hidden.reduce((text, secret) => text.replaceAll(secret, '***'), value) : value;
  return (level, event, fields = {}) =>
    write(JSON.stringify({ time: new Date().toISOString(), level, event, ...fields }, clean));
}
