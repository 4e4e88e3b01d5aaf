import { isSecretOption } from '#catalog/identity.ts';
import { headersOf } from '#catalog/rest/headers.ts';
import type { CatalogConfig, RestConfig } from '#shared/catalogConfig.ts';
import type { BackfillOptions, BackfillRequest, RayPlace } from '#shared/jobs/backfill.ts';

/** `isWhole`: nothing was left out, so the request is enough to resume the job. */
type OpenRequest = { readonly request: BackfillRequest; readonly isWhole: boolean };

/** Removes keys, tokens, headers, secret storage options and passwords in URLs. */
export function withoutSecrets(request: BackfillRequest): OpenRequest {
  const catalog = openCatalogConfig(request.table.catalog);
  const options = openOptions(request);
  const open = { ...request, ...options, table: { ...request.table, catalog } };
  return { request: open, isWhole: secretsOf(request).length === 0 };
}

export function openOptions(options: BackfillOptions): BackfillOptions {
  const { runner, where, concurrency, taskSize, checkpointSize, commitGranularity } = options;
  const { numFrags, readVersion, onError, key, ray, python } = options;
  return {
    runner,
    where,
    concurrency,
    taskSize,
    checkpointSize,
    commitGranularity,
    numFrags,
    readVersion,
    onError,
    key,
    ray: ray && openRay(ray),
    python,
  };
}

/** Lists the secrets of a request, for redaction. */
export function secretsOf({ table, ray }: BackfillRequest): string[] {
  const { catalog } = table;
  const ofRay = ray && 'address' in ray ? [ray.token ?? '', passwordOf(ray.address)] : [];
  const ofCatalog =
    catalog.implementation === 'dir'
      ? Object.entries(catalog.storageOptions ?? {}).flatMap(([name, value]) => (isSecretOption(name) ? [value] : []))
      : [...secretHeaders(catalog), passwordOf(catalog.proxy ?? '')];
  return [...ofCatalog, ...ofRay].filter((secret) => secret !== '');
}

/** Headers may hold anything, so all of them except the database header are secret. */
function secretHeaders(config: RestConfig): string[] {
  try {
    return headersOf(config, new URL(config.uri)).secrets;
  } catch {
    // An invalid configuration fails when it is used to connect. Until then its keys, tokens and headers count as
    // secret.
    const named = Object.entries(config).flatMap(([key, value]) =>
      key.startsWith('headers.') && typeof value === 'string' ? [value] : [],
    );
    return [config.apiKey ?? '', config.token ?? '', ...Object.values(config.headers ?? {}), ...named];
  }
}

function openCatalogConfig(config: CatalogConfig): CatalogConfig {
  if (config.implementation === 'dir') {
    const { implementation, root, storageOptions } = config;
    if (!storageOptions) return { implementation, root };
    const open = Object.entries(storageOptions).filter(([name]) => !isSecretOption(name));
    return { implementation, root, storageOptions: Object.fromEntries(open) };
  }
  const { implementation, uri, database, databasePrefix, headerNames } = config;
  const { endpoint, ca, proxy, delimiter, timeouts, retries } = config;
  return {
    implementation,
    uri,
    database,
    databasePrefix,
    headerNames,
    endpoint,
    ca,
    proxy: proxy === undefined ? undefined : withoutPassword(proxy),
    delimiter,
    timeouts,
    retries,
  };
}

function openRay(ray: RayPlace): RayPlace {
  if ('profile' in ray) return { profile: ray.profile, rayCluster: ray.rayCluster, folder: ray.folder };
  // These settings need no redaction, because settings that look like secrets are refused when they are read.
  if ('cluster' in ray) return { cluster: ray.cluster, rayCluster: ray.rayCluster };
  return { address: withoutPassword(ray.address) };
}

function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address.includes('@') ? '' : address;
  const url = new URL(address);
  if (url.username === '' && url.password === '') return address;
  url.username = '';
  url.password = '';
  return url.href;
}

function passwordOf(address: string): string {
  return URL.canParse(address) ? decodeURIComponent(new URL(address).password) : '';
}
