import { withCellSignal } from '#processes/calls.ts';
import { untilAborted } from '#processes/wait.ts';
import { CatalogError, type CatalogErrorKind, isAbort, isCatalogError, messageOf } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { firstSentence, type ErrorRule, type Subject, subjectText, withoutQueryStart } from './engineText.ts';
import { columnNotFound, notSupported, queryRules } from './queryErrors.ts';
import { refRules } from './refErrors.ts';

// Responses of an object store contain addresses, request ids and sometimes the key. None of these may be in a message.
// So messages use only the sentences below, the name of the bucket, and reasons without addresses and keys.

const keyHint = 'Check the key and the secret in the storage options or in the environment.';

const storeRule = (
  pattern: RegExp,
  kind: CatalogErrorKind,
  what: string,
  hint: string,
  reason?: RegExp,
): ErrorRule => ({
  // The pattern matches only the form of a store's errors, because the name of a table or a filter may contain the same
  // words.
  pattern: new RegExp(
    String.raw`Generic \{ store: "(\w+)"[^]*(?:${pattern.source})|Generic (\w+) error: [^]*(?:${pattern.source})`,
  ),
  kind,
  say: (_, { input }) => {
    const why = reason?.exec(input)?.[0];
    return [why === undefined ? what : `${what.replace(/\.$/, '')}: ${why}.`, hint];
  },
});

