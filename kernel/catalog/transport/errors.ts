import { type Operation, operations } from '#catalog/contract.ts';
import {
  CatalogError,
  catalogErrorCodes,
  type CatalogErrorKind,
  isCatalogError,
  kindOfCode,
  kindOfStatus,
  messageOf,
} from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { isRecord, parseRecord } from '#shared/records.ts';
import { redact } from './redact.ts';
import { isBrokenConnection, markTransient, parseRetryAfter } from './retry.ts';

// Converts failures of servers and connections to `CatalogError`s. On this side of the contract, only this module
// interprets the messages of other servers.

/** What a request was about, for messages. */
type RequestSubject = { operation: Operation; id: readonly string[] };

/**
 * Returns the message and hint for errors whose code says everything. Message and hint are the same as for a directory.
 * The server's own message is not used, because many servers send only a name with such a code.
 */
function messageForKind(kind: CatalogErrorKind, asked: RequestSubject): [what: string, hint: string] | undefined {
  const { operation, id } = asked;
  const isTable = operations[operation].subject === 'table';
  const path = isTable || operation === 'CreateNamespace' ? id.slice(0, -1) : id;
  const thing = `${isTable ? 'Table' : 'Namespace'} "${displayPath(id)}"`;
  const exists: [string, string] = [
    `${thing} exists already.`,
    isTable ? nextSteps.tableTaken : nextSteps.namespaceTaken,
  ];
  const words: { readonly [K in CatalogErrorKind]?: [what: string, hint: string] } = {
    NamespaceNotFound:
      operation === 'CreateNamespace'
        ? [`The parent namespace "${displayPath(path)}" does not exist.`, nextSteps.createNamespace]
        : [`Namespace "${displayPath(path)}" does not exist.`, nextSteps.listNamespaces],
    NamespaceAlreadyExists: exists,
    NamespaceNotEmpty: [`${thing} is not empty.`, nextSteps.cascade],
    TableNotFound: [`${thing} does not exist.`, nextSteps.listTables],
    TableAlreadyExists:
      operation === 'RenameTable' ? ['A table with the new name exists already.', 'Choose another name.'] : exists,
  };
  return words[kind];
}

const hints: { readonly [K in CatalogErrorKind]?: string } = {
  Unsupported: 'Use a server that supports it.',
  IndexNotFound: 'List the indexes with listIndices().',
  IndexAlreadyExists: 'Choose another name, or drop the index first.',
  TagNotFound: nextSteps.listTags,
  TagAlreadyExists: 'Choose another name, or update the tag.',
  VersionNotFound: nextSteps.listVersions,
  ColumnNotFound: 'See schema() for the columns.',
  ConcurrentModification: 'Try again.',
  InvalidInput: 'Correct the call.',
  SchemaValidation: 'See schema() for the columns of the table.',
  Unauthenticated: 'Check the API key or token.',
  PermissionDenied: 'Ask for access, or check the API key and the database.',
  Internal: 'Ask the administrator of the server, whose log may say more.',
};

/** The hint if a server sends none. */
const hintForKind = (kind: CatalogErrorKind): string => hints[kind] ?? 'Ask the administrator of the server.';

/** Whether a message already names its object as our messages do, so that the message can be shown unchanged. */
const namesIt = (text: string, { id }: RequestSubject): boolean => text.includes(`"${displayPath(id)}"`);

/** The meaning of a server's message, and a sentence for users if the message itself is not suitable. */
type Meaning = { kind: CatalogErrorKind; what?: string; hint?: string };

type Rule = { pattern: RegExp; means: (about: string, found: RegExpExecArray) => Meaning };

const noColumn = (about: string, found: RegExpExecArray): Meaning => {
  const named = found.slice(1).find((group) => group !== undefined) ?? '';
  // In the condition of a merge, the name of a column starts with the name of its side.
  const name = found.input.includes('source.__merge_source_sentinel')
    ? named.replace(/^(?:target|source)\./, '')
    : named;
  return { kind: 'ColumnNotFound', what: `${about} has no column "${name}".`, hint: 'See schema() for the columns.' };
};

