import { X509Certificate } from 'node:crypto';
import { CatalogError } from '#shared/errors.ts';
import { idDelimiter } from '#shared/names.ts';
import type { RestConfig } from '#catalog/connect.ts';
import { identityOfServer, type Identity } from '#catalog/identity.ts';
import { parseAddress } from '#catalog/transport/address.ts';
import { headersOf } from './headers.ts';
import { isThisMachine } from '#processes/thisMachine.ts';
import type { TransportOptions } from '#catalog/transport/transport.ts';

const defaultTimeouts = { connect: 10_000, headers: 300_000, body: 300_000, json: 60_000 } as const;
const defaultRetries = 3;

/**
 * Converts a configuration to options of the connection.
 * @throws CatalogError InvalidInput (13) naming the wrong option, never showing a secret
 */
export function transportOptionsOf(
  config: RestConfig,
  log?: (line: string) => void,
): TransportOptions & { identity: Identity } {
  if (config.uri === undefined || config.uri === '') {
    throw new CatalogError('InvalidInput', 'The catalog has no URL.', 'Set uri, for instance "https://…".');
  }
  const url = parseAddress('uri', config.uri);
  const { headers, database, secrets } = headersOf(config, url);
  if (secrets.length > 0 && url.protocol === 'http:' && !isThisMachine(url.hostname)) {
    log?.(`Keys are sent to ${url.origin} without encryption. Use a URL with https: if the server has one.`);
  }
  const endpoint = config.endpoint === undefined ? undefined : checkEndpoint(config.endpoint, url, config.proxy);
  return {
    uri: config.uri,
    identity: identityOfServer(url, database, endpoint),
    headers,
    secrets,
    delimiter: checkDelimiter(config.delimiter),
    retries: checkRetries(config.retries),
    timeouts: {
      connect: checkTimeout('connect', config.timeouts?.connect),
      headers: checkTimeout('headers', config.timeouts?.headers),
      body: checkTimeout('body', config.timeouts?.body),
      json: checkTimeout('json', config.timeouts?.json),
    },
    ...(endpoint && { endpoint }),
    ...(config.ca !== undefined && { ca: checkCertificates(config.ca) }),
    ...(config.proxy !== undefined && { proxy: checkProxy(config.proxy) }),
  };
}

const invalid = (what: string, hint: string, cause?: unknown): CatalogError =>
  new CatalogError('InvalidInput', what, hint, cause === undefined ? {} : { cause });

function checkDelimiter(delimiter: unknown = idDelimiter): string {
  // Letters, digits, "_" and "-" occur in nearly every name, so a delimiter can't contain them. It can't contain
  // characters that are not allowed in URLs either.
  if (typeof delimiter === 'string' && /^[^\p{L}\p{N}\p{C}\s/\\?#%_-]{1,8}$/u.test(delimiter)) return delimiter;
  throw invalid(
    'Expected a separator that names and URLs do not contain for "delimiter".',
    'Use for instance "$" or ".".',
  );
}

function checkRetries(retries: unknown = defaultRetries): number {
  if (Number.isInteger(retries) && Number(retries) >= 0 && Number(retries) <= 20) return Number(retries);
  throw invalid(
    `Expected a number of retries for "retries", got ${String(retries)}.`,
    'Use a whole number from 0 to 20.',
  );
}

function checkTimeout(which: keyof typeof defaultTimeouts, value: unknown = defaultTimeouts[which]): number {
  // A timer's delay has 31 bits; with a longer delay the timer would fire immediately.
  if (typeof value === 'number' && value >= 0 && value < 2 ** 31) return value;
  throw invalid(
    `Expected a time for "timeouts.${which}", got ${String(value)}.`,
    'Use milliseconds, or 0 for no limit.',
  );
}

/**
 * Accepts `host`, `host:port`, or a URL. The URL must have the protocol of the server's URL, because a key for https:
 * must never be sent over http:.
 */
function checkEndpoint(endpoint: unknown, url: URL, proxy: unknown): { hostname: string; port: string } {
  const text = typeof endpoint === 'string' && !endpoint.includes('://') ? `${url.protocol}//${endpoint}` : endpoint;
  const there = parseAddress('endpoint', text);
  if (there.protocol !== url.protocol || there.pathname !== '/') {
    throw invalid(
      `The endpoint has another protocol than ${url.origin}, or a path.`,
      `Use "host:port", or a URL with ${url.protocol} and no path.`,
    );
  }
  if (proxy !== undefined) throw invalid('Both an endpoint and a proxy are set.', 'Set only one of them.');
  return { hostname: there.hostname, port: there.port || (url.protocol === 'https:' ? '443' : '80') };
}

function checkCertificates(ca: unknown): string {
  const blocks =
    typeof ca === 'string' ? (ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []) : [];
  const hint = 'Pass the content of a PEM file, which starts with "-----BEGIN CERTIFICATE-----".';
  if (blocks.length === 0) throw invalid('The option "ca" contains no certificate.', hint);
  try {
    // Throws for a block that is not a certificate.
    return blocks.map((block) => new X509Certificate(block).toString()).join('\n');
  } catch (cause) {
    throw invalid(`Can't read a certificate in the option "ca".`, hint, cause);
  }
}

function checkProxy(proxy: unknown): string {
  const url = typeof proxy === 'string' && URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (url && (url.protocol === 'http:' || url.protocol === 'https:')) return url.href;
  // The message omits the value, which may contain a password.
  throw invalid('Expected the URL of a proxy for "proxy".', 'Use for instance "http://proxy.example.com:3128".');
}
