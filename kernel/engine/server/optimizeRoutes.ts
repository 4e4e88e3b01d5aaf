import { openBranch } from './dataRoutes.ts';
import { count } from './requestBody.ts';
import type { Handlers } from './routeTypes.ts';

export const optimizeHandlers: Handlers = {
  async OptimizeTable(call) {
    const body = await call.json();
    const seconds = count(body, 'older_than_seconds');
    const table = await openBranch(call, body);
    const olderThan = seconds === undefined ? undefined : (`${seconds}s` as const);
    const result = await table.optimize({ olderThan, signal: call.signal });
    return {
      json: {
        version: result.version,
        num_fragments_before: result.numFragmentsBefore,
        num_fragments_after: result.numFragmentsAfter,
        total_bytes_before: result.totalBytesBefore,
        total_bytes_after: result.totalBytesAfter,
        num_files_added: result.numFilesAdded,
        num_files_replaced: result.numFilesReplaced,
        num_versions_removed: result.numVersionsRemoved,
        bytes_removed: result.bytesRemoved,
        num_older_versions_kept: result.numOlderVersionsKept,
      },
    };
  },
};
