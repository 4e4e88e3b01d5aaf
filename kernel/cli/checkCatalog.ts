import { registerRest } from '#client/registerRest.ts';
import { registerDir } from '#engine/register.ts';
import { catalogOfArgument, catalogVariables } from '#session/catalogArgument.ts';
import { catalogFinder, type CatalogFinder } from '#session/cluster/catalogOfProfile.ts';

/** How the catalog of a profile is found in a terminal: by what the environment says of one. */
export function catalogOfEnvironment(env: Readonly<Record<string, string | undefined>>): CatalogFinder {
  registerDir();
  registerRest();
  return catalogFinder(catalogOfArgument(undefined, env), {
    apiKey: env[catalogVariables.apiKey],
    token: env[catalogVariables.token],
  });
}
