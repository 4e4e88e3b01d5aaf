import type { DataType } from '#arrow';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { ComputedFunction, OnError } from '#shared/jobs/computedFunction.ts';
import type { JobError } from '#shared/jobs/jobErrors.ts';
import { sqlProblem, sqlTokens } from '#catalog/sqlTokens.ts';
import type { Query } from '#catalog/query.ts';
import type { Table } from '#catalog/table.ts';
import { checkOutput, invalid } from './functionOptions.ts';
import { withHash } from './hash.ts';
import { encodeOutput } from './outputType.ts';

type SqlFunctionOptions = {
  readonly name: string;
  readonly version?: string | undefined;
  readonly expression: string;
  readonly onError?: OnError | undefined;
};

/**
 * A function that is an expression of SQL. The table is asked what type it gives; no row is computed for it.
 * @throws JobError FunctionInvalid for an expression that the engine refuses; CatalogError for a table that is not there
 */
export async function sqlFunction(
  table: Table,
  { name, version = '', expression, onError = { mode: 'fail' } }: SqlFunctionOptions,
  signal: AbortSignal,
): Promise<ComputedFunction> {
  const of = `The expression of "${name}"`;
  const problem = expression.trim() === '' ? 'is empty' : (sqlProblem(expression) ?? statementProblem(expression));
  if (problem !== undefined) throw invalid(`${of} ${problem}.`, example);
  const { fields } = await table.schema({ signal });
  const columns = fields.map((field) => field.name);
  const texts = doubleQuoted(expression);
  const text = columns.find((column) => texts.includes(`"${column.toLowerCase()}"`));
  if (text !== undefined)
    throw invalid(
      `${of} has "${text}" in double quotes, which is a text and not the column.`,
      `Write \`${text}\` in backticks for the column, or '${text}' for the text.`,
    );
  const inputs = columnsIn(expression, columns);
  const type = await typeOf(table, { of, expression, columns, inputs }, signal);
  checkOutput(of, type, 'Cast it, for instance: cast(color as string).');
  return withHash({ kind: 'sql', name, version, inputs, output: encodeOutput(name, type), onError, expression });
}

const example =
  "Write SQL over the columns, as 'length(text)', with backticks around a name that is no plain word: `my column`.";

type Asked = {
  readonly of: string;
  readonly expression: string;
  readonly columns: readonly string[];
  readonly inputs: readonly string[];
};

/** Asks for no row: what is in one the expression may fail for, and that is for `onError` to say. */
async function typeOf(table: Table, asked: Asked, signal: AbortSignal): Promise<DataType> {
  // As runners ask for it, beside other columns.
  const query = table.query().select({ value: `(${asked.expression})` });
  const none = query.limit(0);
  try {
    return await typeBy(none, signal).catch((error: unknown) => {
      if (!isCatalogError(error, 'InvalidInput') && !isCatalogError(error, 'Internal')) throw error;
      // A server has one row computed all the same, unless no row fits.
      return typeBy(none.where('false'), signal);
    });
  } catch (error) {
    throw refusal(asked, error) ?? error;
  }
}

async function typeBy(query: Query, signal: AbortSignal): Promise<DataType> {
  const { schema, batches } = await query.execute({ signal });
  // Who stops reading ends the query at its source.
  for await (const _ of batches) break;
  const type = schema.fields.find((field) => field.name === 'value')?.type;
  if (type) return type;
  throw new CatalogError('Internal', 'The engine did not say what the expression gives.', '');
}

/** What to say of an error of the engine; undefined for one that is not about the expression. */
function refusal({ of, expression, columns, inputs }: Asked, error: unknown): JobError | undefined {
  const { message } = error instanceof Error ? error : { message: '' };
  // The engine shows its own plan of these, pages long.
  if (isCatalogError(error, 'Unsupported')) {
    if (/(?:Aggregate|Window)Function/.test(message))
      return invalid(
        `The engine can't compute the expression${of.slice('The expression'.length)} for a row by itself.`,
        'It is computed for each row: write no sum, count or window over many.',
        error,
      );
    if (inputs.length === 0) return invalid(`${of} names no column of the table.`, example, error);
    return invalid(`${of} is nothing that the engine computes for a row.`, example, error);
  }
  if (!isCatalogError(error, 'InvalidInput') && !isCatalogError(error, 'ColumnNotFound')) return undefined;
  const bare = withoutQuoted(expression);
  const odd = columns.find((column) => !plainName.test(column) && bare.includes(column));
  if (odd !== undefined)
    return invalid(`${of} has the column "${odd}" without backticks.`, `Write it as \`${odd}\`.`, error);
  // It shows a statement that nobody wrote.
  if (message.includes('Error parsing statement'))
    return invalid(`${of} is not one expression of SQL.`, example, error);
  // What columns there are, is said.
  const hint = isCatalogError(error, 'ColumnNotFound') ? '' : example;
  return invalid(`${of} can't be computed: ${message}`, hint, error);
}

const plainName = /^[a-z_]\w*$/i;

/** The engine looks at what comes behind a semicolon only when it computes, long after the column was made. */
function statementProblem(expression: string): string | undefined {
  let last: string | undefined;
  for (const { sign, text } of sqlTokens(expression)) {
    if (sign === ';') return 'has a semicolon, but is to be one expression';
    last = text;
  }
  // What runners write behind it would be of the comment.
  return last?.startsWith('--') ? 'ends with a comment, but is to be one expression' : undefined;
}

/** In lower case, with their quotes. To the engine they are texts. */
const doubleQuoted = (expression: string): string[] =>
  [...sqlTokens(expression)].map(({ text }) => text.toLowerCase()).filter((text) => text.startsWith('"'));

const withoutQuoted = (expression: string): string =>
  [...sqlTokens(expression)].map(({ quoted, text }) => (quoted === undefined ? text : '\n')).join('');

/** The columns that an expression names, in the order of the table. */
export function columnsIn(expression: string, columns: readonly string[]): string[] {
  const named = new Set<string>();
  let before = '';
  /** A name without quotes, which is a function's if a parenthesis comes. */
  let bare: string | undefined;
  for (const { space, word, quoted, sign } of sqlTokens(expression)) {
    if (space !== undefined) continue;
    if (bare !== undefined && sign !== '(') named.add(bare);
    // Behind a dot is a field of a struct, whatever it is called.
    bare = before === '.' ? undefined : word?.toLowerCase();
    if (quoted?.startsWith('`') && before !== '.') named.add(quoted.slice(1, -1).toLowerCase());
    before = sign ?? '';
  }
  if (bare !== undefined) named.add(bare);
  return columns.filter((column) => named.has(column.toLowerCase()));
}
