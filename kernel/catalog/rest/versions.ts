import { type CallOptions, checkOptions, checkVersion } from '#catalog/arguments/options.ts';
import { checkCount, checkText } from '#catalog/arguments/tableArguments.ts';
import type { TableStats, VersionInfo } from '#catalog/table/table.ts';
import { type NamedEntries, namedEntries } from '#catalog/lancedb/namedEntries.ts';
import { unsupportedBase, unsupportedBranchCalls } from '#catalog/lancedb/unsupported.ts';
import {
  branchOptions,
  type Branches,
  type BranchInfo,
  type CreateBranchOptions,
  type TagInfo,
  type Tags,
} from '#catalog/table/tagsBranches.ts';
import type { TablePin } from '#catalog/lancedb/lanceDbTable.ts';
import { namedTableStats } from '#catalog/lancedb/resultNames.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { checkRefName, displayPath } from '#shared/names.ts';
import { definedEntries } from '#shared/records.ts';
import type { Reply } from './reply.ts';
import { about, ask, checkWritable, everyPage, onBranch, pinned, type RestTarget } from './target.ts';

/** Tags of a table on a server ("ListTableTags", "CreateTableTag", …). */
export class RestTags implements Tags {
  readonly #target: RestTarget;

  constructor(target: RestTarget) {
    this.#target = target;
  }

  async list(options: CallOptions = {}): Promise<NamedEntries<TagInfo>> {
    checkOptions('tags.list', options, ['signal']);
    const tags = new Map<string, TagInfo>();
    await everyPage(this.#target, (pageToken) =>
      ask(this.#target, 'ListTableTags', { query: { page_token: pageToken } }, options, (reply) => {
        const page = reply.entries('tags');
        for (const [name, tag] of page) {
          const more = definedEntries({
            manifestSize: tag.maybeCount('manifestSize'),
            branch: tag.maybeText('branch'),
          });
          tags.set(name, { version: tag.count('version'), ...more });
        }
        return { keys: page.map(([name]) => name), pageToken: reply.maybeText('page_token') };
      }),
    );
    return namedEntries(tags);
  }

  async getVersion(tag: string, options: CallOptions = {}): Promise<number> {
    return (await tagVersion(this.#target, tag, options)).version;
  }

  create(tag: string, version: number, options: CallOptions = {}): Promise<void> {
    return this.#set('CreateTableTag', 'tags.create', tag, version, options);
  }

  update(tag: string, version: number, options: CallOptions = {}): Promise<void> {
    return this.#set('UpdateTableTag', 'tags.update', tag, version, options);
  }

  async delete(tag: string, options: CallOptions = {}): Promise<void> {
    await about(this.#target, 'DeleteTableTag', () => {
      checkOptions('tags.delete', options, ['signal']);
      const json = { tag: checkText('tags.delete', 'tag', tag) };
      return ask(this.#target, 'DeleteTableTag', { json }, options, () => undefined);
    });
  }

  async #set(
    operation: 'CreateTableTag' | 'UpdateTableTag',
    call: string,
    tag: string,
    version: number,
    options: CallOptions,
  ): Promise<void> {
    await about(this.#target, operation, () => {
      checkOptions(call, options, ['signal']);
      // An existing tag may have any name; a new one must follow the rules.
      if (operation === 'CreateTableTag') checkRefName('tag', tag);
      const json = { tag: checkText(call, 'tag', tag), version: checkCount(call, 'version', version) };
      return ask(this.#target, operation, { json: { ...json, ...onBranch(this.#target) } }, options, () => undefined);
    });
  }
}

/** Returns the version of a tag and its branch ("GetTableTagVersion"). */
export async function tagVersion(
  target: RestTarget,
  tag: string,
  options: CallOptions,
): Promise<{ version: number; branch: string | undefined }> {
  return about(target, 'GetTableTagVersion', () => {
    const json = { tag: checkText('tags.getVersion', 'tag', tag) };
    return ask(target, 'GetTableTagVersion', { json }, options, (reply) => ({
      version: reply.count('version'),
      branch: reply.maybeText('branch'),
    }));
  });
}