/** Returns the debug output of nested errors without the escapes of inner strings. */
const unescaped = (text: string): string => text.replaceAll(/\\+"/g, '"');

/** Names in the debug output of errors that only wrap another error. */
const wrappers: ReadonlySet<string> = new Set(['Generic', 'Custom', 'Error', 'IO', 'Internal', 'InvalidInput']);

/**
 * Returns why the client of an object store can't be created: the innermost message, else the name of the innermost
 * error. A message about a key can repeat the key, so for such an error only the name is used.
 */
function innermostReason(text: string): string | undefined {
  const own = text.split(/,\s*location: Location \{/, 1)[0]!;
  const names = [...own.matchAll(/\b(?:source|kind): ([A-Z]\w+)/g)].map(([, name]) => name!);
  const name = names.findLast((each) => !wrappers.has(each));
  const isSecret = /Credential|Key|Token|Secret/.test(own) && !own.includes('OpenCredentials');
  const messages = [...own.matchAll(/\b(?:message|error|source): "([^"]*)"/g)].map(([, message]) => message!);
  const message = isSecret ? undefined : messages.findLast((each) => /\s/.test(each) && !each.includes('://'));
  if (message !== undefined) return message.replace(/^Unable to find object store prefix: /, '').replace(/[.\s]+$/, '');
  const words = isSecret ? names.find((each) => /Credentials|Key|Token|Secret/.test(each)) : name;
  return words?.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

const storeNames: Readonly<Record<string, string>> = { S3: 'S3', GCS: 'Google Cloud Storage', MicrosoftAzure: 'Azure' };

/** Says that a client of an object store can't be created. */
function storeNotOpened(text: string): [string, string] {
  const name = storeNames[/Generic \{ store: "(\w+)"/.exec(text)?.[1] ?? ''] ?? 'the object store';
  const bucket = /\bbucket: "([\w.-]+)"/.exec(text)?.[1];
  const reason = text.includes('DecodeCredentials') ? 'it is not a key in JSON' : innermostReason(text);
  const isAccount = /OpenCredentials|DecodeCredentials/.test(text);
  const why = isAccount ? `the service account can't be read (${reason})` : reason;
  return [
    `Can't reach ${bucket === undefined ? name : `the bucket "${bucket}" of ${name}`}${why === undefined ? '' : `: ${why}`}.`,
    storeHint,
  ];
}

const storeHint = 'Check the bucket, region, endpoint and storageOptions.';

/** The reason of the operating system for a failed connection. */
const connectionReason =
  /failed to lookup address information(?:: [\w ]+)?|[Cc]onnection (?:refused|reset|closed)(?: [\w ]+)?|timed out/;

/** What the engine writes before the reason that it can't create the client of an object store. */
const notCreated = 'Failed to create object store: ';

const objectStoreErrorRules: readonly ErrorRule[] = [
  {
    pattern: new RegExp(`${notCreated}(?=[^]*(?:dns error|tcp connect|timed out|Connect\\b))([^]*)`),
    kind: 'ServiceUnavailable',
    say: (_, found) => storeNotOpened(unescaped(found[1]!)),
  },
  {
    pattern: new RegExp(`${notCreated}([^]*)`),
    kind: 'InvalidInput',
    say: (_, found) => storeNotOpened(unescaped(found[1]!)),
  },
  storeRule(
    /<Code>(?:SignatureDoesNotMatch|InvalidAccessKeyId|InvalidToken|AuthenticationFailed)<|ExpiredToken|InvalidAuthenticationInfo/,
    'PermissionDenied',
    'The object store rejected the key: the key is unknown, or its secret is wrong.',
    keyHint,
  ),
  storeRule(
    /<Code>(?:AccessDenied|AuthorizationFailure|AuthorizationPermissionMismatch)<|status: 403|\b403 Forbidden/,
    'PermissionDenied',
    'The object store refused access with this key.',
    'Get the rights to list, read and write under this root.',
  ),
  storeRule(
    /<Code>(?:NoSuchBucket|ContainerNotFound)<|bucket does not exist/,
    'InvalidInput',
    'The object store has no bucket with that name.',
    'Correct the root, or create the bucket.',
  ),
  storeRule(
    /ResolveRegion/,
    'InvalidInput',
    "Can't find out the region of the bucket.",
    'Set aws_region in the storage options, and aws_endpoint for an S3-compatible store.',
  ),
  storeRule(
    /status: 401|\b401 Unauthorized|MissingCredentials|CredentialsNotLoaded|no providers in chain/,
    'Unauthenticated',
    'No key is set for the object store.',
    keyHint,
  ),
  storeRule(
    /SlowDown|status: 429|TooManyRequests/,
    'Throttling',
    'The object store limits the number of requests.',
    'Try again later.',
  ),
  storeRule(
    /Connect\b|[Cc]onnection (?:refused|reset|closed)|dns error|timed out|tcp connect|status: 50[0234]/,
    'ServiceUnavailable',
    "The object store can't be reached.",
    storeHint,
    connectionReason,
  ),
];

export type { Subject } from './engineText.ts';

export const tableSubject = (name: string, path: NamespacePath, version?: number): Subject => ({
  kind: 'table',
  name: displayPath(path, name),
  namespace: displayPath(path),
  version,
});

export const namespaceSubject = (path: NamespacePath): Subject => ({ kind: 'namespace', name: displayPath(path) });

const brokenTable = (subject: Subject): [string, string] => [
  `${subjectText(subject)} can't be read: its files are broken or incomplete.`,
  'Restore its folder from a backup, or drop the table.',
];

/**
 * The words the engine puts before its own sentence. The pattern does not match most text of users, because such text
 * contains other characters.
 */
const lead = String.raw`^(?:[\w ()]+: )*`;

/** The error if the catalog lists a table, but the directory of the table contains no dataset. */
const unwritten = /Dataset at path .* was not found|not found in dataset path/i;

/** Whether an engine error means that nothing is written at a table's location; a broken table does not count. */
export const isTableWithoutData = ({ cause }: Error): boolean => unwritten.test(messageOf(cause));

/**
 * The rules depend on the engine's wording, because the engine's errors have only text and no code. Besides
 * queryErrors.ts and refErrors.ts, no other code depends on the wording. The first rule that matches wins. So precise
 * rules come first, and the rules for queries come before all others.
 */
const rules: readonly ErrorRule[] = [
  {
    // The engine prints the reason to the standard error stream only.
    pattern: /^Panic in async function$/,
    kind: 'Internal',
    say: (subject) => [
      `${subjectText(subject)}: the engine failed without giving a reason.`,
      'The log of this process has its message. It fails for timestamps whose time zone is an offset such as "+05:30", and for wrong storage options.',
    ],
  },
  ...queryRules,
  ...refRules,
  ...objectStoreErrorRules,
  {
    // The error that an open handle gets when the table was dropped.
    pattern: /^(?:[\w ()]+[:,] )*Not found: \S.*\/_versions(?:,|\s|$)/,
    kind: 'TableNotFound',
    say: (subject) => [`${subjectText(subject)} no longer exists.`, nextSteps.listTables],
  },
  {
    pattern: /_versions\/(\d+)\.manifest was not found|version (?:main:)?(\d+) (?:not found|does not exist)/i,
    kind: 'VersionNotFound',
    say: (subject, found) => [
      `${subjectText(subject)} has no version ${subject.version ?? found[1] ?? found[2]}.`,
      nextSteps.listVersions,
    ],
  },
  {
    pattern:
      /__manifest\/(?:data|_versions)|Failed to connect to namespace: IO .*(?:size is too small|sufficient data|Invalid range)/,
    kind: 'InvalidTableState',
    say: () => [
      `Can't read the list of namespaces and tables: the folder "__manifest" of the catalog is broken.`,
      'Restore that folder from a backup.',
    ],
  },
  {
    pattern: unwritten,
    kind: 'InvalidTableState',
    say: (subject) => [
      `${subjectText(subject)} can't be read: its name is reserved, but it has no data, or its files are missing.`,
      'Write it with createTable, or drop it.',
    ],
  },
  {
    pattern: /Namespace not found: parent namespace '([^']*)'/,
    kind: 'NamespaceNotFound',
    say: (_, found) => [
      `The parent namespace "${found[1]!.replaceAll('$', '/')}" does not exist.`,
      nextSteps.createNamespace,
    ],
  },
  {
    pattern: /Namespace not found/,
    kind: 'NamespaceNotFound',
    say: (subject) => [`Namespace "${subject.namespace ?? subject.name}" does not exist.`, nextSteps.listNamespaces],
  },
  {
    pattern: /Namespace already exists|already exists: root namespace/,
    kind: 'NamespaceAlreadyExists',
    say: (subject) => [`${subjectText(subject)} exists already.`, nextSteps.namespaceTaken],
  },
  {
    pattern: /Namespace not empty/,
    kind: 'NamespaceNotEmpty',
    say: (subject) => [`${subjectText(subject)} is not empty.`, nextSteps.cascade],
  },
  {
    pattern: /Table '.*' already exists|Table already exists/,
    kind: 'TableAlreadyExists',
    say: (subject) => [`${subjectText(subject)} exists already.`, nextSteps.tableTaken],
  },
  {
    pattern: /Table '.*' was not found|Table not found/,
    kind: 'TableNotFound',
    say: (subject) => [`${subjectText(subject)} does not exist.`, nextSteps.listTables],
  },
  {
    pattern:
      /No field named ([^\s.]+)\.(?: Valid fields are ([^\n]*?)\.?(?:\n|$))?|column '?([^\s]+?)'? does not exist/i,
    kind: 'ColumnNotFound',
    say: (subject, found) => columnNotFound(subject, found[1] ?? found[3] ?? '', found[2]),
  },
  {
    pattern: /cannot be modified when a specific version is checked out/,
    kind: 'InvalidInput',
    say: (subject) => [
      `${subjectText(subject)} can't be changed: it is at a version.`,
      'Call checkoutLatest(), or open it without a version or tag.',
    ],
  },
  {
    pattern: new RegExp(`${lead}(?:Invalid input, )*(?:Not supported|not (?:yet )?implemented|Unsupported)`, 'i'),
    kind: 'Unsupported',
    say: (subject, found) => notSupported(subject, found.input),
  },
  {
    pattern: new RegExp(
      `${lead}(?:Failed to execute merge insert: GenericFailure, )?(?:[^\\n]*does not have a transaction file|Commit conflict|Retryable commit|[^\\n]*Incompatible transaction: This \\w+ transaction is incompatible |Too many concurrent writ|Too much .*contention|Object '.*' was concurrently|[^\\n]*tagged version\\(s\\) have been marked for cleanup)`,
    ),
    kind: 'ConcurrentModification',
    say: (subject) => [`${subjectText(subject)} was changed by another client at the same time.`, 'Try again.'],
  },
  {
    // Error 36 on Linux, 63 on macOS. The engine writes it in the middle of various sentences.
    pattern: /File name too long|\(os error (?:36|63)\)/,
    kind: 'InvalidInput',
    say: (subject) => [`${subjectText(subject)} has a name that is too long for a file name.`, 'Use a shorter one.'],
  },
  {
    // Errors 28 and 122 are ENOSPC and EDQUOT on Linux.
    pattern: /^(?:ENOSPC|EDQUOT): |\(os error (?:28|122)\)/,
    kind: 'Internal',
    say: (subject) => [
      `${subjectText(subject)} can't be written: no space is left on the disk.`,
      'Free up disk space, then try again.',
    ],
  },
  {
    pattern:
      /^(?:EACCES|EPERM|EROFS): |\(os error (?:1|13|30)\)|kind: (?:PermissionDenied|ReadOnlyFilesystem)|lacked the necessary privileges/,
    kind: 'PermissionDenied',
    say: (subject, found) => [
      `${subjectText(subject)} can't be accessed: ${firstSentence(found.input)}.`,
      'Check the rights on its folder.',
    ],
  },
  {
    pattern:
      /file size is too small|does not have sufficient data, len|Invalid range \d+\.\.\d+ for object|\(invalid magic: |[Cc]orrupt file|LanceError\(CorruptFile|failed to decode Protobuf message|Wrapped error: Not found: /,
    kind: 'InvalidTableState',
    say: brokenTable,
  },
  {
    pattern:
      /not in schema|Schema mismatch|schema.*(?:different|does not match)|Append with different schema|missing fields|contained null values|non-nullable/i,
    kind: 'SchemaValidation',
    say: (subject, found) => [
      `${subjectText(subject)}: the rows do not fit its columns (${firstSentence(found.input)}).`,
      'See schema() for the columns.',
    ],
  },
  {
    pattern:
      /Invalid input|Invalid user input|parser error|Schema error|Error during planning|type_coercion|Cannot cast/i,
    kind: 'InvalidInput',
    say: (subject, found) => [`${subjectText(subject)}: ${firstSentence(found.input)}.`, ''],
  },
];

/** Converts an engine error to a CatalogError; cancellations and CatalogErrors are returned unchanged. */
export function engineError(error: unknown, subject: Subject): Error {
  if (isCatalogError(error)) return error;
  if (isAbort(error)) return error;
  const text = withoutQueryStart(messageOf(error));
  for (const rule of rules) {
    const found = rule.pattern.exec(text);
    if (found) return new CatalogError(rule.kind, ...rule.say(subject, found), { cause: error });
  }
  return new CatalogError('Internal', `${subjectText(subject)}: ${firstSentence(text)}.`, '', { cause: error });
}

/**
 * Runs an engine call. An abort rejects at once, though the engine itself can't be stopped.
 * @throws CatalogError about `subject`, or the reason of the signal if it is aborted
 */
export function callEngine<T>(subject: Subject, own: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  return withCellSignal(own, async (signal) => {
    signal?.throwIfAborted();
    try {
      return await (signal ? untilAborted(call(), signal) : call());
    } catch (error) {
      // The reason of the abort is thrown unchanged, because it belongs to the caller and is not an engine failure.
      if (signal?.aborted) throw signal.reason;
      throw engineError(error, subject);
    }
  });
}
