import { isAbsolute } from 'node:path';
import { transportOptionsOf } from '#catalog/rest/config.ts';
import { headersOf } from '#catalog/rest/headers.ts';
import { isThisMachine } from '#processes/thisMachine.ts';
import { parseAddress } from '#catalog/transport/address.ts';
import type { RestConfig } from '#shared/catalogConfig.ts';
import { messageOf } from '#shared/errors.ts';
import type { ProxySettings } from '../host/proxy.ts';
import type { ServerSecrets } from '../host/secrets.ts';
import type { RestConnection } from '../explorer/node.ts';

// Rules for what the user may enter about a server. This file does not use `vscode`, so that tests need no editor.

/**
 * Returns the stored form of an address, without a slash at the end. If no scheme was entered, it is `https://`, but
 * `http://` for this machine, because few servers on it have a certificate.
 */
export function cleanAddress(typed: string): string {
  const text = typed.trim();
  const scheme = isThisMachine(/^(\[[^\]]*\]|[^:/?#]*)/.exec(text)?.[0] ?? '') ? 'http' : 'https';
  return (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${scheme}://${text}`).replace(/\/+$/, '');
}

/** Returns the error message for an invalid address; `undefined` if the address is valid. */
export function addressProblem(typed: string): string | undefined {
  if (typed.trim() === '') return 'Type the address of the server, for instance https://catalog.example.com.';
  try {
    parseAddress('uri', cleanAddress(typed));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Returns a warning for a valid address of another machine that is not encrypted, else `undefined`. */
export function addressWarning(typed: string): string | undefined {
  if (addressProblem(typed) !== undefined) return undefined;
  const url = new URL(cleanAddress(typed));
  if (url.protocol === 'https:' || isThisMachine(url.hostname)) return undefined;
  return 'Not encrypted: anyone on the network can read the key and the data. Use https:// if the server supports it.';
}

/** Returns the error message for an invalid API key. An empty key is valid, because it is not sent. */
export const keyProblem = (typed: string): string | undefined =>
  typed.trim() === '' ? undefined : configProblem({ apiKey: typed.trim() });

/** Returns the error message for an invalid token. An empty token is valid, because it is not sent. */
export const tokenProblem = (typed: string): string | undefined =>
  typed.trim() === '' ? undefined : configProblem({ token: typed.trim() });

/** Returns the error message for an invalid endpoint. An empty endpoint is valid, because it is ignored. */
export function endpointProblem(typed: string, uri: string): string | undefined {
  if (typed.trim() === '') return undefined;
  try {
    transportOptionsOf({ uri, endpoint: typed.trim() });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Returns the error message for an invalid path. The content of the file is checked later, when the file is read. */
export const certificateFileProblem = (typed: string): string | undefined =>
  typed.trim() === '' || isAbsolute(typed.trim()) ? undefined : 'Type the absolute path of the file.';

/** Returns the error message for an invalid database name. An empty name is valid, because it is not sent. */
export const databaseProblem = (typed: string): string | undefined =>
  typed.trim() === '' ? undefined : configProblem({ database: typed.trim() });

/** Checks a key, token, database or header with the client's rules, so that the client can send each stored value. */
function configProblem(part: Partial<RestConfig>): string | undefined {
  const uri = 'https://any';
  try {
    headersOf({ uri, ...part }, new URL(uri));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

type Header = { name: string; value: string };

/** Parses `Name: value`. The wizard removes the header of that name if the value is empty. */
export function headerOf(typed: string): Header | undefined {
  const at = typed.indexOf(':');
  return at < 0 ? undefined : { name: typed.slice(0, at).trim(), value: typed.slice(at + 1).trim() };
}

export function headerProblem(typed: string): string | undefined {
  if (typed.trim() === '') return undefined;
  const header = headerOf(typed);
  if (!header) return 'Write it as Name: value, for instance X-Team: data.';
  return configProblem({ headers: { [header.name]: header.value } });
}

export const restBaseName = (uri: string, database: string): string => database || new URL(uri).hostname;

/** The fields of a server connection that define how to reach it. */
export type ServerWay = Pick<RestConnection, 'uri' | 'database' | 'endpoint' | 'ca' | 'properties'>;

/** Returns the client's configuration. A private endpoint is reached directly, without a proxy. */
export function restConfigOf(
  { uri, database, endpoint, properties = {} }: ServerWay,
  { apiKey, token, headers }: ServerSecrets,
  settings: ProxySettings,
  certificates?: string,
): RestConfig {
  const isDirect = endpoint !== undefined || properties.endpoint !== undefined;
  const proxy = isDirect || properties.proxy !== undefined ? undefined : proxyFor(uri, settings);
  return {
    ...properties,
    uri,
    ...(apiKey && { apiKey }),
    ...(token && { token }),
    ...(endpoint && { endpoint }),
    ...(certificates !== undefined && { ca: certificates }),
    ...(database && { database }),
    ...(headers && { headers: { ...properties.headers, ...headers } }),
    ...(proxy && { proxy }),
  };
}

/** Returns VS Code's proxy for an address; none for this machine and for excluded hosts. */
export function proxyFor(uri: string, { proxy, support, noProxy }: ProxySettings): string | undefined {
  if (proxy === '' || support === 'off') return undefined;
  const { hostname } = new URL(uri);
  return isThisMachine(hostname) || noProxy.some((one) => covers(one, hostname)) ? undefined : proxy;
}

/**
 * Whether an entry covers a host: `example.com`, `.example.com` and `*.example.com` cover the host and its
 * subdomains, `*` covers all.
 */
function covers(entry: string, host: string): boolean {
  const domain = entry
    .trim()
    .toLowerCase()
    .replace(/^\*?\./, '')
    .replace(/:\d+$/, '');
  return domain === '*' || (domain !== '' && (host === domain || host.endsWith(`.${domain}`)));
}
