import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { RestConfig } from '#catalog/connect.ts';

const names = { database: 'x-service-database', databasePrefix: 'x-service-database-prefix' } as const;

/** Other names of the database headers that servers know. */
const databaseHeaders: readonly string[] = [
  names.database,
  names.databasePrefix,
  'x-lancedb-database',
  'x-lancedb-database-prefix',
];

/**
 * What belongs to the connection and to the bodies: a configuration that set them could make two requests of one, or
 * name another host than the certificate was checked for.
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

/** Headers by their names in lower case; those that name the database once more, and which values are secret. */
type Headers = { headers: Record<string, string>; database: Record<string, string>; secrets: string[] };

/**
 * The headers that a configuration asks for. All values but the database's are secret, since nobody but the person knows
 * what they forward.
 * @throws CatalogError InvalidInput (13) naming the header, never its value
 */
export function headersOf(config: RestConfig, url: URL): Headers {
  const headers = new Map<string, string>();
  const put = (name: string, value: unknown) => {
    const [key, text] = checkHeader(name, value);
    if (headers.has(key) && headers.get(key) !== text)
      throw invalid(`The header "${key}" is given twice.`, 'Give it once.');
    headers.set(key, text);
  };
  if (config.headers !== undefined && !isRecord(config.headers))
    throw invalid('headers is no object.', 'Give names and texts.');
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
  // Longest first, so that a secret which is part of another is not cut out of it.
  return {
    headers: Object.fromEntries(headers),
    database: ofDatabase,
    secrets: secrets.toSorted((a, b) => b.length - a.length),
  };
}

/**
 * Whether the address names the database already, as a service writes it: `sales.eu.api.example.com` is the host of the
 * database `sales` in the region `eu`. Any other host that happens to begin with its name is told the database: without
 * that a server of several would read and write in the one that it takes for the default.
 */
function isInHost(database: string, url: URL): boolean {
  const [first, , third, ...domain] = url.hostname.split('.');
  return first === database.toLowerCase() && third === 'api' && domain.length >= 2;
}

const invalid = (what: string, hint: string): CatalogError => new CatalogError('InvalidInput', what, hint);

function required(option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(`The option ${option} is ${value === '' ? 'empty' : 'not text'}.`, 'Give text, or leave it out.');
}

/**
 * A header that is one: a line break in a value would be the beginning of another header, or of another request.
 * @throws CatalogError InvalidInput (13)
 */
function checkHeader(name: string, value: unknown): [name: string, value: string] {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) {
    throw invalid(`${JSON.stringify(name.slice(0, 60))} is no name of a header.`, 'Use letters, digits and "-".');
  }
  const key = name.toLowerCase();
  if (ours.has(key)) throw invalid(`The header "${key}" can't be set.`, 'Leave it out.');
  if (typeof value !== 'string') throw invalid(`The header "${key}" is not text.`, 'Give text.');
  if (/[\r\n]/.test(value)) {
    throw invalid(
      `The value of the header "${key}" has a line break.`,
      'Was it read from a file with its last line end?',
    );
  }
  // Horizontal tab, and what one byte can say but control characters.
  if (!/^[\t\u0020-\u007e\u00a0-\u00ff]*$/.test(value)) {
    throw invalid(`The value of the header "${key}" has a character that no header can hold.`, 'Encode it first.');
  }
  return [key, value.trim()];
}