/** The first matching rule applies. */
const rules: readonly Rule[] = [
  {
    pattern: /\bnot implemented\b|^\s*(?:not supported|unsupported)\b/i,
    means: () => ({ kind: 'Unsupported' }),
  },
  {
    pattern: /_versions\/(\d+)\.manifest was not found|\bversion (?:\w+:)?(\d+) (?:not found|does not exist)/i,
    means: (about, found) => ({
      kind: 'VersionNotFound',
      what: `${about} has no version ${found[1] ?? found[2]}.`,
      hint: nextSteps.listVersions,
    }),
  },
  {
    pattern: /^tag '([^']+)'/i,
    means: (about, found) => ({ kind: 'TagNotFound', what: `${about} has no tag "${found[1]}".` }),
  },
  {
    pattern: /\bindex not found: name=([^\s,]+?)\.?(?:\s|,|$)/i,
    means: (about, found) => ({ kind: 'IndexNotFound', what: `${about} has no index "${found[1]}".` }),
  },
  { pattern: /FieldNotFound \{ field: Column \{[^}]*\bname: "([^"]*)"/, means: noColumn },
  { pattern: /No field named ["`]?([^\s"`]+?)["`]?\.(?:\s|$)/i, means: noColumn },
  { pattern: /\bcolumn '?([^\s']+)'? does not exist/i, means: noColumn },
  { pattern: /\bFTS field path '([^']+)' does not exist/, means: noColumn },
  {
    pattern: /Commit conflict|Retryable commit|Too many concurrent writers/i,
    means: (about) => ({
      kind: 'ConcurrentModification',
      what: `${about} was changed by another client at the same time.`,
      hint: 'Try again.',
    }),
  },
  {
    pattern: /does not have sufficient data, len|Invalid range \d+\.\.\d+ for object|file size is too small/,
    means: (about) => ({
      kind: 'InvalidTableState',
      what: `${about} can't be read: its files are broken or incomplete.`,
      hint: 'Restore them from a backup, or drop the table.',
    }),
  },
  {
    pattern: /\bAmbiguous reference to unqualified field [`"]?([\w.]+?)[`"]?\.?(?:[\s,]|$)/,
    means: (about, found) => ({
      kind: 'InvalidInput',
      what: `${about}: the condition of the merge does not say which column "${found[1]}" it means.`,
      hint: `Write target.${found[1]} for the row of the table, or source.${found[1]} for the new row.`,
    }),
  },
  {
    pattern: /\bExpected (?:at )?(?:most )?\d-level\b|^Unsupported Lance namespace identifier\b/,
    means: (about) => ({
      kind: 'InvalidInput',
      what: `${about} is at a level that this server does not have.`,
      hint: 'Use one name for a catalog, two for a schema, and put tables into schemas.',
    }),
  },
  { pattern: /^(?:Catalog|Schema) \S+ is not empty\b/, means: () => ({ kind: 'NamespaceNotEmpty' }) },
  {
    pattern: /sql parser error|Error parsing statement|Error during planning|\bInvalidInput \{|Invalid user input/,
    means: () => ({ kind: 'InvalidInput' }),
  },
];

/** Kinds that some servers report as invalid input. */
const refining: ReadonlySet<CatalogErrorKind> = new Set<CatalogErrorKind>(['ColumnNotFound', 'NamespaceNotEmpty']);

/**
 * Determines the meaning of a server's message if the code is too general: the upstream server reports nearly every
 * refusal of the engine as Internal (18), and a missing column as invalid input. Other codes are kept, but may get a
 * better sentence.
 */
export function parseServerError(kind: CatalogErrorKind, text: string, asked: RequestSubject): Meaning | undefined {
  const about = subjectText(asked);
  for (const { pattern, means } of rules) {
    const found = pattern.exec(text);
    const meaning = found && means(about, found);
    if (!meaning) continue;
    const isRefined = kind === 'Internal' || (kind === 'InvalidInput' && refining.has(meaning.kind));
    if (isRefined || meaning.kind === kind) return meaning;
  }
  return undefined;
}

/** The object of a request as the start of a sentence; "The catalog" if the request was about the whole server. */
function subjectText({ operation, id }: RequestSubject): string {
  const { subject } = operations[operation];
  if (subject === 'none') return 'The catalog';
  return `${subject === 'table' ? 'Table' : 'Namespace'} "${displayPath(id)}"`;
}

/**
 * Returns the first sentence of a message, without causes, internals of the engine, and paths and URLs of other
 * machines.
 */
export function firstLine(text: string): string {
  const first = text.split(/\s*\n|\s+Caused by:|,?\s*\blocation: Location \{|:?\s*Schema \{ fields:/i)[0] ?? '';
  return (
    first
      .replace(/\b(?:InvalidInput|\w*Error|Internal|NotSupported) \{ source: "(.*?)"?$/, '$1')
      // The fields of a dump have a colon; the next step of our own server may have an object such as `{ uri }`.
      .replace(/(?::\s*\w+)?\s*\{\s*(?:source|uri|store|field)\b\s*:.*$/, '')
      .replaceAll(/,?\s*(?:[A-Za-z]:)?[^\s,:"'`(]*[/\\][^\s,:"'`]+\.rs:\d+(?::\d+)?/g, '')
      .replaceAll(/\s*\bat ['"`]?[a-z][a-z0-9+.-]*:\/\/[^\s'"`,]*['"`]?/g, '')
      .replace(/[\s,;:]+$/, '')
      .slice(0, 600)
  );
}

/** A failed response: its status, some of its headers, and the beginning of its body. */
export type ErrorResponse = {
  status: number;
  contentType: string;
  retryAfter: string | undefined;
  location: string | undefined;
  text: string;
};

/** How a catch-all handler of Jakarta REST reports, with status 500, that a server has no such path or method. */
const unmapped = /^HTTP (404 Not Found|405 Method Not Allowed)$/;

/** Returns a response with the status that its server meant: a catch-all handler sends 500 for a missing path too. */
export function withMeantStatus(answer: ErrorResponse): ErrorResponse {
  if (answer.status !== 500) return answer;
  const { error } = parseRecord(answer.text) ?? {};
  const found = typeof error === 'string' ? unmapped.exec(error) : null;
  return found ? { ...answer, status: Number.parseInt(found[1]!, 10), text: '' } : answer;
}

/** The error body of the contract ("Error Response"). */
type Told = { error: string; kind: CatalogErrorKind; detail: string; hasDetail: boolean };

/** The properties of a server that its errors depend on. */
export type Server = {
  name: string;
  /** Whether the server has already answered like a catalog server. */
  isKnown: boolean;
  /** Whether the server's URL is http://, without encryption. */
  isPlain?: boolean;
  /** Whether the server's URL ends with the version that every path starts with. */
  endsWithVersion?: boolean;
  /** Strings that must not appear in any message. */
  secrets: readonly string[];
  /** How the user can set another key for this connection. */
  keyHint?: string | undefined;
};

export const hasContractError = (answer: ErrorResponse): boolean => parseTold(answer.text) !== undefined;

const told = new WeakSet<CatalogError>();

/** Whether the server sent the error in the contract's format; otherwise it was derived from the status. */
export const isServerError = (error: CatalogError): boolean => told.has(error);

/** Returns the error for a response without a 2xx status. */
export function errorFromResponse(server: Server, asked: RequestSubject, answer: ErrorResponse): CatalogError {
  const { status } = answer;
  const cause = answer.text === '' ? {} : { cause: new Error(withoutSecrets(answer.text, server).slice(0, maxCause)) };
  if (status < 400) return redirected(server, answer);
  const words = parseTold(answer.text);
  const error = words ? ofContract(server, asked, answer, words, cause) : ofStatus(server, asked, answer, cause);
  if (words) told.add(error);
  return status === 429 || status === 503
    ? markTransient(error, parseRetryAfter(answer.retryAfter, Date.now()))
    : error;
}

const leaveOutVersion = 'Remove the "/v1" at the end of the address: it is added automatically.';

/**
 * How a server says that it lacks a path which does not start with the version (`/v1`). All paths of the contract start
 * with the version, so the address of the server is wrong.
 */
const isOtherPath = /\bno (?:GET|POST) \/(?!v1\/)/;

const checkPath = 'Check the path in uri.';

const maxCause = 4096;

/** Returns a server's response without the secrets that were sent to it, and without those of its storage. */
const withoutSecrets = (text: string, { secrets }: Server): string =>
  redact(text, secrets).replaceAll(/"storage_options"\s*:\s*\{[^}]*\}?/g, '"storage_options":"…"');

/** The options of our client that set the headers which servers name. */
const optionsOfHeaders: readonly (readonly [RegExp, string])[] = [
  [/\bx-(?:service|lancedb)-database-prefix\b/gi, 'databasePrefix'],
  [/\bx-(?:service|lancedb)-database\b/gi, 'database'],
  [/\bx-api-key\b/gi, 'apiKey'],
];

/** Replaces header names in a server's message with the options of our client that set these headers. */
const asOptions = (text: string): string =>
  optionsOfHeaders
    .reduce((changed, [header, option]) => changed.replaceAll(header, `the option "${option}"`), text)
    .replace(/^the option/, 'The option');

function ofContract(
  server: Server,
  asked: RequestSubject,
  answer: ErrorResponse,
  words: Told,
  cause: { cause?: Error },
): CatalogError {
  const { status } = answer;
  const raw = redact(words.error, server.secrets);
  // If the server sends a `detail` (the next step for the user), its message is meant for users.
  const detail = asOptions(firstLine(redact(words.detail, server.secrets)));
  const meaning = detail === '' ? parseServerError(words.kind, raw, asked) : undefined;
  const kind = meaning?.kind ?? words.kind;
  const own = detail === '' && !namesIt(raw, asked) ? messageForKind(kind, asked) : undefined;
  const said = sentence(asOptions(firstLine(raw)) || `${server.name} refused the request with status ${status}`);
  const what = meaning?.what ?? own?.[0] ?? (detail === '' ? withThing(server, asked, kind, said) : said);
  const isWrongPath = server.endsWithVersion && kind === 'Unsupported' && (status === 404 || raw.includes('/v1/v1/'));
  const path = isWrongPath ? leaveOutVersion : kind === 'Unsupported' && isOtherPath.test(raw) ? checkPath : '';
  // A server that sends a detail, even an empty one, knows the next step better than a guess by the code.
  const isToldAll = words.hasDetail && (kind === 'InvalidInput' || kind === 'Unsupported');
  const hint = path || detail || meaning?.hint || own?.[1] || (isToldAll ? '' : hintOf(kind, answer));
  // The cause is omitted if it would only repeat the message.
  return new CatalogError(kind, what, nextStep(server, kind, hint), {
    status,
    ...(raw.trim() === what ? {} : cause),
  });
}

/** Adds the object of the request to a server's message, because few servers name the object. */
function withThing(server: Server, asked: RequestSubject, kind: CatalogErrorKind, said: string): string {
  if (namesIt(said, asked) || isAboutCaller(kind)) return said;
  if (kind !== 'Unsupported') return `${subjectText(asked)}: ${said}`;
  return `${server.name} refused ${asked.operation} of "${displayPath(asked.id)}": ${said}`;
}

/** Whether an error is about the caller or the server, so that it would be the same for any other table. */
const isAboutCaller = (kind: CatalogErrorKind): boolean =>
  kind === 'Unauthenticated' || kind === 'PermissionDenied' || kind === 'Throttling' || kind === 'ServiceUnavailable';

function ofStatus(
  server: Server,
  asked: RequestSubject,
  answer: ErrorResponse,
  cause: { cause?: Error },
): CatalogError {
  const { status } = answer;
  const { name } = server;
  if ((status === 404 || status === 405) && server.isKnown) {
    const hint = server.endsWithVersion ? leaveOutVersion : 'Use a server that supports this operation.';
    const what = `${name} does not support ${asked.operation} (status ${status}).`;
    return new CatalogError('Unsupported', what, hint, { status, ...cause });
  }
  if (status === 413) {
    const hint = 'Send less at once: create the table with a part of its rows, and add the other rows.';
    return new CatalogError('InvalidInput', `${name} does not accept a request as large as this one.`, hint, {
      status,
      ...cause,
    });
  }
  const kind = kindOfStatus(status);
  const page = answer.contentType.startsWith('text/html') ? ' and a web page' : '';
  const words = redact(wordsOf(answer.text), server.secrets);
  const address = server.endsWithVersion ? leaveOutVersion : 'Check that the address belongs to a catalog server.';
  const hint = kind === 'InvalidInput' ? address : hintOf(kind, answer);
  const what = sentence(`${name} answered with status ${status}${page}${words && `: ${words}`}`);
  return new CatalogError(kind, what, nextStep(server, kind, hint), { status, ...cause });
}

/**
 * Returns the next step. For errors about a key, it is the key hint, because a server's message rarely says where the
 * user can get another key.
 */
function nextStep({ keyHint }: Server, kind: CatalogErrorKind, usual: string): string {
  if (keyHint === undefined) return usual;
  if (kind === 'Unauthenticated') return keyHint;
  return kind === 'PermissionDenied' ? `${usual} ${keyHint}` : usual;
}

function redirected(server: Server, { status, location }: ErrorResponse): CatalogError {
  const to = location !== undefined && URL.canParse(location) ? new URL(location).host : undefined;
  const where = to === undefined ? 'another address' : `"${to}"`;
  return new CatalogError(
    'InvalidInput',
    `${server.name} redirects to ${where} (status ${status}), and keys and headers are not sent there.`,
    'Connect to that address if you trust it.',
    { status },
  );
}

function hintOf(kind: CatalogErrorKind, answer: ErrorResponse): string {
  if (kind !== 'Throttling' && kind !== 'ServiceUnavailable') return hintForKind(kind);
  const wait = parseRetryAfter(answer.retryAfter, Date.now());
  return wait === undefined ? 'Try again later.' : `Try again in ${Math.ceil(wait / 1000)} s.`;
}

/** Some servers send the stack trace of their error, which has no next step for the user. */
const isStackTrace =
  /\([\w$]+\.(?:java|kt|scala):\d+\)|\(Native Method\)|\(Unknown Source\)|^(?:[a-z]\w*\.)+\w+(?:Exception|Error)\b/;

function parseTold(text: string): Told | undefined {
  const body = parseRecord(text);
  const code = body?.['code'];
  // A gateway's body may have a `code` too, but that code repeats the HTTP status.
  if (!body || !Object.values(catalogErrorCodes).some((known) => known === code)) return undefined;
  const { error, detail } = body;
  return {
    error: typeof error === 'string' ? error : '',
    kind: kindOfCode(code),
    ...(typeof detail === 'string' && !isStackTrace.test(detail)
      ? { detail, hasDetail: true }
      : { detail: '', hasDetail: false }),
  };
}

/** The message in a response body that is not of the contract, for instance a gateway's. */
function wordsOf(text: string): string {
  const { error, message, detail } = parseRecord(text) ?? {};
  const words = [error, message, detail].find((one) => typeof one === 'string' && one !== '');
  return typeof words === 'string' ? firstLine(words) : '';
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** Returns the error for a failed connection; `phase` tells whether the response had started. */
export function errorFromConnection(server: Server, error: unknown, phase: 'asking' | 'answering'): CatalogError {
  if (isCatalogError(error)) return error;
  const code = codeOf(error);
  const [what, hint] = explain(code, error, phase, server.isPlain ?? false);
  const failure = new CatalogError('ServiceUnavailable', `${server.name} ${what}.`, hint, { cause: error });
  return isBrokenConnection(code) ? markTransient(failure) : failure;
}

/** The code of a failed connection; the first one if several addresses of a host were tried. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return isRecord(error) && typeof error['code'] === 'string' ? error['code'] : '';
}

const untrusted: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
]);

function explain(
  code: string,
  error: unknown,
  phase: 'asking' | 'answering',
  isPlain: boolean,
): [what: string, hint: string] {
  if (untrusted.has(code)) {
    return [
      `has a certificate that this machine does not trust (${code})`,
      'Pass the certificate of its authority as ca, or add it to the trusted certificates of this machine.',
    ];
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return [
      `has a certificate that is not valid today (${code})`,
      'Tell the administrator of the server, and check the clock of this machine.',
    ];
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return ['has the certificate of another host', 'Check the address.'];
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return [`does not use TLS on this port (${code})`, 'Try the address with http://, or another port.'];
  }
  if (code === 'UND_ERR_HEADERS_TIMEOUT') {
    return ['took too long to respond', 'Try again, request less data, or raise timeouts.headers.'];
  }
  if (code === 'UND_ERR_BODY_TIMEOUT') {
    return ['stopped sending in the middle of its response', 'Try again, or raise timeouts.body.'];
  }
  if (code === 'UND_ERR_ABORTED' || code === 'UND_ERR_INVALID_ARG') {
    // The request was not cancelled. undici reports a refusal by the proxy as an abort, with the status in the message.
    return [`can't be reached (${messageOf(error)})`, 'Check the proxy, its user name and password, and the address.'];
  }
  if (phase === 'answering')
    return [`closed the connection in the middle of its response (${code || messageOf(error)})`, 'Try again.'];
  // An https:// server also closes the connection if the request was sent as http://.
  const isHungUp = (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') && isPlain;
  const hint = `Check the address${isHungUp ? ' (perhaps it is https://)' : ''} and that the server is running.`;
  return [`can't be reached (${code || messageOf(error)})`, hint];
}
