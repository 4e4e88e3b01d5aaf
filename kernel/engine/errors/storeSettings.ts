import { CatalogError } from '#shared/errors.ts';

// The engine does not check these settings of S3. If one is invalid, it panics when it sends the first request.

const settings = {
  endpoint: {
    options: ['aws_endpoint', 'aws_endpoint_url', 'endpoint', 'endpoint_url'],
    variables: ['AWS_ENDPOINT', 'AWS_ENDPOINT_URL'],
    isValid: (value: string) => /^https?:/i.test(value) && URL.canParse(value),
    wanted: 'an http:// or https:// URL',
    hint: 'Write for instance "https://s3.example.com" or "http://localhost:9000".',
  },
  region: {
    options: ['aws_region', 'region'],
    variables: ['AWS_REGION', 'AWS_DEFAULT_REGION'],
    isValid: (value: string) => /^[\w-]+$/.test(value),
    wanted: 'the name of a region',
    hint: 'Write for instance "eu-central-1".',
  },
} as const;

/**
 * Checks the endpoint and the region of an S3 root.
 * @throws CatalogError InvalidInput (13) naming the option or the variable
 */
export function checkStoreSettings(
  location: string,
  storageOptions: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): void {
  if (!/^s3(?:\+ddb)?:/i.test(location)) return;
  const given = Object.entries(storageOptions);
  for (const { options, variables, isValid, wanted, hint } of Object.values(settings)) {
    const set = given.filter(([name]) => (options as readonly string[]).includes(snakeCase(name).toLowerCase()));
    // An option replaces the variable.
    const used = set.length > 0 ? set : variables.map((name) => [name, environment[name]] as const);
    for (const [name, value] of used) {
      if (value === undefined || isValid(value)) continue;
      const place = set.length > 0 ? `"${name}" of the storage options` : `the variable ${name}`;
      // A URL can have a password.
      const shown = value.includes('@') ? 'another value' : JSON.stringify(value);
      throw new CatalogError('InvalidInput', `Expected ${wanted} for ${place}, got ${shown}.`, hint);
    }
  }
}

/** Converts `awsRegion` to `aws_region`, the only form that the engine accepts in the options of the manifest. */
export const snakeCase = (name: string): string =>
  name.includes('_') || name === name.toUpperCase() ? name : name.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
