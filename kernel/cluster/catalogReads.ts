import type { Catalog } from '#catalog/catalog.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { openRest } from '#catalog/rest/restCatalog.ts';
import { isSecretOption } from '#catalog/identity.ts';
import { Once } from './memo.ts';
import { ClusterError } from './errors.ts';
import type { HiddenTexts } from './secretTexts.ts';
import type { ClusterProfile } from './profile.ts';
import type { ResolveCatalog, ResolvedCatalog } from './resolvedCatalog.ts';

type CatalogReadsOptions = {
  /** Finds the catalog by what the profile says; without it a configuration is taken as it is. */
  readonly resolveCatalog?: ResolveCatalog | undefined;
};

/** The first of its tables, and where its files are. */
type TablePlace = { readonly name: string; readonly location: string };

/** Milliseconds: a catalog that takes longer to say what it has is no help to a backfill either. */
const patience = { connect: 5_000, headers: 10_000, body: 10_000 } as const;

/** How many namespaces and tables are looked at to find one that says where it is. */
const mostLookedAt = 10;

/** What checks ask of the catalog, each question once a run. */
export class CatalogReads {
  readonly #once = new Once();
  readonly #resolve: ResolveCatalog | undefined;
  /** The connection that was made here, and that is closed here. */
  #own: Promise<Catalog> | undefined;
  readonly profile: ClusterProfile;
  readonly hidden: HiddenTexts;
  readonly signal: AbortSignal;

  constructor(
    profile: ClusterProfile,
    hidden: HiddenTexts,
    signal: AbortSignal,
    { resolveCatalog }: CatalogReadsOptions = {},
  ) {
    this.profile = profile;
    this.hidden = hidden;
    this.signal = signal;
    this.#resolve = resolveCatalog;
  }

  /** The profile's catalog with its key. @throws ClusterError NotFound, ProfileInvalid */
  resolved(): Promise<ResolvedCatalog> {
    return this.#once.ask('resolve', async () => {
      const found = await this.#find();
      this.hidden.add(...secretsOf(found.config));
      return found;
    });
  }

  async #find(): Promise<ResolvedCatalog> {
    const { catalog } = this.profile;
    if (catalog === undefined) throw new ClusterError('ProfileInvalid', 'The profile names no catalog.', '');
    const found = await this.#resolve?.(catalog, this.signal);
    if (found) return found;
    if (typeof catalog !== 'string') return { config: catalog };
    throw new ClusterError(
      'NotFound',
      `There is no catalog connection "${catalog}" here.`,
      'Name one that is there in catalog of the profile, or write the catalog itself there.',
    );
  }

  /**
   * Connects, and lists one table of the root.
   * @throws CatalogError as the catalog says it
   */
  answers(): Promise<void> {
    return this.#once.ask('answers', async () => {
      const catalog = await this.#open();
      await catalog.listTables([], { limit: 1, signal: this.signal });
    });
  }

  /** A table that says where its files are; `undefined` where none of the first does. @throws CatalogError */
  tablePlace(): Promise<TablePlace | undefined> {
    return this.#once.ask('table place', async () => findPlace(await this.#open(), this.signal));
  }

  /** Whether there is anything to ask: a directory without an engine is only looked at by its address. */
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

  /** Closes the connection that was made here; one that was given stays open. */
  async close(): Promise<void> {
    const own = await this.#own?.catch(() => undefined);
    await own?.close();
  }
}

function openServer(config: CatalogConfig, signal: AbortSignal): Promise<Catalog> {
  if (config.implementation === 'rest') {
    const { implementation: _, keyHint, ...rest } = config;
    // The run tries again by itself, and says so.
    return openRest({ ...rest, retries: 0, timeouts: patience }, { signal, keyHint });
  }
  throw new ClusterError('InvalidRequest', `There is no engine here for the directory ${config.root}.`, '');
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

/** All that may be one: what a header means, only whoever writes it knows. */
function secretsOf(config: CatalogConfig): readonly string[] {
  const isSecret = ([key]: [string, unknown]): boolean =>
    config.implementation === 'dir'
      ? isSecretOption(key)
      : key === 'apiKey' || key === 'token' || key.startsWith('headers.');
  const entries = Object.entries(config.implementation === 'dir' ? (config.storageOptions ?? {}) : config);
  const headers = config.implementation === 'rest' ? Object.values(config.headers ?? {}) : [];
  return [...entries.filter(isSecret).map(([, value]) => value), ...headers].filter((one) => typeof one === 'string');
}
