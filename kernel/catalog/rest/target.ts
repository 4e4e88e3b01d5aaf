import { CatalogError, withErrorContext } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { Operation } from '#catalog/contract.ts';
import { eachPage, type ListPage } from '#catalog/listPages.ts';
import { Reply } from './reply.ts';
import type { Wire, WireRequest } from '#catalog/transport/request.ts';

export type RestTarget = {
  readonly wire: Wire;
  /** The components of the table's identifier. The table name is the last. */
  readonly id: readonly string[];
  /** The version to read. Default: the newest version. */
  readonly version?: number | undefined;
  /** The branch to read. Default: the main branch. */
  readonly branch?: string | undefined;
};

/** Returns the fields of a body that select the version and branch to read. */
export const pinned = ({ version, branch }: RestTarget): { version?: number; branch?: string } => ({
  ...(version !== undefined && { version }),
  ...onBranch({ branch }),
});

/**
 * Returns the field that selects the branch to change. It belongs in the body, or in the query if the request has no
 * body.
 */
export const onBranch = ({ branch }: { branch?: string | undefined }): { branch?: string } =>
  branch === undefined ? {} : { branch };

/** Sends a request about a table and reads its response; errors name the operation and the table. */
export function ask<T>(
  target: RestTarget,
  operation: Operation,
  request: Pick<WireRequest, 'json' | 'query' | 'indexName'>,
  options: CallOptions,
  read: (reply: Reply) => T,
): Promise<T> {
  return about(target, operation, async () => {
    const body = await target.wire.json({ operation, id: target.id, ...request, signal: options.signal });
    return read(new Reply(target.wire, body));
  });
}

/** Runs a call and adds the operation and the table to its errors. */
export const about = <T>(target: RestTarget, operation: Operation, call: () => Promise<T> | T): Promise<T> =>
  withErrorContext({ operation, identifier: displayPath(target.id) }, async () => call());

/** @throws CatalogError InvalidInput (13) for a table that was opened at a version or a tag */
export function checkWritable(target: RestTarget, operation?: Operation): void {
  if (target.version === undefined) return;
  throw new CatalogError(
    'InvalidInput',
    `Can't change table "${displayPath(target.id)}": it is at version ${target.version}.`,
    'Call checkoutLatest(), or open it without a version or tag.',
    { operation, identifier: displayPath(target.id) },
  );
}

/** Reads all pages of a list. @throws CatalogError Internal (18) if the list would never end */
export const everyPage = (
  target: RestTarget,
  read: (pageToken: string | undefined) => Promise<ListPage>,
): Promise<void> => eachPage(read, (problem) => target.wire.unexpected(problem));

/** "CountTableRows" */
export const countRows = (target: RestTarget, filter: string | undefined, { signal }: CallOptions): Promise<number> =>
  about(target, 'CountTableRows', async () => {
    const { wire, id } = target;
    const json = { ...pinned(target), ...(filter !== undefined && { predicate: filter }) };
    const count = await wire.json({ operation: 'CountTableRows', id, json, signal });
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count;
    throw wire.unexpected('a count that is not a whole number');
  });