/** How `RestBranches` opens the table on other branches. */
type BranchTables<T> = {
  open: (pin: TablePin, options: CallOptions) => Promise<T>;
  /** Returns a table whose calls reject with the error. */
  unreadable: (error: CatalogError) => T;
};

/** Branches of a table on a server ("ListTableBranches", "CreateTableBranch", "DeleteTableBranch"). */
export class RestBranches<T> extends unsupportedBase(unsupportedBranchCalls) implements Branches<T> {
  readonly #target: RestTarget;
  readonly #tables: BranchTables<T>;

  constructor(target: RestTarget, tables: BranchTables<T>) {
    super();
    this.#target = target;
    this.#tables = tables;
  }

  async list(options: CallOptions = {}): Promise<NamedEntries<BranchInfo>> {
    checkOptions('branches.list', options, ['signal']);
    const branches = new Map<string, BranchInfo>();
    await everyPage(this.#target, (pageToken) =>
      ask(this.#target, 'ListTableBranches', { query: { page_token: pageToken } }, options, (reply) => {
        const page = reply.entries('branches');
        for (const [name, branch] of page) {
          const parentBranch = branch.maybeText('parentBranch');
          const seconds = branch.maybeCount('createAt');
          const manifestSize = branch.maybeCount('manifestSize');
          branches.set(name, {
            parentVersion: branch.count('parentVersion'),
            ...(parentBranch !== undefined && { parentBranch }),
            // Servers that do not know the time send 0.
            ...(seconds !== undefined && seconds > 0 && { created: new Date(seconds * 1000) }),
            ...(manifestSize !== undefined && { manifestSize }),
          });
        }
        return { keys: page.map(([name]) => name), pageToken: reply.maybeText('page_token') };
      }),
    );
    return namedEntries(branches);
  }

  async create(branch: string, from?: CreateBranchOptions | string, version?: number): Promise<T> {
    const options = await about(this.#target, 'CreateTableBranch', () => branchOptions(from, version));
    const { signal } = options;
    await about(this.#target, 'CreateTableBranch', () => {
      checkWritable(this.#target);
      const { fromBranch = this.#target.branch, fromVersion } = options;
      if (fromVersion !== undefined) checkCount('branches.create', 'fromVersion', fromVersion);
      checkRefName('branch', branch);
      const json = { name: branch, ...definedEntries({ from_branch: fromBranch, from_version: fromVersion }) };
      return ask(this.#target, 'CreateTableBranch', { json }, options, () => undefined);
    });
    try {
      return await this.#tables.open({ branch }, { signal });
    } catch (error) {
      // The branch exists now, also on a server that can't read it.
      if (!isCatalogError(error, 'Unsupported')) throw error;
      return this.#tables.unreadable(error);
    }
  }

  checkout(branch: string, version?: number, options: CallOptions = {}): Promise<T> {
    return about(this.#target, 'DescribeTable', () => {
      checkOptions('branches.checkout', options, ['signal']);
      checkVersion('branches.checkout', version);
      return this.#tables.open({ branch: checkText('branches.checkout', 'branch', branch), version }, options);
    });
  }

  async delete(branch: string, options: CallOptions = {}): Promise<void> {
    await about(this.#target, 'DeleteTableBranch', () => {
      checkOptions('branches.delete', options, ['signal']);
      checkWritable(this.#target);
      const json = { name: checkText('branches.delete', 'branch', branch) };
      return ask(this.#target, 'DeleteTableBranch', { json }, options, () => undefined);
    });
  }
}

/**
 * Returns the current version, if the server reports it: the version in "DescribeTable", else the newest version in
 * "ListTableVersions".
 */
export async function currentVersion(target: RestTarget, options: CallOptions): Promise<number | undefined> {
  const request = { query: { load_detailed_metadata: true }, json: pinned(target) };
  const version = await ask(target, 'DescribeTable', request, options, (reply) => reply.maybeCount('version'));
  if (version !== undefined) return version;
  // Two versions show whether the server heeds the order.
  const query = { descending: true, limit: 2, ...onBranch(target) };
  const [newest, other] = await ask(target, 'ListTableVersions', { query }, options, (reply) =>
    reply.items('versions').map((item) => item.count('version')),
  );
  if (newest === undefined || other === undefined || newest > other) return newest;
  return (await listVersions(target, options)).at(-1)?.version;
}

/** "ListTableVersions", oldest first. */
export async function listVersions(target: RestTarget, options: CallOptions): Promise<VersionInfo[]> {
  const versions: VersionInfo[] = [];
  await everyPage(target, (pageToken) =>
    ask(target, 'ListTableVersions', { query: { page_token: pageToken, ...onBranch(target) } }, options, (reply) => {
      const page = reply.items('versions').map(versionInfo);
      versions.push(...page);
      return { keys: page.map(({ version }) => String(version)), pageToken: reply.maybeText('page_token') };
    }),
  );
  return versions.toSorted((a, b) => a.version - b.version);
}

/**
 * Returns when the version of the target was written, in milliseconds; undefined if the server does not report it
 * ("DescribeTableVersion").
 */
export async function versionTime(target: RestTarget, options: CallOptions): Promise<number | undefined> {
  try {
    return await ask(target, 'DescribeTableVersion', { json: pinned(target) }, options, (reply) =>
      reply.maybeObject('version')?.maybeNumber('timestamp_millis'),
    );
  } catch (error) {
    if (isCatalogError(error, 'Unsupported')) return undefined;
    throw error;
  }
}

const versionInfo = (reply: Reply): VersionInfo => ({
  version: reply.count('version'),
  timestamp: new Date(reply.maybeNumber('timestamp_millis') ?? Number.NaN),
  ...definedEntries({
    metadata: reply.maybeObject('metadata')?.textMap(),
    manifestPath: reply.maybeText('manifest_path'),
    manifestSize: reply.maybeCount('manifest_size'),
  }),
});

/** "RestoreTable"; without a version, restores the version that is checked out. */
export async function restore(target: RestTarget, given: number | undefined, options: CallOptions): Promise<void> {
  await about(target, 'RestoreTable', () => {
    const version = given ?? target.version;
    if (version === undefined) {
      const what = 'restore needs a version.';
      throw new CatalogError('InvalidInput', what, 'Pass a whole number from 1, or call checkout(version) before.');
    }
    if (given !== undefined) checkWritable(target);
    const json = { version: checkCount('restore', 'version', version), ...onBranch(target) };
    return ask(target, 'RestoreTable', { json }, options, () => undefined);
  });
}

/** "GetTableStats" */
export async function stats(target: RestTarget, options: CallOptions): Promise<TableStats> {
  await about(target, 'GetTableStats', () => checkNewest(target));
  return ask(target, 'GetTableStats', { json: onBranch(target) }, options, (reply) => {
    const fragments = reply.maybeObject('fragment_stats');
    if (!fragments) throw target.wire.unexpected('a response without "fragment_stats"');
    const lengths = fragments.maybeObject('lengths');
    return namedTableStats({
      totalBytes: reply.count('total_bytes'),
      numRows: reply.count('num_rows'),
      numIndices: reply.count('num_indices'),
      numFragments: fragments.count('num_fragments'),
      numSmallFragments: fragments.count('num_small_fragments'),
      ...(lengths && { fragmentLengths: fragmentLengths(lengths) }),
    });
  });
}

/**
 * Refuses a table that was opened at a version. The request has no version, so the server would answer for the newest
 * version.
 * @throws CatalogError Unsupported (0)
 */
function checkNewest({ id, version }: RestTarget): void {
  if (version === undefined) return;
  throw new CatalogError(
    'Unsupported',
    `Can't read the statistics of table "${displayPath(id)}" at version ${version}: servers have only those of the newest version.`,
    'Open it without a version or tag to read them.',
  );
}

const fragmentLengths = (reply: Reply): NonNullable<TableStats['fragmentLengths']> => ({
  min: reply.count('min'),
  max: reply.count('max'),
  mean: reply.count('mean'),
  p25: reply.count('p25'),
  p50: reply.count('p50'),
  p75: reply.count('p75'),
  p99: reply.count('p99'),
});
