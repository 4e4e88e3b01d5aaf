import type { JobSummary } from '#client/jobs.ts';
import { alignColumns } from '#shared/markup.ts';
import { catalogOf, type CatalogValues } from './catalogArguments.ts';

/**
 * Prints the jobs that the server of a catalog runs and has run, whoever began them, in its order.
 * @throws CatalogError Unsupported (0) where it runs none
 */
export async function listServerJobs(values: CatalogValues, isJson: boolean, signal: AbortSignal): Promise<void> {
  const { onCatalog } = await import('#jobs/parts.ts');
  const all = await onCatalog(catalogOf(values), signal, async ({ jobs }) => {
    const found: JobSummary[] = [];
    for (let pageToken: string | undefined, isLast = false; !isLast; isLast = pageToken === undefined) {
      const page = await jobs.list({ signal, pageToken });
      found.push(...page.jobs);
      ({ pageToken } = page);
    }
    return found;
  });
  if (isJson) console.log(JSON.stringify(all, null, 2));
  else if (all.length > 0) console.log(tableOf(all));
  else console.error('The server has no jobs.');
}

function tableOf(jobs: readonly JobSummary[]): string {
  const rows = jobs.map(({ id, state, type, table = '', created }) => {
    return [id, state, type, table, created?.toISOString() ?? ''];
  });
  // Whole: names of jobs and tables are copied from here.
  return alignColumns([['job', 'state', 'kind', 'table', 'begun'], ...rows], Infinity).join('\n');
}
