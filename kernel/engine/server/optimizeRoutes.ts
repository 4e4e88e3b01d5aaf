import { openBranch } from './dataRoutes.ts';
import { count } from './requestBody.ts';
import type { Handlers } from './routeTypes.ts';

export const optimizeHandlers: Handlers = {
  async OptimizeTable(call) {
    const body = await call.json();
    const age = count(body, 'older_than_millis');
    const table = await openBranch(call, body);
    const cleanupOlderThan = age === undefined ? undefined : new Date(Date.now() - age);
    const result = await table.optimize({ cleanupOlderThan, signal: call.signal });
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
