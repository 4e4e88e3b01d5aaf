import { settingName } from '#catalog/identity.ts';
import type { VendingRequest } from '#engine/server/routeTypes.ts';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { setNewest } from '#shared/setNewest.ts';
import { untilAborted } from '#processes/wait.ts';
import type { Caller } from './authorizer.ts';
import type { Database } from './databases.ts';
import type { KeySource } from './keyStore.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { folderOfTable, isInS3, sessionNameOf, tablePolicy } from './tablePolicy.ts';

/** The keys of a role session. */
export type SessionKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiresAt: Date;
};

/** How a server gets credentials for the files of single tables. */
export type Vending = {
  /** The partition of ARNs in policies: `aws`, `aws-cn`, … */
  readonly partition: string;
  /** The region of the buckets. */
  readonly region: string;
  /** Starts a session of the role with this session policy. @throws Error without any part of a key */
  startSession(session: { name: string; policy: string }, signal: AbortSignal): Promise<SessionKeys>;
  close(): void;
};

/**
 * Settings of the store that an engine needs too. Others are not sent: they may be secrets, or only fit this machine.
 */
const sentSettings: ReadonlySet<string> = new Set([
  'endpoint',
  'endpoint_url',
  'aws_endpoint',
  'aws_endpoint_url',
  'allow_http',
  'aws_allow_http',
  'virtual_hosted_style_request',
  'aws_virtual_hosted_style_request',
]);

/** Milliseconds that a call of STS may take. */
const callTime = 10_000;

/**
 * Milliseconds after a failed call in which requests that do not require credentials make no further call for the same
 * API key. Otherwise each description of a table would wait for a service that does not answer.
 */
const pauseTime = 10_000;

/** Milliseconds before the end in which keys are not handed out again. Clients renew keys one minute before their end. */
const shortestLife = 120_000;

/** The number of sessions that are kept for reuse. */
const maxSessions = 1000;

/** The API key, database and table that credentials are for, in log lines. */
type Subject = { readonly key: string; readonly database: string; readonly table: string };

type Session = { readonly keys: SessionKeys; readonly startedAt: number };

type VendingDeps = {
  readonly vending: Vending;
  /** Settings of the object store that contains the roots. May hold secrets. */
  readonly storageOptions: Readonly<Record<string, string>> | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
};

/**
 * Vends storage options with temporary keys that open the files of one table. Keys are reused for requests with the
 * same API key, and requests at the same time share one call of STS.
 */
export class TableCredentials {
  readonly #deps: VendingDeps;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #sessions = new Map<string, Session>();
  readonly #starting = new Map<string, Promise<SessionKeys>>();
  /** The end of the pause after a failed call, by the name of the API key. */
  readonly #pauses = new Map<string, number>();
  readonly #closing = new AbortController();

  constructor(deps: VendingDeps) {
    this.#deps = deps;
    const known = Object.entries(deps.storageOptions ?? {}).map(([name, value]) => [settingName(name), value] as const);
    this.#settings = Object.fromEntries(known.filter(([name]) => sentSettings.has(name)));
  }

