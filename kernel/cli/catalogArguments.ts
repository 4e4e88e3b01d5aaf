import { catalogOfArgument, catalogVariables } from '#session/catalogArgument.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { isObjectStore } from '#client/root.ts';
import { UsageError } from './command.ts';
import { storageArguments, storageHelp, storageOptions } from './storageOptions.ts';

/** Options of a command that is about one catalog. */
export const catalogArguments = { catalog: { type: 'string' }, ...storageArguments } as const;

export type CatalogValues = {
  readonly catalog?: string | undefined;
  readonly 'storage-option'?: string[] | undefined;
  readonly 'storage-option-env'?: string[] | undefined;
};

export const oneCatalogHelp = `  --catalog DIR|s3://…|https://…     a directory, an address of an object store, or of a server; else the environment
                                     variable ${catalogVariables.catalog}. For a server ${catalogVariables.apiKey} or
                                     ${catalogVariables.token} lets you in, and ${catalogVariables.database} says
                                     which database
${storageHelp}`;

/**
 * The catalog that the arguments or the environment name.
 * @param otherwise what is named where the arguments name none
 * @throws UsageError where nothing names one
 */
export function catalogOf(values: CatalogValues, otherwise?: string): CatalogConfig {
  const config = catalogOfArgument(values.catalog ?? otherwise, process.env);
  if (!config) throw new UsageError(`Name the catalog by --catalog, or by the variable ${catalogVariables.catalog}.`);
  const storage = storageOptions({ ...values });
  if (!storage) return config;
  if (config.implementation === 'rest' || !isObjectStore(config.root))
    throw new UsageError(`--storage-option is for object stores, and ${values.catalog ?? 'the catalog'} is none.`);
  return { ...config, storageOptions: storage };
}
