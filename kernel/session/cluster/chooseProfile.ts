import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { FoundProfiles } from '#cluster/profiles/findProfiles.ts';

const example = '{ "lanceCatalog.cluster.profiles": { "prod": { "context": "my-cluster", "namespace": "geneva" } } }';

/** How users of this client name a profile. Used in hints of errors. */
export type NamingHints = {
  /** Explains how to choose a profile: `Give its name: cluster.check('prod').` */
  readonly which: (names: readonly string[]) => string;
  /** How to work without a profile. */
  readonly without: string;
};

/**
 * Returns the profile with this name; without a name, the only profile.
 * @throws ClusterError ProfileInvalid if no name is given and there is not exactly one profile; any error of
 * `found.profile()`
 */
export function chooseProfile(found: FoundProfiles, name: string | undefined, hints: NamingHints): ClusterProfile {
  if (name !== undefined) return found.profile(name);
  const [only, ...others] = found.names;
  if (only === undefined)
    throw new ClusterError(
      'ProfileInvalid',
      found.source === undefined ? 'No cluster profile was found.' : `${found.source} has no cluster profile.`,
      `Add one to .vscode/settings.json, such as ${example}, or ${hints.without}.`,
    );
  if (others.length > 0)
    throw new ClusterError(
      'ProfileInvalid',
      `There are ${found.names.length} cluster profiles in ${found.source}.`,
      hints.which(found.names),
    );
  return found.profile(only);
}