  /**
   * Returns storage options for Lance, or `undefined` if the database is not in S3, or if the credentials are not
   * required and can't be obtained.
   * @throws CatalogError if required: ServiceUnavailable (17) if STS fails, InvalidInput (13) if no policy can name the
   * files of the table
   */
  async vend(
    { key, database }: Caller,
    { id, location, isRequired }: VendingRequest,
    signal: AbortSignal,
  ): Promise<Record<string, string> | undefined> {
    if (!isInS3(database.root)) return undefined;
    const table = displayPath(id);
    const about = { key: key.name, database: database.name, table };
    let keys: SessionKeys;
    try {
      const folder = folderOfTable(database.root, location, table);
      const policy = tablePolicy(folder, key.access, this.#deps.vending.partition, table);
      const found = this.#keysOf({ name: sessionNameOf(key.name, id, location), policy }, about, isRequired);
      if (found === undefined) return undefined;
      keys = await untilAborted(found, signal);
    } catch (error) {
      signal.throwIfAborted();
      // Other errors are in the log already, once for all requests that waited for the same call.
      const isTable = isCatalogError(error);
      if (isTable) this.#noteFailure('warn', about, error.message);
      if (!isRequired) return undefined;
      if (isTable) throw error;
      const what = `Can't vend credentials for table "${table}": the server could not get them from AWS.`;
      const hint =
        'Try again in a minute. If it fails again, tell the administrator of the server, whose log says why.';
      throw new CatalogError('ServiceUnavailable', what, hint, { cause: error });
    }
    return {
      ...this.#settings,
      aws_region: this.#deps.vending.region,
      aws_access_key_id: keys.accessKeyId,
      aws_secret_access_key: keys.secretAccessKey,
      aws_session_token: keys.sessionToken,
      expires_at_millis: String(keys.expiresAt.getTime()),
    };
  }

  /** Cancels running calls. */
  close(): void {
    this.#closing.abort();
    this.#deps.vending.close();
  }

  /** Returns the keys of a known, starting or new session; `undefined` during a pause, unless they are required. */
  #keysOf(
    session: { name: string; policy: string },
    about: Subject,
    isRequired: boolean,
  ): Promise<SessionKeys> | undefined {
    // The name has a digest of the key's name and of the location, and the policy has the access of the key.
    const id = `${session.name} ${session.policy}`;
    const known = this.#sessions.get(id);
    if (known && isReusable(known)) {
      this.#deps.metrics.countCredentials('reused');
      return Promise.resolve(known.keys);
    }
    const starting = this.#starting.get(id);
    if (starting) return starting;
    if (!isRequired && performance.now() < (this.#pauses.get(about.key) ?? 0)) return undefined;
    const started = this.#start(session, id, about).finally(() => this.#starting.delete(id));
    // All clients that wait may have left before the call fails.
    started.catch(() => undefined);
    this.#starting.set(id, started);
    return started;
  }

  async #start(session: { name: string; policy: string }, id: string, about: Subject): Promise<SessionKeys> {
    const { vending, metrics, log } = this.#deps;
    const startedAt = Date.now();
    try {
      const limit = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(callTime)]);
      const keys = await untilAborted(vending.startSession(session, limit), limit);
      setNewest(this.#sessions, id, { keys, startedAt }, maxSessions);
      this.#pauses.delete(about.key);
      metrics.countCredentials('new');
      log('info', 'credentials_vended', { ...about, session: session.name, expires: keys.expiresAt.toISOString() });
      return keys;
    } catch (error) {
      this.#pauses.set(about.key, performance.now() + pauseTime);
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      const problem = isLate ? `AWS STS did not reply within ${callTime / 1000} seconds.` : messageOf(error);
      this.#noteFailure('error', about, problem);
      throw error;
    }
  }

  #noteFailure(level: 'warn' | 'error', about: Subject, problem: string): void {
    this.#deps.metrics.countCredentials('failed');
    this.#deps.log(level, 'credentials_failed', { ...about, problem });
  }
}

/** Keys are reused for the first half of their life, so that a client seldom gets keys that it must renew soon. */
function isReusable({ keys, startedAt }: Session): boolean {
  const end = keys.expiresAt.getTime();
  const left = end - Date.now();
  return left > shortestLife && left > (end - startedAt) / 2;
}

/**
 * Refuses vending that would have no effect, or would hand keys to clients without an API key.
 * @throws CatalogError InvalidInput (13)
 */
export function checkVending({ keys, databases }: { keys: KeySource; databases: readonly Database[] }): void {
  if (keys.kind === 'none') {
    throw new CatalogError(
      'InvalidInput',
      'A server that vends credentials needs keys, because any program of this machine could request credentials.',
      'Pass --keys FILE or --api-key-env NAME instead of --no-auth.',
    );
  }
  if (databases.some(({ root }) => isInS3(root))) return;
  throw new CatalogError(
    'InvalidInput',
    "Can't vend credentials: no database is in S3.",
    'Leave out --vend-credentials, or serve a root that starts with s3://.',
  );
}
