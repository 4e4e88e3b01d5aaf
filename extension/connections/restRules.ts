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

// What a person may type about a server, and what becomes of it. No `vscode` here: every rule has a test without it.

/** The address as it is kept: `https://` where no scheme was typed, and no slash at the end. */
export function cleanAddress(typed: string): string {
  const text = typed.trim();
  return (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`).replace(/\/+$/, '');
}

/** What is wrong with an address, as a sentence; `undefined` when it is fine. */
export function addressProblem(typed: string): string | undefined {
  if (typed.trim() === '') return 'Type the address of the server, for instance https://catalog.example.com.';
  try {
    parseAddress('uri', cleanAddress(typed));
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** What to know about an address that is fine: a key sent to it can be read on the way. */
export function addressWarning(typed: string): string | undefined {
  if (addressProblem(typed) !== undefined) return undefined;
  const url = new URL(cleanAddress(typed));
  if (url.protocol === 'https:' || isThisMachine(url.hostname)) return undefined;
  return 'Not encrypted: everyone on the way can read the key and the data. Use https:// where the server has it.';
}

/** What is wrong with a key, as a sentence; `undefined` when it can be sent. An empty one is not sent. */
export const keyProblem = (typed: string): string | undefined =>
  typed.trim() === '' ? undefined : configProblem({ apiKey: typed.trim() });

/** What is wrong with a bearer token; an empty one is not sent. */
export const tokenProblem = (typed: string): string | undefined =>
  typed.trim() === '' ? undefined : configProblem({ token: typed.trim() });

/** What is wrong with a private endpoint to an address; an empty one is none. */
export function endpointProblem(typed: string, uri: string): string | undefined {
  if (typed.trim() === '') return undefined;
  try {
    transportOptionsOf({ uri, endpoint: typed.trim() });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** What is wrong with the path of a file of certificates; what is in the file is told when it is read. */
export const certificateFileProblem = (typed: string): string | undefined =>
  typed.trim() === '' || isAbsolute(typed.trim()) ? undefined : 'Type the whole path of the file.';

/** What is wrong with the name of a database; an empty one is not sent. */
export const databaseProblem = (typed: string): string | undefined =>
  typed.trim() === '' ? undefined : configProblem({ database: typed.trim() });

/** By the client's own rules, so that nothing is stored that it would refuse to send. */
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

/** `Name: value` as it was typed; an empty value takes the header of this name away. */
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

/** A name for a connection: its database, else its host. */
export const restBaseName = (uri: string, database: string): string => database || new URL(uri).hostname;

/** What of a connection to a server says how to reach it. */
export type ServerWay = Pick<RestConnection, 'uri' | 'database' | 'endpoint' | 'ca' | 'properties'>;

/** How the client is told to connect. A private endpoint is a way of its own, which no proxy leads to. */
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

/** The proxy of the editor's settings for an address: none for this machine itself and for what they leave out. */
export function proxyFor(uri: string, { proxy, support, noProxy }: ProxySettings): string | undefined {
  if (proxy === '' || support === 'off') return undefined;
  const { hostname } = new URL(uri);
  return isThisMachine(hostname) || noProxy.some((one) => covers(one, hostname)) ? undefined : proxy;
}

/** `example.com`, `.example.com` and `*.example.com` cover the host and those under it, `*` every host. */
function covers(entry: string, host: string): boolean {
  const domain = entry
    .trim()
    .toLowerCase()
    .replace(/^\*?\./, '')
    .replace(/:\d+$/, '');
  return domain === '*' || (domain !== '' && (host === domain || host.endsWith(`.${domain}`)));
}
