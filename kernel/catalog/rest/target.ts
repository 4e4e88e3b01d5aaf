import { CatalogError, during } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { Operation } from '#catalog/contract.ts';
import { eachPage } from '#catalog/pages.ts';
import { Reply } from './reply.ts';
import type { Wire, WireRequest } from '#catalog/transport/request.ts';

/** A table on a server, as requests name it. */
export type RestTarget = {
  readonly wire: Wire;
  /** The components of its identifier, its name last. */
  readonly id: readonly string[];
  /** Reads see this version; the newest when not given. */
  readonly version?: number | undefined;
  /** A line of versions beside the main one. */
  readonly branch?: string | undefined;
};

/** The fields of a body that say which version of which branch is read. */
export const pinned = ({ version, branch }: RestTarget): { version?: number; branch?: string } => ({
  ...(version !== undefined && { version }),
  ...onBranch({ branch }),
});

/** The field of a body, or the parameter of a request without one, that says which branch is changed. */
export const onBranch = ({ branch }: { branch?: string | undefined }): { branch?: string } =>
  branch === undefined ? {} : { branch };

/** Sends a request about a table and reads its answer; whatever fails says what was asked, and of what. */
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

/** Runs a call that is an operation on a table: its errors say so. */
export const about = <T>(target: RestTarget, operation: Operation, call: () => Promise<T> | T): Promise<T> =>
  during({ operation, identifier: displayPath(target.id) }, async () => call());

/** @throws CatalogError InvalidInput (13) for a table that was opened at a version or a tag */
export function checkWritable(target: RestTarget, operation?: Operation): void {
  if (target.version === undefined) return;
  throw new CatalogError(
    'InvalidInput',
    `Table "${displayPath(target.id)}" was opened at version ${target.version} and can't be changed there.`,
    'Open it without a version or tag to write.',
    { operation, identifier: displayPath(target.id) },
  );
}

/** Reads a list of the server that comes in pages. @throws CatalogError Internal (18) naming it where they go in circles */
export const everyPage = (
  target: RestTarget,
  read: (pageToken: string | undefined) => Promise<string | undefined>,
): Promise<void> => eachPage(read, () => target.wire.unexpected('the same page of a list twice'));
