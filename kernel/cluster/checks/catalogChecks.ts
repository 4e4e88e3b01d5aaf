import { isServerError } from '#catalog/transport/errors.ts';
import type { Check, CheckContext } from '#cluster/check.ts';
import { ClusterError } from '#cluster/errors.ts';
import { fail, pass, skip, warn } from '#cluster/checkResults.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import type { BucketLocation } from '#cluster/profile.ts';
import type { Evidence, Finding } from '#cluster/result.ts';
import { type CatalogError, isCatalogError } from '#shared/errors.ts';

const noCatalog = ({ profile }: CheckContext): string | undefined =>
  profile.catalog === undefined ? 'The profile has no catalog.' : undefined;

const reach: Check = {
  id: 'catalog-reach',
  category: 'catalog',
  title: 'Catalog responds',
  severity: 'error',
  needs: [],
  limit: 20_000,
  skip: noCatalog,
  run: async ({ catalog }) => {
    const name = await nameOf(catalog);
    if (!(await catalog.canAsk())) return pass(`The catalog is ${name}, which needs no server.`);
    const problem = await problemOf(catalog);
    if (problem === undefined || isAnswer(problem)) {
      const saw = problem === undefined ? 'a list of tables' : `${problem.status} ${problem.kind}`;
      return pass(`The catalog at ${name} responds.`, { asked: 'ListTables', saw });
    }
    // The failure is thrown, because the run retries transient failures.
    throw new ClusterError(
      problem.kind === 'ServiceUnavailable' || problem.kind === 'Throttling' ? 'Unreachable' : 'WrongServer',
      whatOf(problem),
      problem.hint,
      { cause: problem, status: problem.status },
    );
  },
};

/** Whether the error is a response of the catalog, unlike a proxy's error page or a lost connection. */
const isAnswer = (problem: CatalogError): boolean =>
  problem.kind === 'Unauthenticated' ||
  problem.kind === 'PermissionDenied' ||
  problem.kind === 'NamespaceNotFound' ||
  (isServerError(problem) && problem.kind !== 'ServiceUnavailable' && problem.kind !== 'Throttling');

const auth: Check = {
  id: 'catalog-auth',
  category: 'catalog',
  title: 'Catalog accepts the API key and database',
  severity: 'error',
  needs: ['catalog-reach'],
  limit: 20_000,
  skip: noCatalog,
  run: async ({ catalog }) => {
    const name = await nameOf(catalog);
    const { config } = await catalog.resolved();
    if (config.implementation === 'dir') return pass(`The catalog is ${name}, which needs no API key.`);
    const problem = await problemOf(catalog);
    const database = config.database === undefined ? 'the default database' : `database ${config.database}`;
    const hasKey = config.apiKey !== undefined || config.token !== undefined;
    const asked = `ListTables with ${hasKey ? 'a key' : 'no key'} and ${database}`;
    if (problem === undefined)
      return pass(`The catalog at ${name} lists its tables.`, { asked, saw: 'a list of tables' });
    const evidence = [{ asked, saw: `${problem.status} ${problem.kind}: ${whatOf(problem)}` }];
    const [what, text] = wordsOf(problem, hasKey, database);
    return fail(`The catalog at ${name} ${what}`, { evidence, fix: advice(config.keyHint ?? text) });
  },
};

/**
 * Describes the problem and its fix. For the common problems, the fix is not the server's hint, because many servers
 * put their whole message into the hint.
 */
function wordsOf(problem: CatalogError, hasKey: boolean, database: string): [what: string, fix: string] {
  const { kind } = problem;
  if (kind === 'Unauthenticated') {
    return hasKey
      ? ['rejects the API key.', 'Set another API key: this one may have been revoked.']
      : ['requires an API key, but none is set.', 'Set the API key of the connection.'];
  }
  if (kind === 'PermissionDenied') {
    const what = `accepts the API key, but the key may not list the tables of the ${database}: ${whatOf(problem)}`;
    return [what, 'Ask the administrator of the catalog for a key with access to this database.'];
  }
  if (kind === 'NamespaceNotFound')
    return [`has no ${database}: ${whatOf(problem)}`, 'Correct the name of the database (database of the connection).'];
  return [`does not list its tables: ${whatOf(problem)}`, problem.hint];
}

