import { CatalogError } from '#shared/errors.ts';

declare const reason: unique symbol;

/**
 * The type of a call that this client does not have. `Text` appears in the type error of the compiler, so that users of
 * LanceDB's package learn what to call instead. It is an interface and not an alias, because type errors then show the
 * text even if another alias names the type.
 */
export interface NotSupported<Text extends string> {
  readonly [reason]: Text;
}

/** Calls of LanceDB's package that this client does not have, by their names. */
export type UnsupportedCalls<Texts extends Readonly<Record<string, string>>> = {
  /** @deprecated Not supported by this client. The type error names what to use instead. */
  readonly [Name in keyof Texts]: (this: NotSupported<Texts[Name]>, ...args: unknown[]) => Promise<never>;
};

export const noLsm = 'This client has no LSM writes: add() commits the rows at once.';
export const noBlobs = 'This client has no blob columns: select the binary column in a query.';
export const noViews =
  'This client has no materialized views: write the rows of a query to a table with createTable().';

/** What users of LanceDB's `Table` call instead of calls that this client does not have. */
export const unsupportedTableCalls = {
  blobColumns: noBlobs,
  checkpointLsm: noLsm,
  closeLsmWriters: noLsm,
  compactLsm: noLsm,
  createIndexAsync: 'Call createIndex(), and await it where the index is needed.',
  fetchBlobFiles: noBlobs,
  fetchBlobs: noBlobs,
  flushLsm: noLsm,
  getLsmStats: noLsm,
  getLsmWriteSpec: noLsm,
  initialStorageOptions:
    'Storage options are those that connect() was given. They are not shown, because they hold keys.',
  latestStorageOptions:
    'Storage options are those that connect() was given. They are not shown, because they hold keys.',
  migrateManifestPathsV2: 'New tables have these paths. To convert an older table, copy it with db.copy().',
  prewarmData: 'Run a query: the rows that it reads stay in the cache of the operating system.',
  refreshColumnAsync: 'Call refreshColumn(), or backfill() for a job that outlives the notebook.',
  refreshMaterializedView: noViews,
  setLsmWriteSpec: noLsm,
  unsetLsmWriteSpec: noLsm,
  usesV2ManifestPaths: 'New tables have these paths. listVersions() shows the path of each manifest.',
} as const;

/** What users of LanceDB's `Connection` call instead of calls that this client does not have. */
export const unsupportedCatalogCalls = {
  cancelJob: 'Call db.jobs.cancel(id).',
  cloneTable: 'Copy the table with db.copy([name], { path: [newName] }).',
  createMaterializedView: noViews,
  dropTableAsync: 'Call dropTable(), and await it where the name must be free.',
  listJobs: 'Call db.jobs.list().',
  listMaterializedViews: noViews,
  openJob: 'Call db.jobs.describe(id).',
  openMaterializedView: noViews,
} as const;

/** What users of LanceDB's `Branches` call instead of calls that this client does not have. */
export const unsupportedBranchCalls = {
  cherryPick: 'Read the rows of the branch with branches().checkout(name), and add or merge them.',
  diff: 'Compare branches().checkout(name) with the table: schema(), countRows() and queries.',
} as const;

/** What users of LanceDB's `connect` write instead of options that this client does not have. */
export const unsupportedConnectOptions = {
  apiKey: 'For a server, call connectNamespace("rest", { uri, apiKey, database }).',
  clientConfig: 'For a server, call connectNamespace("rest", { uri, headers, retries, timeouts, ca }).',
  hostOverride: 'For a server, call connectNamespace("rest", { uri, apiKey, database }).',
  manifestEnabled: 'Leave it out: a directory always has a list of its namespaces.',
  namespaceClientProperties: 'Write the properties in the configuration of connectNamespace().',
  oauthConfig: 'For a server, call connectNamespace("rest", { uri, token }).',
  region: 'For a server, call connectNamespace("rest", { uri, apiKey, database }).',
  session: 'Leave it out: the engine chooses the sizes of its caches.',
} as const;

/** Options of LanceDB's package that this client does not have, by their names. */
export type UnsupportedOptions<Texts extends Readonly<Record<string, string>>> = {
  /** @deprecated Not supported by this client. The type error names what to use instead. */
  readonly [Name in keyof Texts]?: NotSupported<Texts[Name]> | undefined;
};

/** Returns the error of a call that this client does not have. */
export const notSupported = (call: string, text: string): CatalogError =>
  new CatalogError('Unsupported', `This client has no ${call}().`, text);

/**
 * Returns a value for an export that this client does not have. Calls, `new`, `extends` and properties of the value
 * throw the error with the hint.
 */
export function unsupportedValue<Hint extends string>(name: string, hint: Hint): NotSupported<Hint> {
  const isFunction = /^[a-z]/.test(name);
  // An arrow function can't be called with `new`.
  function refuse(): never {
    if (isFunction) throw notSupported(name, hint);
    throw new CatalogError('Unsupported', `This client has no class "${name}".`, hint);
  }
  const proxy: unknown = new Proxy(refuse, {
    // Symbols and `then` are read by outputs and by `await`, not by the user's code.
    get: (_, key) => (typeof key === 'symbol' || key === 'then' ? undefined : refuse()),
    construct: refuse,
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type only carries the hint
  return proxy as NotSupported<Hint>;
}

/** Returns calls that reject with the text of what to use instead. */
export function unsupportedCalls<Texts extends Readonly<Record<string, string>>>(
  texts: Texts,
): UnsupportedCalls<Texts> {
  const calls = Object.entries(texts).map(([name, text]) => [name, () => Promise.reject(notSupported(name, text))]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its names are those of the hints
  return Object.fromEntries(calls) as UnsupportedCalls<Texts>;
}

/** Returns a base class whose objects have the calls of `unsupportedCalls`. */
export function unsupportedBase<Texts extends Readonly<Record<string, string>>>(
  texts: Texts,
): new () => UnsupportedCalls<Texts> {
  // oxlint-disable-next-line typescript/no-extraneous-class -- its calls are defined below
  class Base {}
  for (const [name, value] of Object.entries(unsupportedCalls(texts))) {
    Object.defineProperty(Base.prototype, name, { value, configurable: true, writable: true });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the calls are on its prototype
  return Base as new () => UnsupportedCalls<Texts>;
}
