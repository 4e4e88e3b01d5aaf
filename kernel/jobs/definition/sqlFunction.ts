import type { DataType } from '#arrow';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { ComputedFunction, OnError } from '#shared/jobs/computedFunction.ts';
import type { JobError } from '#shared/jobs/jobErrors.ts';
import { sqlProblem, sqlTokens } from '#shared/sqlTokens.ts';
import type { Query } from '#catalog/query/query.ts';
import type { Table } from '#catalog/table/table.ts';
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
 * Creates a function from a SQL expression. The type of its result comes from the table, and no row is computed.
 * @throws JobError FunctionInvalid if the engine refuses the expression; CatalogError if the table can't be read
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
      `${of} contains "${text}" in double quotes. SQL reads this as a string, not as the column.`,
      `Write \`${text}\` in backticks for the column, or '${text}' for the string.`,
    );
  const inputs = columnsIn(expression, columns);
  const type = await typeOf(table, { of, expression, columns, inputs }, signal);
  checkOutput(of, type, 'Cast it, for example: cast(color as string).');
  return withHash({ kind: 'sql', name, version, inputs, output: encodeOutput(name, type), onError, expression });
}

const example =
  'Write SQL over columns, such as length(text), with backticks around names that are not plain words: `my column`.';

type Asked = {
  readonly of: string;
  readonly expression: string;
  readonly columns: readonly string[];
  readonly inputs: readonly string[];
};

/**
 * Returns the type of the expression without reading a row, because the expression may fail for some rows. In the job,
 * `onError` handles such rows.
 */
async function typeOf(table: Table, asked: Asked, signal: AbortSignal): Promise<DataType> {
  // The expression is tested in parentheses, because runners select it in this form beside other columns.
  const query = table.query().select({ value: `(${asked.expression})` });
  const none = query.limit(0);
  try {
    return await typeBy(none, signal).catch((error: unknown) => {
      if (!isCatalogError(error, 'InvalidInput') && !isCatalogError(error, 'Internal')) throw error;
      // A server may compute one row despite the limit, unless the filter excludes all rows.
      return typeBy(none.where('false'), signal);
    });
  } catch (error) {
    throw refusal(asked, error) ?? error;
  }
}

async function typeBy(query: Query, signal: AbortSignal): Promise<DataType> {
  const { schema, batches } = await query.execute({ signal });
  // Ends the query at its source after the schema, because no rows are needed.
  for await (const _ of batches) break;
  const type = schema.fields.find((field) => field.name === 'value')?.type;
  if (type) return type;
  throw new CatalogError('Internal', 'The engine did not report the type of the expression.', '');
}

/** Converts an engine error to a `JobError`. Returns undefined if the error is not about the expression. */
function refusal({ of, expression, columns, inputs }: Asked, error: unknown): JobError | undefined {
  const { message } = error instanceof Error ? error : { message: '' };
  // The engine's message is replaced, because it contains several pages of query plan.
  if (isCatalogError(error, 'Unsupported')) {
    if (/(?:Aggregate|Window)Function/.test(message))
      return invalid(
        `The engine can't compute the expression${of.slice('The expression'.length)} for a single row.`,
        'The expression is computed for each row: use no aggregate or window functions.',
        error,
      );
    if (inputs.length === 0) return invalid(`${of} names no column of the table.`, example, error);
    return invalid(`${of} can't be computed by the engine for a single row.`, example, error);
  }
  if (!isCatalogError(error, 'InvalidInput') && !isCatalogError(error, 'ColumnNotFound')) return undefined;
  const bare = withoutQuoted(expression);
  const odd = columns.find((column) => !plainName.test(column) && bare.includes(column));
  if (odd !== undefined)
    return invalid(`${of} has the column "${odd}" without backticks.`, `Write it as \`${odd}\`.`, error);
  // The engine's message is replaced, because it shows a generated statement.
  if (message.includes('Error parsing statement'))
    return invalid(`${of} is not a single SQL expression.`, example, error);
  // For a missing column there is no hint, because the message already lists the columns.
  const hint = isCatalogError(error, 'ColumnNotFound') ? '' : example;
  return invalid(`${of} can't be computed: ${message}`, hint, error);
}

const plainName = /^[a-z_]\w*$/i;

/** Checks for problems that the engine would report only during the job, such as a semicolon. */
function statementProblem(expression: string): string | undefined {
  let last: string | undefined;
  for (const { sign, text } of sqlTokens(expression)) {
    if (sign === ';') return 'has a semicolon, but must be a single expression';
    last = text;
  }
  // A comment at the end is refused, because SQL that runners append would become part of the comment.
  return last?.startsWith('--') ? 'ends with a comment, but must be a single expression' : undefined;
}

/** Finds double-quoted tokens, which the engine reads as strings. */
const doubleQuoted = (expression: string): string[] =>
  [...sqlTokens(expression)].map(({ text }) => text.toLowerCase()).filter((text) => text.startsWith('"'));

const withoutQuoted = (expression: string): string =>
  [...sqlTokens(expression)].map(({ quoted, text }) => (quoted === undefined ? text : '\n')).join('');

/** Returns the columns in an expression, in the order of the table. */
export function columnsIn(expression: string, columns: readonly string[]): string[] {
  const named = new Set<string>();
  let before = '';
  /** The last unquoted name. It is a function if a parenthesis follows, else a column. */
  let bare: string | undefined;
  for (const { space, word, quoted, sign } of sqlTokens(expression)) {
    if (space !== undefined) continue;
    if (bare !== undefined && sign !== '(') named.add(bare);
    // After a dot the name is a field of a struct and not a column.
    bare = before === '.' ? undefined : word?.toLowerCase();
    if (quoted?.startsWith('`') && before !== '.') named.add(quoted.slice(1, -1).toLowerCase());
    before = sign ?? '';
  }
  if (bare !== undefined) named.add(bare);
  return columns.filter((column) => named.has(column.toLowerCase()));
}
