import type { CallOptions } from './callOptions.ts';
import { given } from '#shared/records.ts';
import type { Reply } from './restReply.ts';
import { about, ask, checkWritable, everyPage, onBranch, pinned, type RestTarget } from './restTarget.ts';
import type { TableStats, VersionInfo } from './tableInfo.ts';
import { checkCount } from './tableArguments.ts';

/** The version that reads see, where the server tells it: "DescribeTable", else the newest of "ListTableVersions". */
export async function currentVersion(target: RestTarget, options: CallOptions): Promise<number | undefined> {
  const request = { query: { load_detailed_metadata: true }, json: pinned(target) };
  const version = await ask(target, 'DescribeTable', request, options, (reply) => reply.maybeCount('version'));
  if (version !== undefined) return version;
  const query = { descending: true, limit: 1, ...onBranch(target) };
  return ask(target, 'ListTableVersions', { query }, options, (reply) => reply.items('versions')[0]?.count('version'));
}

/** "ListTableVersions", oldest first. */
export async function listVersions(target: RestTarget, options: CallOptions): Promise<VersionInfo[]> {
  const versions: VersionInfo[] = [];
  await everyPage(target, (pageToken) =>
    ask(target, 'ListTableVersions', { query: { page_token: pageToken, ...onBranch(target) } }, options, (reply) => {
      versions.push(...reply.items('versions').map(versionInfo));
      return reply.maybeText('page_token');
    }),
  );
  return versions.toSorted((a, b) => a.version - b.version);
}

const versionInfo = (reply: Reply): VersionInfo => ({
  version: reply.count('version'),
  timestamp: new Date(reply.maybeNumber('timestamp_millis') ?? Number.NaN),
  ...given({
    metadata: reply.maybeObject('metadata')?.textMap(),
    manifestPath: reply.maybeText('manifest_path'),
    manifestSize: reply.maybeCount('manifest_size'),
  }),
});

/** "RestoreTable" */
export async function restore(target: RestTarget, version: number, options: CallOptions): Promise<void> {
  await about(target, 'RestoreTable', () => {
    checkWritable(target);
    const json = { version: checkCount('restore', 'version', version), ...onBranch(target) };
    return ask(target, 'RestoreTable', { json }, options, () => undefined);
  });
}

/** "GetTableStats" */
export function stats(target: RestTarget, options: CallOptions): Promise<TableStats> {
  return ask(target, 'GetTableStats', { json: onBranch(target) }, options, (reply) => {
    const fragments = reply.maybeObject('fragment_stats');
    if (!fragments) throw target.wire.unexpected('an answer without "fragment_stats"');
    const lengths = fragments.maybeObject('lengths');
    return {
      totalBytes: reply.count('total_bytes'),
      numRows: reply.count('num_rows'),
      numIndices: reply.count('num_indices'),
      numFragments: fragments.count('num_fragments'),
      numSmallFragments: fragments.count('num_small_fragments'),
      ...(lengths && { fragmentLengths: fragmentLengths(lengths) }),
    };
  });
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
