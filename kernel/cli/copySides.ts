import { readFileSync } from 'node:fs';
import { connectNamespace, type RestConfig } from '#client/connect.ts';
import type { Catalog } from '#client/catalog.ts';
import { isObjectStore, localRoot, makeRoot } from '#client/root.ts';
import { messageOf } from '#shared/errors.ts';
import { UsageError } from './command.ts';
import { fromEnvironment, storageOptions } from './storageOptions.ts';

/** Which of the two catalogs of a copy an option is about; the first part of its name. */
export type Side = 'from' | 'to';

const text = { type: 'string' } as const;
const texts = { type: 'string', multiple: true } as const;

/** The options of both sides. */
export const sideArguments = {
  from: text,
  'from-key-env': text,
  'from-token-env': text,
  'from-database': text,
  'from-database-prefix': text,
  'from-ca': text,
  'from-storage-option': texts,
  'from-storage-option-env': texts,
  to: text,
  'to-key-env': text,
  'to-token-env': text,
  'to-database': text,
  'to-database-prefix': text,
  'to-ca': text,
  'to-storage-option': texts,
  'to-storage-option-env': texts,
} as const;

export type SideValues = {
  [K in keyof typeof sideArguments]?: ((typeof sideArguments)[K] extends typeof texts ? string[] : string) | undefined;
};

export const sidesHelp = `Each catalog; the same with --to-… for the other one
  --from DIR|s3://…|https://…       a directory, an address of an object store, or the address of a server
  --from-key-env NAME               the API key of a server, in an environment variable, or
  --from-token-env NAME             a bearer token, in an environment variable
  --from-database NAME              which database of a server
  --from-database-prefix TEXT
  --from-ca FILE                    certificates of the authority that signed the server's, PEM
  --from-storage-option NAME=VALUE          a setting of the object store, for instance aws_region=eu-west-1
  --from-storage-option-env NAME=VARIABLE   the same with the value of an environment variable, for secrets;
                                            the store's own variables (AWS_ACCESS_KEY_ID, …) are read anyway`;

/** Opens the catalog of one side; a target's folder is made when it is missing. @throws UsageError */
export async function openSide(side: Side, values: SideValues, signal: AbortSignal): Promise<Catalog> {
  const named = values[side];
  if (!named) throw new UsageError(`"copy" needs --${side} CATALOG.`);
  const storage = storageOptions(
    {
      'storage-option': values[`${side}-storage-option`],
      'storage-option-env': values[`${side}-storage-option-env`],
    },
    side,
  );
  const rest = restOptions(side, values);
  if (/^https?:\/\//i.test(named)) {
    if (storage) throw new UsageError(`--${side}-storage-option is for object stores, and ${named} is a server.`);
    return connectNamespace('rest', { uri: named, ...rest }, { signal, log });
  }
  const [option] = Object.keys(rest);
  if (option !== undefined)
    throw new UsageError(`--${side} ${named} is no server, so it takes no key and no database.`);
  const isLocal = !isObjectStore(named);
  const root = isLocal ? localRoot(named) : named;
  if (side === 'to' && isLocal) await makeRoot(root);
  return connectNamespace('dir', { root, ...(storage && { storageOptions: storage }) }, { signal, log });
}

const log = (line: string): void => void process.stderr.write(`${line}\n`);

function restOptions(side: Side, values: SideValues): Omit<RestConfig, 'uri'> {
  const [key, token] = [values[`${side}-key-env`], values[`${side}-token-env`]];
  const [database, databasePrefix] = [values[`${side}-database`], values[`${side}-database-prefix`]];
  const ca = values[`${side}-ca`];
  return {
    ...(key !== undefined && { apiKey: fromEnvironment(key) }),
    ...(token !== undefined && { token: fromEnvironment(token) }),
    ...(database !== undefined && { database }),
    ...(databasePrefix !== undefined && { databasePrefix }),
    ...(ca !== undefined && { ca: readPem(side, ca) }),
  };
}

function readPem(side: Side, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`--${side}-ca ${file} can't be read (${messageOf(cause)}).`, { cause });
  }
}
