import { isAbort, isCatalogError, messageOf } from '#shared/errors.ts';
import type { SqlProblem, SqlPurpose } from '#shared/protocol/viewsMessages.ts';
import type { SqlEngine } from '#sql/sqlEngine.ts';
import { positionOf } from '#sql/sqlErrors.ts';
import { isPlan, readStatement } from '#sql/statement.ts';

/**
 * Says what a statement does, without running it.
 * @throws CatalogError InvalidInput (13) for statements that are not supported
 */
export function readPurpose(text: string): SqlPurpose {
  const { write } = readStatement(text, 'file');
  if (!write) return { kind: isPlan(text) ? 'plan' : 'read' };
  const effect = write.kind === 'insert' ? 'insert' : write.mode === 'overwrite' ? 'replace' : 'create';
  return { kind: 'write', effect };
}

/** Returns for each statement its first syntax error; null if it has none. Runs nothing. */
export async function checkStatements(
  engine: SqlEngine,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<(SqlProblem | null)[]> {
  const problems: (SqlProblem | null)[] = [];
  for (const text of texts) {
    try {
      await engine.checkSyntax(text, signal, 'file');
      problems.push(null);
    } catch (error) {
      if (isAbort(error) || !isCatalogError(error, 'InvalidInput')) throw error;
      problems.push(problemOf(error));
    }
  }
  return problems;
}

/**
 * Returns an error of a statement as data. Its message names no place in the statement and not that it is about SQL,
 * because a window shows it at its place in the file.
 */
export function problemOf(error: unknown): SqlProblem {
  const position = positionOf(error);
  const place = position && ` (line ${position.line}, column ${position.column})`;
  const text = messageOf(error)
    .replace(place ?? '', '')
    .replace(/^SQL: /, '');
  return { message: text.charAt(0).toUpperCase() + text.slice(1), offset: position?.offset ?? null };
}