const storage: Check = {
  id: 'catalog-storage',
  category: 'catalog',
  title: 'Catalog stores its tables in the bucket',
  severity: 'error',
  needs: ['catalog-auth'],
  limit: 20_000,
  skip: (context) =>
    noCatalog(context) ?? (context.profile.storage ? undefined : 'The profile does not name a bucket (storage).'),
  run: async ({ catalog, profile }) => {
    const { storage: wanted } = profile;
    if (!wanted) return skip('The profile does not name a bucket (storage).');
    const { config } = await catalog.resolved();
    if (config.implementation === 'dir')
      return judge('The catalog', config.root, wanted, { asked: 'the root of the catalog', saw: config.root });
    const place = await catalog.tablePlace();
    if (!place)
      return skip("The catalog does not tell where the files of its tables are, so the bucket can't be compared.");
    const evidence = { asked: `DescribeTable ${place.name}`, saw: place.location };
    return judge(`The table ${place.name} of the catalog`, place.location, wanted, evidence);
  },
};

/** Checks whether a location is in the bucket that the other checks use. */
function judge(thing: string, location: string, wanted: BucketLocation, evidence: Evidence): Finding {
  const shown = [wanted.bucket, wanted.prefix].filter((part) => part !== '').join('/');
  const bucket = `${wanted.scheme}://${shown}`;
  const place = readPlace(location);
  if (!place) {
    return fail(`${thing} is at ${location}, which pods of a cluster can't reach.`, {
      evidence: [evidence],
      fix: advice(`Store the tables in an object store, such as ${bucket}.`),
    });
  }
  if (place.scheme !== wanted.scheme || place.bucket !== wanted.bucket) {
    const there = `${place.scheme}://${place.bucket}`;
    return fail(`${thing} is in ${there}, not in ${bucket}, which the other checks use.`, {
      evidence: [evidence],
      fix: advice(`Set storage of the profile to ${there}, and check again.`),
    });
  }
  if (wanted.prefix === '' || place.path === wanted.prefix || place.path.startsWith(`${wanted.prefix}/`))
    return pass(`${thing} is in ${bucket}.`, evidence);
  return warn(`${thing} is in the bucket ${wanted.bucket}, but not below ${wanted.prefix}.`, {
    evidence: [evidence],
    fix: advice(`Check that the grants on the bucket include ${place.path || 'its root'}.`),
  });
}

type Place = { readonly scheme: string; readonly bucket: string; readonly path: string };

/**
 * Parses a URL of an object store; returns `undefined` for a local path. `s3+ddb` is an S3 bucket with a lock table.
 */
function readPlace(location: string): Place | undefined {
  const [, scheme = '', bucket = '', path = ''] =
    /^([a-z0-9]+)(?:\+[a-z]+)?:\/\/([^/?#]+)\/?([^?#]*)/i.exec(location) ?? [];
  if (bucket === '' || scheme.toLowerCase() === 'file') return undefined;
  return { scheme: scheme.toLowerCase(), bucket, path: path.replace(/\/+$/, '') };
}

async function problemOf(catalog: CheckContext['catalog']): Promise<CatalogError | undefined> {
  try {
    await catalog.answers();
    return undefined;
  } catch (error) {
    if (isCatalogError(error)) return error;
    throw error;
  }
}

async function nameOf(catalog: CheckContext['catalog']): Promise<string> {
  const { config } = await catalog.resolved();
  return config.implementation === 'dir' ? `the directory ${config.root}` : config.uri;
}

/** Returns the problem without the hint, because the hint is shown as the fix. */
const whatOf = ({ message, hint }: CatalogError): string =>
  hint !== '' && message.endsWith(hint) ? message.slice(0, -hint.length).trim() : message;

const advice = (text: string): Fix | undefined => (text === '' ? undefined : { kind: 'advice', text });

export const catalogChecks: readonly Check[] = [reach, auth, storage];
