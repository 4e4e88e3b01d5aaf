import { MagicError, wordsOf, type MagicRun } from './magicTypes.ts';

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/**
 * `%%sql`: the cell as a template of `sql`, so that `${…}` are values of the notebook. The result is a variable too: `_`, or
 * the one that is named, unless `_` is something else of the person's.
 */
export function sqlMagic(): MagicRun {
  let latest: unknown;
  return async ({ rest, body, count }, { runner }) => {
    const name = nameIn(rest);
    if (body === undefined || body.trim() === '') throw new MagicError('There is no query: write it below %%sql.');
    const { locals } = runner;
    const isFree = !Object.hasOwn(locals, '_') || (latest !== undefined && locals['_'] === latest);
    const query = `await sql\`${templateOf(body)}\``;
    const target = name ?? (isFree ? '_' : undefined);
    const outcome = await runner.run(target === undefined ? query : `let ${target} = ${query};\n${target}`, count);
    if (target === '_') latest = locals['_'];
    return outcome;
  };
}

function nameIn(rest: string): string | undefined {
  const [option, name, ...more] = wordsOf(rest);
  if (option === undefined) return undefined;
  if (option !== '--to' || name === undefined || more.length > 0 || !identifier.test(name))
    throw new MagicError('Write the query on the lines below %%sql, or %%sql --to name to give its result a name.');
  return name;
}

/** SQL as the text of a template: backslashes and backticks are meant as they are, outside of `${…}`. */
const templateOf = (sql: string): string =>
  sql.replaceAll(/\$\{[^}]*\}|[\\`]/g, (found) => (found.startsWith('$') ? found : `\\${found}`));
