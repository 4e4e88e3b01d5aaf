import { checkOptimizeOptions, type OptimizeOptions, type OptimizeResult } from '#catalog/table/optimize.ts';
import { namedOptimizeResult } from '#catalog/lancedb/resultNames.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { definedEntries } from '#shared/records.ts';
import type { Reply } from './reply.ts';
import { about, ask, checkWritable, onBranch, type RestTarget } from './target.ts';

/** "OptimizeTable", which is not in the specification: other servers answer that they do not have it. */
export function optimize(target: RestTarget, options: OptimizeOptions): Promise<OptimizeResult> {
  return about(target, 'OptimizeTable', async () => {
    const olderThan = checkOptimizeOptions(options);
    checkWritable(target);
    const json = { ...definedEntries({ older_than_millis: olderThan }), ...onBranch(target) };
    try {
      return await ask(target, 'OptimizeTable', { json }, options, optimizeResult);
    } catch (error) {
      if (!isCatalogError(error, 'Unsupported')) throw error;
      throw new CatalogError(
        'Unsupported',
        `Can't optimize table "${displayPath(target.id)}": the server does not have this operation.`,
        'Run "lance-catalog optimize" with the directory or object store of the server as --catalog.',
        { status: error.status, cause: error },
      );
    }
  });
}

const optimizeResult = (reply: Reply): OptimizeResult =>
  namedOptimizeResult({
    version: reply.count('version'),
    numFragmentsBefore: reply.count('num_fragments_before'),
    numFragmentsAfter: reply.count('num_fragments_after'),
    totalBytesBefore: reply.count('total_bytes_before'),
    totalBytesAfter: reply.count('total_bytes_after'),
    numFilesAdded: reply.count('num_files_added'),
    numFilesReplaced: reply.count('num_files_replaced'),
    numVersionsRemoved: reply.count('num_versions_removed'),
    bytesRemoved: reply.count('bytes_removed'),
    numOlderVersionsKept: reply.count('num_older_versions_kept'),
  });
