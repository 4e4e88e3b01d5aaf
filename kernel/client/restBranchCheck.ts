import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { RestQueryRunner } from './restQuery.ts';
import type { RestTarget } from './restTarget.ts';

/**
 * Some servers pass over the branch in a request and work on the main line, without a word. They give rows of a branch
 * that can't be there, too, which is asked for before anything is read or written by mistake.
 * @throws CatalogError Unsupported (0) for a target on a branch of a server that does not look at it
 */
export async function checkBranch(target: RestTarget, signal?: AbortSignal): Promise<void> {
  if (target.branch === undefined) return;
  const absent = `${target.branch}-that-is-not-there`;
  const runner = new RestQueryRunner({ ...target, branch: absent }, () => Promise.resolve(undefined));
  try {
    await runner.run({ limit: 0 }, signal);
  } catch (error) {
    if (isCatalogError(error) && isAboutBranch(error)) return;
    throw error;
  }
  throw new CatalogError(
    'Unsupported',
    `${target.wire.name} does not look at branches: it would read and change the main line of "${displayPath(target.id)}".`,
    'Open the table without a branch.',
    { operation: 'QueryTable', identifier: displayPath(target.id) },
  );
}

/** Whether the server has answered, and not only failed to. */
const isAboutBranch = ({ kind }: CatalogError): boolean =>
  kind !== 'ServiceUnavailable' && kind !== 'Throttling' && kind !== 'Unauthenticated' && kind !== 'PermissionDenied';
