import { makeKey } from '#engine/serve/keys.ts';
import { UsageError, parse } from './command.ts';

export const newKeyUsage = `  lance-catalog serve new-key NAME [--read-only] [--database NAME …]
      makes a key: prints it, once, and on stderr the line for the file of keys, which does not hold it`;

/** `serve new-key`: what goes to a person and what goes into the file are told apart by where they are printed. */
export async function newKey(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(
    args,
    { 'read-only': { type: 'boolean' }, database: { type: 'string', multiple: true } },
    true,
  );
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError('"serve new-key" needs one NAME.');
  const { key, line } = makeKey(name, values['read-only'] ? 'read-only' : 'read-write', values.database ?? '*');
  process.stderr.write(`${line}\n`);
  process.stdout.write(`${key}\n`);
  return 0;
}
