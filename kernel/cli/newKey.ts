import { appendFile, chmod, readFile } from 'node:fs/promises';
import { makeKey, parseKeys } from '#engine/serve/keys.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { UsageError, parse } from './command.ts';

export const newKeyUsage = `  lance-catalog serve new-key NAME [--read-only] [--database NAME …] [--keys FILE]
      makes a key and prints it, once; its line goes to the file of keys, or to stderr when none is named`;

/** `serve new-key`: the key goes to a person, and what goes into the file can't be turned back into it. */
export async function newKey(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(
    args,
    { 'read-only': { type: 'boolean' }, database: { type: 'string', multiple: true }, keys: { type: 'string' } },
    true,
  );
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError('"serve new-key" needs one NAME.');
  const { key, line } = makeKey(name, values['read-only'] ? 'read-only' : 'read-write', values.database ?? '*');
  if (values.keys === undefined) process.stderr.write(`${line}\n`);
  else await append(values.keys, line);
  process.stdout.write(`${key}\n`);
  return 0;
}

/** Adds a line to a file of keys, which is made for its owner alone when it is not there. */
async function append(path: string, line: string): Promise<void> {
  try {
    const before = await readFile(path, 'utf8').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    });
    const start = before === undefined || before === '' || before.endsWith('\n') ? '' : '\n';
    // Before it is written: a server that reads the file keeps what it has while a line is wrong.
    const name = line.split(' ', 1)[0];
    if (before !== undefined && before.trim() !== '' && parseKeys(before).some((key) => key.name === name)) {
      throw new CatalogError('InvalidInput', `"${path}" has a key "${name}" already.`, 'Choose another name.');
    }
    parseKeys(`${before ?? ''}${start}${line}`);
    await appendFile(path, `${start}${line}\n`, { mode: 0o600 });
    if (before === undefined) await chmod(path, 0o600);
  } catch (cause) {
    if (cause instanceof CatalogError) throw cause;
    throw new CatalogError(
      'InvalidInput',
      `"${path}" can't be written: ${messageOf(cause)}.`,
      'Name another --keys FILE.',
      {
        cause,
      },
    );
  }
}
