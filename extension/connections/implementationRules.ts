import { isSecretOption } from '#catalog/identity.ts';
import { mistypedProperty, type DirConfig, type RestConfig } from '#shared/catalogConfig.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';

// Reads connections that the setting defines by an implementation and its properties for `connectNamespace`.

/** Properties for `connectNamespace("dir", …)` apart from the root. */
export type DirProperties = Omit<DirConfig, 'root'>;

/** Properties for `connectNamespace("rest", …)` apart from the address and the database. */
export type RestProperties = Omit<RestConfig, 'uri' | 'database'>;

/** The properties of a connection, or why they can't be used. */
type ReadProperties<C> = { properties: Partial<C>; problem?: CatalogError };

/**
 * Reads the properties of a connection. Checks that each known property has the right type and that none is a secret.
 * Keeps unknown properties, because `connectNamespace` reports them by name.
 */
export function readProperties<N extends 'dir' | 'rest'>(
  name: string,
  implementation: N,
  value: unknown,
): ReadProperties<N extends 'dir' ? DirConfig : RestConfig> {
  if (!isRecord(value)) {
    const what = `Can't use the connection "${name}": it has no properties.`;
    const example = implementation === 'dir' ? '{ "root": "/path/to/tables" }' : '{ "uri": "https://…" }';
    return { properties: {}, problem: new CatalogError('InvalidInput', what, `Set "properties" to ${example}.`) };
  }
  const secret = secretIn(value);
  if (secret !== undefined) return { properties: {}, problem: secretProblem(name, implementation, secret) };
  const mistyped = mistypedProperty(implementation, value);
  if (mistyped !== undefined) {
    const what = `Can't use the connection "${name}": the property "${mistyped}" has the wrong type.`;
    const hint = `Use the type that connectNamespace("${implementation}", …) expects.`;
    return { properties: {}, problem: new CatalogError('InvalidInput', what, hint) };
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types of its known parts were just checked
  return { properties: value as Partial<N extends 'dir' ? DirConfig : RestConfig> };
}

const secretHeaders: readonly string[] = ['x-api-key', 'authorization', 'cookie'];
const isSecretHeader = (name: string): boolean => secretHeaders.includes(name.toLowerCase());

/**
 * Returns the name of the first property or nested property that holds a secret. Settings must not hold secrets,
 * because other users can read settings files.
 */
function secretIn(properties: Readonly<Record<string, unknown>>): string | undefined {
  for (const [key, value] of Object.entries(properties)) {
    if (key === 'apiKey' || key === 'token') return key;
    if (key.startsWith('headers.') && isSecretHeader(key.slice('headers.'.length))) return key;
    if (key === 'proxy' && typeof value === 'string' && URL.canParse(value) && new URL(value).password !== '')
      return key;
    if (!isRecord(value)) continue;
    const isSecret = key === 'headers' ? isSecretHeader : key === 'storageOptions' ? isSecretOption : undefined;
    const part = isSecret && Object.keys(value).find(isSecret);
    if (part !== undefined) return `${key}.${part}`;
  }
  return undefined;
}

function secretProblem(name: string, implementation: 'dir' | 'rest', property: string): CatalogError {
  const hint =
    implementation === 'dir' || property === 'proxy'
      ? 'Remove it, and set the credentials in the environment.'
      : 'Remove it, and set the key with "Update API Key…" on the connection.';
  return new CatalogError(
    'InvalidInput',
    `Can't use the connection "${name}": the property "${property}" is a secret, and settings are not kept secret.`,
    hint,
  );
}
