import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { ComputedFunction, OnError } from '#shared/jobs/computedFunction.ts';
import { sqlProblem, sqlToken } from '#client/sqlTokens.ts';
import type { Table } from '#client/table.ts';
import { invalid } from './functionOptions.ts';
import { withHash } from './hash.ts';
import { encodeOutput } from './outputType.ts';

export type SqlFunctionOptions = {
  readonly name: string;
  readonly version?: string | undefined;
  readonly expression: string;
  readonly onError?: OnError | undefined;
};

/**
 * A function that is an expression of SQL. The table is asked what type it gives; no row is read for it.
 * @throws JobError FunctionInvalid for an expression that the engine refuses; CatalogError for a table that is not there
 */
export async function sqlFunction(
  table: Table,
  { name, version = '', expression, onError = { mode: 'fail' } }: SqlFunctionOptions,
  signal: AbortSignal,
): Promise<ComputedFunction> {
  const problem = expression.trim() === '' ? 'is empty' : (sqlProblem(expression) ?? statementProblem(expression));
  if (problem !== undefined)
    throw invalid(`The expression of "${name}" ${problem}.`, "Write SQL over the columns: 'length(text)'.");
  const { fields } = await table.schema({ signal });
  const inputs = columnsIn(
    expression,
    fields.map((field) => field.name),
  );
  const type = await typeOf(table, name, expression, signal);
  return withHash({ kind: 'sql', name, version, inputs, output: encodeOutput(name, type), onError, expression });
}

async function typeOf(table: Table, name: string, expression: string, signal: AbortSignal) {
  try {
    const { schema, batches } = await table.query().select({ value: expression }).limit(1).execute({ signal });
    // Who stops reading ends the query at its source.
    for await (const _ of batches) break;
    const type = schema.fields.find((field) => field.name === 'value')?.type;
    if (type) return type;
    throw new CatalogError('Internal', 'The engine did not say what the expression gives.', '');
  } catch (error) {
    // The engine shows its own plan of a sum, pages long.
    if (isCatalogError(error, 'Unsupported'))
      throw invalid(
        `The engine can't compute the expression of "${name}" for a row by itself.`,
        'It is computed for each row: write no sum, count or window over many.',
        error,
      );
    if (!isCatalogError(error, 'InvalidInput') && !isCatalogError(error, 'ColumnNotFound')) throw error;
    throw invalid(`The expression of "${name}" can't be computed: ${error.message}`, '', error);
  }
}

/** The engine looks at what comes behind a semicolon only when it computes, long after the column was made. */
function statementProblem(expression: string): string | undefined {
  sqlToken.lastIndex = 0;
  for (let found = sqlToken.exec(expression); found; found = sqlToken.exec(expression))
    if (found.groups!['sign'] === ';') return 'has a semicolon, but is to be one expression';
  return undefined;
}

/** The columns that an expression names, in the order of the table. */
export function columnsIn(expression: string, columns: readonly string[]): string[] {
  const named = new Set<string>();
  let before = '';
  /** A name without quotes, which is a function's if a parenthesis comes. */
  let bare: string | undefined;
  sqlToken.lastIndex = 0;
  for (let found = sqlToken.exec(expression); found; found = sqlToken.exec(expression)) {
    const { space, word, quoted, sign } = found.groups ?? {};
    if (space !== undefined) continue;
    if (bare !== undefined && sign !== '(') named.add(bare);
    // Behind a dot is a field of a struct, whatever it is called.
    bare = before === '.' ? undefined : word?.toLowerCase();
    if (quoted !== undefined && !quoted.startsWith("'") && before !== '.') named.add(quoted.slice(1, -1).toLowerCase());
    before = sign ?? '';
  }
  if (bare !== undefined) named.add(bare);
  return columns.filter((column) => named.has(column.toLowerCase()));
}
