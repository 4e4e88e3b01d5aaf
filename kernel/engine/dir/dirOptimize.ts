import type { Table as NativeTable } from '@lancedb/lancedb';
import { checkOptimizeOptions, type OptimizeOptions, type OptimizeResult } from '#catalog/table/optimize.ts';
import { namedOptimizeResult } from '#catalog/lancedb/resultNames.ts';
import { findEmptyStruct } from '#catalog/arrow/unstorableTypes.ts';
import { wait } from '#processes/wait.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { runExclusive } from './dirConnection.ts';
import { tagsOf } from './dirRefs.ts';
import type { TableHandle } from './tableHandle.ts';
import { checkNoBackfill } from './tableLeases.ts';

/** Attempts to optimize a table to which other clients write. */
const attempts = 5;

/** Joins small fragments, completes the indexes and, if an age is given, removes older versions ("OptimizeTable"). */
export function optimizeTable(handle: TableHandle, options: OptimizeOptions): Promise<OptimizeResult> {
  return handle.during('OptimizeTable', async () => {
    const olderThan = checkOptimizeOptions(options);
    handle.checkWritable();
    const { signal } = options;
    // The time is taken now, so that no version that this call creates is older.
    const removeBefore = olderThan === undefined ? undefined : Date.now() - olderThan;
    await checkNoBackfill(handle, 'optimize', signal);
    // Calls for one table run one after another. Concurrent calls would do the same work and then conflict.
    const table = JSON.stringify(['optimize', handle.place.location, ...handle.namespacePath, handle.name]);
    return runExclusive(table, async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          const work = (native: NativeTable) => optimize(handle, native, removeBefore);
          return namedOptimizeResult(await handle.write('OptimizeTable', { signal }, work));
        } catch (error) {
          if (!isCatalogError(error, 'ConcurrentModification') || attempt === attempts) throw error;
          await wait(attempt * 100, signal);
        }
      }
    });
  });
}

async function optimize(handle: TableHandle, native: NativeTable, removeBefore: number | undefined) {
  const path = findEmptyStruct((await native.schema()).fields);
  if (path !== undefined) {
    const table = displayPath(handle.namespacePath, handle.name);
    const what = `Can't optimize table "${table}": the column "${path}" is an object without fields, so the engine would overwrite the values of the columns after it.`;
    const hint = 'Drop the column, or copy the other columns to a new table.';
    throw new CatalogError('InvalidTableState', what, hint);
  }
  const before = await native.stats();
  // Without a time, the engine would remove versions that are older than 7 days. No version is older than 1970, so this
  // call removes none. The option "deleteUnverified" is never set: it deletes the files of writes in progress.
  const { compaction } = await native.optimize({ cleanupOlderThan: new Date(0) });
  // Versions are removed in a second call, because the engine updates the indexes last: if it can't remove versions, it
  // does not update the indexes at all.
  const removed = removeBefore === undefined ? noneRemoved : await removeVersions(handle, native, removeBefore);
  const after = await native.stats();
  return {
    version: await native.version(),
    numFragmentsBefore: before.fragmentStats.numFragments,
    numFragmentsAfter: after.fragmentStats.numFragments,
    totalBytesBefore: before.totalBytes,
    totalBytesAfter: after.totalBytes,
    numFilesAdded: compaction.filesAdded,
    numFilesReplaced: compaction.filesRemoved,
    ...removed,
  };
}

const noneRemoved = { numVersionsRemoved: 0, numOlderVersionsKept: 0, bytesRemoved: 0 };

/**
 * How long before the oldest tagged version the limit is set, in milliseconds. The engine computes the limit again from
 * its own clock, so without this margin it could reach the tagged version. Versions within the margin stay.
 */
const margin = 1000;

/**
 * Removes versions that were created before `limit`, a time in milliseconds. The engine removes all versions before a
 * time, and refuses if one of them is tagged. So if one of the older versions is tagged, only versions before the
 * oldest tagged one are removed.
 */
async function removeVersions(handle: TableHandle, native: NativeTable, limit: number) {
  const versions = await native.listVersions();
  const newest = versions.reduce((most, { version }) => Math.max(most, version), 0);
  const older = versions.filter(({ version, timestamp }) => version !== newest && timestamp.getTime() < limit);
  // A tag of a branch counts too: branches reuse version numbers.
  const tagged = new Set([...(await tagsOf(handle, native, {})).values()].map(({ version }) => version));
  const times = older.filter(({ version }) => tagged.has(version)).map(({ timestamp }) => timestamp.getTime() - margin);
  const before = times.reduce((least, time) => Math.min(least, time), limit);
  const { prune } = await native.optimize({ cleanupOlderThan: new Date(Math.max(0, before)) });
  const { oldVersionsRemoved, bytesRemoved } = prune;
  const numOlderVersionsKept = Math.max(0, older.length - oldVersionsRemoved);
  return { numVersionsRemoved: oldVersionsRemoved, numOlderVersionsKept, bytesRemoved };
}
