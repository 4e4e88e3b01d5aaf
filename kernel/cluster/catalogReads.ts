import type { Catalog } from '#catalog/catalog.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { openRest } from '#catalog/rest/restCatalog.ts';
import { isSecretOption } from '#catalog/identity.ts';
import { RequestCache } from './requestCache.ts';
import { ClusterError } from './errors.ts';
import type { SecretRedactor } from './secretTexts.ts';
import type { ClusterProfile } from './profile.ts';
import type { ResolveCatalog, ResolvedCatalog } from './resolvedCatalog.ts';

type CatalogReadsOptions = {
  /** Resolves the profile's catalog. Default: use the configuration in the profile. */
  readonly resolveCatalog?: ResolveCatalog | undefined;
};

type TablePlace = { readonly name: string; readonly location: string };

/** Milliseconds. If a catalog is slower, a backfill fails too. */
const patience = { connect: 5_000, headers: 10_000, body: 10_000 } as const;

/** Maximum number of namespaces to search for a table that reports its location. */
const mostLookedAt = 10;

/** Reads data from the catalog for the checks. Within one run, each result is requested only once (`RequestCache`). */
export class CatalogReads {
  readonly #once = new RequestCache();
  readonly #resolve: ResolveCatalog | undefined;
  /** The catalog that this object has opened itself; `close` closes it. */
  #own: Promise<Catalog> | undefined;
  readonly profile: ClusterProfile;
  readonly hidden: SecretRedactor;
  readonly signal: AbortSignal;

  constructor(
    profile: ClusterProfile,
    hidden: SecretRedactor,
    signal: AbortSignal,
    { resolveCatalog }: CatalogReadsOptions = {},
  ) {
    this.profile = profile;
    this.hidden = hidden;
    this.signal = signal;
    this.#resolve = resolveCatalog;
  }

  /** Returns the profile's catalog with its key. @throws ClusterError NotFound, ProfileInvalid */
  resolved(): Promise<ResolvedCatalog> {
    return this.#once.ask('resolve', async () => {
      const found = await this.#find();
      this.hidden.add(...secretsOf(found.config));
      return found;
    });
  }

  async #find(): Promise<ResolvedCatalog> {
    const { catalog } = this.profile;
    if (catalog === undefined) throw new ClusterError('ProfileInvalid', 'The profile has no catalog.', '');
    const found = await this.#resolve?.(catalog, this.signal);
    if (found) return found;
    if (typeof catalog !== 'string') return { config: catalog };
    throw new ClusterError(
      'NotFound',
      `There is no catalog connection "${catalog}" here.`,
      'Set catalog of the profile to an existing connection, or to the catalog itself.',
    );
  }

  /**
   * Tests whether the catalog answers: lists at most one table of the root namespace.
   * @throws CatalogError as the catalog reports it
   */
  answers(): Promise<void> {
    return this.#once.ask('answers', async () => {
      const catalog = await this.#open();
      await catalog.listTables([], { limit: 1, signal: this.signal });
    });
  }

  /** Searches the first namespaces for a table that reports its location. @throws CatalogError */
  tablePlace(): Promise<TablePlace | undefined> {
    return this.#once.ask('table place', async () => findPlace(await this.#open(), this.signal));
  }

  /**
   * Returns whether the catalog can be sent requests. A directory catalog can't if the resolver has no engine to open
   * it. Then the checks know only its address.
   */
  async canAsk(): Promise<boolean> {
    const { config, open } = await this.resolved();
    return config.implementation === 'rest' || open !== undefined;
  }

  async #open(): Promise<Catalog> {
    const { config, open } = await this.resolved();
    if (open) return this.#once.ask('open', () => open(this.signal));
    this.#own ??= openServer(config, this.signal);
    return this.#own;
  }

  /** Closes the catalog that this object has opened itself. A catalog from the resolver stays open. */
  async close(): Promise<void> {
    const own = await this.#own?.catch(() => undefined);
    await own?.close();
  }
}

function openServer(config: CatalogConfig, signal: AbortSignal): Promise<Catalog> {
  if (config.implementation === 'rest') {
    const { implementation: _, keyHint, ...rest } = config;
    // The client does not retry, because the run retries the whole check and reports the number of attempts.
    return openRest({ ...rest, retries: 0, timeouts: patience }, { signal, keyHint });
  }
  throw new ClusterError(
    'InvalidRequest',
    `This process can't open the directory ${config.root}: it has no engine.`,
    'Check a catalog on a server.',
  );
}

async function findPlace(catalog: Catalog, signal: AbortSignal): Promise<TablePlace | undefined> {
  const namespaces: (readonly string[])[] = [[]];
  for (let looked = 0; looked < mostLookedAt && namespaces.length > 0; looked++) {
    const path = [...(namespaces.shift() ?? [])];
    const { tables } = await catalog.listTables(path, { limit: mostLookedAt, includeDeclared: false, signal });
    const [name] = tables;
    if (name !== undefined) {
      const { location } = await catalog.describeTable(name, { namespacePath: path, signal });
      if (location !== undefined) return { name: [...path, name].join('/'), location };
    }
    const children = await catalog.listNamespaces(path, { limit: mostLookedAt, signal });
    for (const child of children.namespaces) namespaces.push([...path, child]);
  }
  return undefined;
}

/** Returns every value that may be a secret. This includes all headers, because only the user knows their meaning. */
function secretsOf(config: CatalogConfig): readonly string[] {
  const isSecret = ([key]: [string, unknown]): boolean =>
    config.implementation === 'dir'
      ? isSecretOption(key)
      : key === 'apiKey' || key === 'token' || key.startsWith('headers.');
  const entries = Object.entries(config.implementation === 'dir' ? (config.storageOptions ?? {}) : config);
  const headers = config.implementation === 'rest' ? Object.values(config.headers ?? {}) : [];
  return [...entries.filter(isSecret).map(([, value]) => value), ...headers].filter((one) => typeof one === 'string');
}
