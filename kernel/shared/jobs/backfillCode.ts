import type { BackfillOptions } from './backfill.ts';
import type { JobTable } from './jobView.ts';

/**
 * Writes the cell that starts a backfill. Names and strings are written as JSON. JSON is also TypeScript, so a name or
 * string can't inject code.
 */
export function backfillCode(
  { namespacePath, name }: Pick<JobTable, 'namespacePath' | 'name'>,
  column: string,
  options: BackfillOptions,
): string {
  const where = namespacePath.length > 0 ? `, { namespacePath: ${JSON.stringify(namespacePath)} }` : '';
  const asked = withoutSecrets(options);
  const given = Object.keys(asked).length > 0 ? `, ${JSON.stringify(asked, undefined, 2)}` : '';
  return [
    `const table = await db.openTable(${JSON.stringify(name)}${where});`,
    `await table.backfill(${JSON.stringify(column)}${given});`,
  ].join('\n');
}

/** Returns the options without the Ray token. */
function withoutSecrets({ ray, ...options }: BackfillOptions): BackfillOptions {
  const place = ray && 'address' in ray ? { address: ray.address } : ray;
  const asked = { ...options, ...(place && { ray: place }) };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}
