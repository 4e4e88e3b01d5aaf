import { checkOneVersion } from '#catalog/arguments/options.ts';
import type { OpenTableOptions } from '#catalog/catalog.ts';
import { checkTagBranch } from '#catalog/table/tagsBranches.ts';
import type { Wire } from '#catalog/transport/request.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { describe, type Described, isJustDescribed } from './describe.ts';
import { RestQueryRunner } from './query.ts';
import type { RestTarget } from './target.ts';
import { tagVersion } from './versions.ts';

/**
 * Checks that the server reads branches. Some servers silently ignore the branch in a request and use the main branch.
 * Such a server also returns rows for a branch that can't exist. So this function reads a branch that can't exist, and
 * throws if the server returns rows. Then no later call reads or changes the main branch by mistake.
 * @throws CatalogError Unsupported (0) for a target on a branch if the server ignores branches
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
    `${target.wire.name} ignores branches: it would read and change the main branch of "${displayPath(target.id)}".`,
    'Open the table without a branch.',
    { operation: 'QueryTable', identifier: displayPath(target.id) },
  );
}

/** Whether the error is about the branch. Any other error does not show whether the server reads branches. */
const isAboutBranch = ({ kind }: CatalogError): boolean =>
  kind !== 'ServiceUnavailable' && kind !== 'Throttling' && kind !== 'Unauthenticated' && kind !== 'PermissionDenied';

export type OpenOptions = Omit<OpenTableOptions, 'namespacePath'>;

/**
 * Opens a table at a version or tag, on a branch. Sends a request now, so that a missing table or version is reported
 * here and not at the first row. A version that the server has just described is not requested again.
 * @throws CatalogError TableNotFound (4), VersionNotFound (11), TagNotFound (8)
 */
export async function openTarget(
  wire: Wire,
  path: NamespacePath,
  name: string,
  options: OpenOptions,
): Promise<RestTarget> {
  const { branch, tag, version } = options;
  const isDescribed = tag === undefined && branch === undefined && version !== undefined;
  if (isDescribed && isJustDescribed(wire, [...path, name], version)) return { wire, id: [...path, name], version };
  return (await openDescribed(wire, path, name, options, false)).target;
}

export async function openDescribed(
  wire: Wire,
  path: NamespacePath,
  name: string,
  options: OpenOptions,
  isForDescription: boolean,
): Promise<{ target: RestTarget; found: Described }> {
  const { branch, signal, tag } = options;
  checkOneVersion('openTable', options);
  const newest: RestTarget = { wire, id: [...path, name], branch, version: options.version };
  const tagged = tag === undefined ? undefined : await tagVersion(newest, tag, { signal });
  if (tag !== undefined) checkTagBranch(tag, tagged?.branch, branch);
  const target = { ...newest, version: tagged?.version ?? newest.version, branch: tagged?.branch ?? branch };
  const detail = isForDescription ? 'all' : target.version === undefined ? 'existence' : 'version';
  const found = await describe(target, detail, { signal });
  await checkBranch(target, signal);
  return { target, found };
}
