import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { RestConfig } from '#catalog/connect.ts';

const names = { database: 'x-service-database', databasePrefix: 'x-service-database-prefix' } as const;

/** Names of the database headers, including the ones other servers use. */
const databaseHeaders: readonly string[] = [
  names.database,
  names.databasePrefix,
  'x-lancedb-database',
  'x-lancedb-database-prefix',
];

/**
 * Headers of the connection and the bodies. A configuration can't set them: it could split one request into two, or
 * name another host than the one whose certificate was checked.
 */
const ours: ReadonlySet<string> = new Set([
  'accept',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'prefer',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers by lowercase name, the subset that names the database, and the secret values. */
type Headers = { headers: Record<string, string>; database: Record<string, string>; secrets: string[] };

/**
 * Returns the headers of a configuration. All values except the database's are secret, because any of them may contain
 * a key.
 * @throws CatalogError InvalidInput (13) naming the header, never its value
 */
export function headersOf(config: RestConfig, url: URL): Headers {
  const headers = new Map<string, string>();
  const put = (name: string, value: unknown) => {
    const [key, text] = checkHeader(name, value);
    if (headers.has(key) && headers.get(key) !== text)
      throw invalid(`The header "${key}" is set to two different values.`, 'Set it once.');
    headers.set(key, text);
  };
  if (config.headers !== undefined && !isRecord(config.headers))
    throw invalid('Expected an object for "headers".', 'Pass header names with their values.');
  for (const [name, value] of Object.entries(config.headers ?? {})) put(name, value);
  for (const [key, value] of Object.entries(config)) {
    if (key.startsWith('headers.') && value !== undefined) put(key.slice('headers.'.length), value);
  }
  if (config.apiKey !== undefined) put('x-api-key', required('apiKey', config.apiKey));
  if (config.token !== undefined) put('authorization', `Bearer ${required('token', config.token)}`);
  const { database, databasePrefix, headerNames } = config;
  if (database !== undefined && !isInHost(required('database', database), url)) {
    put(headerNames?.database ?? names.database, database);
  }
  if (databasePrefix !== undefined) {
    put(headerNames?.databasePrefix ?? names.databasePrefix, required('databasePrefix', databasePrefix));
  }
  const open = new Set([...databaseHeaders, ...Object.values(headerNames ?? {}).map((name) => name?.toLowerCase())]);
  const ofDatabase = Object.fromEntries([...headers].filter(([name]) => open.has(name)));
  const secrets = [...headers].filter(([name]) => !open.has(name)).map(([, value]) => value);
  if (config.token !== undefined) secrets.push(config.token);
  if (!headers.has('user-agent')) headers.set('user-agent', 'lance-catalog');
  // Longest first, because replacing a short secret inside a longer one would leave the rest of the longer one.
  return {
    headers: Object.fromEntries(headers),
    database: ofDatabase,
    secrets: secrets.toSorted((a, b) => b.length - a.length),
  };
}

/**
 * Whether the host name contains the database, as in the hosted service: `sales.eu.api.example.com` is the host of
 * database `sales` in region `eu`. All other hosts get the database header, even if the host name starts with the
 * database name: without the header a server of several databases would use its default database.
 */
function isInHost(database: string, url: URL): boolean {
  const [first, , third, ...domain] = url.hostname.split('.');
  return first === database.toLowerCase() && third === 'api' && domain.length >= 2;
}

const invalid = (what: string, hint: string): CatalogError => new CatalogError('InvalidInput', what, hint);

function required(option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(
    `The option ${option} is ${value === '' ? 'empty' : 'not a string'}.`,
    'Pass a non-empty string, or leave it out.',
  );
}

/**
 * Validates a header, because a line break in a value would start another header, or another request.
 * @throws CatalogError InvalidInput (13)
 */
function checkHeader(name: string, value: unknown): [name: string, value: string] {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) {
    throw invalid(`${JSON.stringify(name.slice(0, 60))} is not a valid header name.`, 'Use letters, digits and "-".');
  }
  const key = name.toLowerCase();
  if (ours.has(key)) throw invalid(`The header "${key}" can't be set.`, 'Leave it out.');
  if (typeof value !== 'string') throw invalid(`The header "${key}" is not a string.`, 'Pass a string.');
  if (/[\r\n]/.test(value)) {
    throw invalid(
      `The value of the header "${key}" has a line break.`,
      'Remove it. A value that was read from a file may end with one.',
    );
  }
  // Allowed: horizontal tab, and Latin-1 without control characters.
  if (!/^[\t\u0020-\u007e\u00a0-\u00ff]*$/.test(value)) {
    throw invalid(`The value of the header "${key}" has a character that headers can't contain.`, 'Encode it first.');
  }
  return [key, value.trim()];
}
