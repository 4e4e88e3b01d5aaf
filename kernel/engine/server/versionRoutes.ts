import { CatalogError } from '#shared/errors.ts';
import type { VersionInfo } from '#catalog/table/table.ts';
import {
  count,
  invalidRequestField,
  optionalString,
  pageInQuery,
  pageOfList,
  queryFlag,
  requiredCount,
  requiredString,
} from './requestBody.ts';
import { openBranch, openQueryBranch, taggedVersion } from './dataRoutes.ts';
import { openTable, type Handlers } from './routeTypes.ts';

/** Sorts entries by name, an order in which pages can continue. */
const byName = <T>(entries: Iterable<[string, T]>): [string, T][] =>
  [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));

// The maximum version. The file name of a manifest contains this number minus the version, so that the newest version
// is first in a list of the files.
const lastVersion = 2n ** 64n - 1n;
const manifestOf = (version: number): string =>
  `_versions/${String(lastVersion - BigInt(version)).padStart(20, '0')}.manifest`;

/**
 * Returns a version as in the specification. If the catalog gives no path of the manifest, the path inside the table is
 * used.
 */
const versionReply = (info: VersionInfo) => ({
  version: info.version,
  manifest_path: info.manifestPath ?? manifestOf(info.version),
  timestamp_millis: info.timestamp.getTime(),
  ...(info.manifestSize !== undefined && { manifest_size: info.manifestSize }),
  ...(info.metadata && { metadata: info.metadata }),
});

/**
 * Maximum and default number of versions in a page. A client without a limit expects all versions in one response. With
 * more versions than this the response would be larger than clients accept.
 */
const maxVersions = 100_000;

export const versionHandlers: Handlers = {
  async ListTableVersions(call) {
    const { query, signal } = call;
    await call.optionalJson();
    const isDescending = queryFlag(query, 'descending') ?? false;
    const table = await openQueryBranch(call);
    const { limit = maxVersions, pageToken } = pageInQuery(query);
    if (pageToken !== undefined && !/^\d+$/.test(pageToken))
      throw new CatalogError('InvalidInput', 'The page token does not belong to this list.', 'Start without a token.');
    if (!Number.isInteger(limit) || limit < 1) invalidRequestField('limit', 'a whole number from 1');
    const after = pageToken === undefined ? undefined : Number(pageToken);
    const { versions, isLast } = await table.listVersionPage(
      { limit: Math.min(limit, maxVersions), after, isDescending },
      { signal },
    );
    const token = isLast ? {} : { page_token: String(versions.at(-1)!.version) };
    return { json: { versions: versions.map(versionReply), ...token } };
  },
  async DescribeTableVersion(call) {
    const body = await call.json();
    const wanted = count(body, 'version');
    const table = await openBranch(call, body);
    const found = await table.findVersion(wanted, { signal: call.signal });
    if (!found) {
      const what = wanted === undefined ? 'The table has no version.' : `The table has no version ${wanted}.`;
      throw new CatalogError('VersionNotFound', what, 'List the versions of the table.');
    }
    return { json: { version: versionReply(found) } };
  },
  async RestoreTable(call) {
    const body = await call.json();
    const version = requiredCount(body, 'version');
    const table = await openBranch(call, body);
    await table.restore(version, { signal: call.signal });
    return { json: {} };
  },

  async ListTableTags(call) {
    await call.optionalJson();
    const table = await openTable(call);
    const tags = await table.tags().list({ signal: call.signal });
    const { entries, ...token } = pageOfList(byName(tags), ([name]) => name, pageInQuery(call.query));
    const contents = entries.map(([name, { version, manifestSize, branch }]) => [
      name,
      // The field is required, but the size is not always known. Readers of the format treat 0 as unknown.
      { version, manifestSize: manifestSize ?? 0, ...(branch !== undefined && { branch }) },
    ]);
    return { json: { tags: Object.fromEntries(contents), ...token } };
  },
  async GetTableTagVersion(call) {
    const tag = requiredString(await call.json(), 'tag');
    return { json: await taggedVersion(call, tag) };
  },
  async CreateTableTag(call) {
    const body = await call.json();
    const [tag, version] = [requiredString(body, 'tag'), requiredCount(body, 'version')];
    const table = await openBranch(call, body);
    await table.tags().create(tag, version, { signal: call.signal });
    return { json: {} };
  },
  async UpdateTableTag(call) {
    const body = await call.json();
    const [tag, version] = [requiredString(body, 'tag'), requiredCount(body, 'version')];
    const table = await openBranch(call, body);
    await table.tags().update(tag, version, { signal: call.signal });
    return { json: {} };
  },
  async DeleteTableTag(call) {
    const tag = requiredString(await call.json(), 'tag');
    const table = await openTable(call);
    await table.tags().delete(tag, { signal: call.signal });
    return { json: {} };
  },

  async ListTableBranches(call) {
    await call.optionalJson();
    const table = await openTable(call);
    const branches = await table.branches().list({ signal: call.signal });
    const { entries, ...token } = pageOfList(byName(branches), ([name]) => name, pageInQuery(call.query));
    const contents = entries.map(([name, info]) => [
      name,
      {
        parentVersion: info.parentVersion,
        ...(info.parentBranch !== undefined && { parentBranch: info.parentBranch }),
        // Each of these fields is required, but the engine does not always report the values. Then 0 means unknown.
        createAt: Math.floor((info.created?.getTime() ?? 0) / 1000),
        manifestSize: info.manifestSize ?? 0,
      },
    ]);
    return { json: { branches: Object.fromEntries(contents), ...token } };
  },
  async CreateTableBranch(call) {
    const body = await call.json();
    const name = requiredString(body, 'name');
    const fromBranch = optionalString(body, 'from_branch');
    const fromVersion = count(body, 'from_version');
    const table = await openTable(call);
    call.own(await table.branches().create(name, { fromBranch, fromVersion, signal: call.signal }));
    return { json: {} };
  },
  async DeleteTableBranch(call) {
    const name = requiredString(await call.json(), 'name');
    const table = await openTable(call);
    await table.branches().delete(name, { signal: call.signal });
    return { json: {} };
  },
};
