import { type RecordBatch, Table } from '#arrow';
import type { SqlPlan, SqlRequest } from '#shared/protocol/viewsMessages.ts';
import { isAbort } from '#shared/errors.ts';
import { runStatement } from '#sql/runStatement.ts';
import type { SqlEngine } from '#sql/sqlEngine.ts';
import { isPlan, readStatement } from '#sql/statement.ts';
import type { OpenCatalogs } from './openCatalogs.ts';
import { problemOf } from './readStatements.ts';

const head = 'explain ';

/** Returns the plan of a statement's query as text. The query does not run, unless the statement is EXPLAIN ANALYZE. */
export async function explainSql(
  { engine, catalogs }: { engine: SqlEngine; catalogs: OpenCatalogs },
  request: SqlRequest,
  signal: AbortSignal,
): Promise<SqlPlan> {
  const hasHead = isPlan(request.text);
  try {
    const { query } = readStatement(request.text, 'file');
    const text = hasHead ? query : head + query;
    return await catalogs.with(request, async (used) => {
      const { schema, batches } = await runStatement(engine, { text, ...used }, signal);
      const all: RecordBatch[] = [];
      for await (const batch of batches) all.push(batch);
      const plans = new Table(schema, all).getChild('explain_value');
      return { plan: Array.from(plans ?? [], String).join('\n') };
    });
  } catch (error) {
    if (signal.aborted || isAbort(error)) throw error;
    const { message, offset } = problemOf(error);
    return { problem: { message, offset: offset === null || hasHead ? offset : Math.max(offset - head.length, 0) } };
  }
}
