import ts from 'typescript-6';
import type { CellOutcome } from '#session/run/cellRunner.ts';
import { findHoles, withCellBody } from '#session/sql/sqlHoles.ts';
import { MagicError, splitArguments, type MagicRun } from './magicTypes.ts';

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/**
 * `%%sql`: runs the cell as a template of `sql`, so that `${…}` are notebook values. The result is also assigned to
 * the named variable or to `_`, unless `_` is a variable of the user.
 */
export function sqlMagic(): MagicRun {
  let latest: unknown;
  let isMade = false;
  return async ({ rest, body, count, source }, { runner }) => {
    const name = nameIn(rest);
    if (body === undefined || body.trim() === '') throw new MagicError('There is no query: write it below %%sql.');
    const { locals } = runner;
    // `_` may be undefined because a query failed or still runs in a subshell. Then it still belongs to this magic.
    const isOurs = isMade && (locals['_'] === undefined || locals['_'] === latest);
    const target = name ?? (isOurs || !Object.hasOwn(locals, '_') ? '_' : undefined);
    if (target === '_') isMade = true;
    // The query stays on its lines, so that errors have the positions that the user sees.
    const above = source.slice(0, source.length - body.length).split('\n').length - 1;
    const query = `await sql\`\n${templateOf(body)}\n\``;
    const before = '\n'.repeat(Math.max(above - 1, 0));
    const code = target === undefined ? query : `let ${target} = ${query};\n${target}`;
    const outcome = await withCellBody(body, () => runner.run(before + code, count));
    if (target === '_') latest = locals['_'];
    return withoutCall(outcome, `[${count}]:${Math.max(above, 1)}:`);
  };
}

/** Returns the name in `%%sql name` or `%%sql --to name`; undefined if the text after `%%sql` is nothing of these. */
export function sqlResultName(rest: string): string | undefined {
  const [first, second, ...more] = splitArguments(rest);
  const name = first === '--to' ? second : second === undefined ? first : undefined;
  return name !== undefined && more.length === 0 && identifier.test(name) ? name : undefined;
}

function nameIn(rest: string): string | undefined {
  if (rest.trim() === '') return undefined;
  const name = sqlResultName(rest);
  if (name === undefined)
    throw new MagicError('Write the query on the lines below %%sql. To name its result, use %%sql --to name.');
  if (isReserved(name)) throw new MagicError(`"${name}" is a reserved word. Use another name for the result.`);
  return name;
}

function isReserved(name: string): boolean {
  const kind = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, name).scan();
  const isWord = kind >= ts.SyntaxKind.FirstReservedWord && kind <= ts.SyntaxKind.LastFutureReservedWord;
  return isWord || kind === ts.SyntaxKind.AwaitKeyword;
}

/** Removes the stack frame of the `sql` call, because the call is in generated code and not in the user's. */
function withoutCall(outcome: CellOutcome, place: string): CellOutcome {
  if (!outcome.error) return outcome;
  const isCall = (line: string) => /^ +at /.test(line) && line.includes(place);
  return {
    ...outcome,
    error: { ...outcome.error, traceback: outcome.error.traceback.filter((line) => !isCall(line)) },
  };
}

/** Returns SQL as template text: escapes backslashes and backticks outside `${…}`. */
function templateOf(sql: string): string {
  let text = '';
  let last = 0;
  for (const { start, end } of findHoles(sql)) {
    text += escaped(sql.slice(last, start)) + sql.slice(start, end);
    last = end;
  }
  return text + escaped(sql.slice(last));
}

const escaped = (sql: string): string => sql.replaceAll(/[\\`]/g, (sign) => `\\${sign}`);
