import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { FoundProfiles } from '#cluster/profiles/findProfiles.ts';

const example = '{ "lanceCatalog.cluster.profiles": { "prod": { "context": "my-cluster", "namespace": "geneva" } } }';

/** How a profile is named where this runs, for the sentences below. */
export type NamingHints = {
  /** How to say which: `Give its name: cluster.check('prod').` */
  readonly which: (names: readonly string[]) => string;
  /** How to do without a profile. */
  readonly without: string;
};

/**
 * The profile of this name, or the only one that there is.
 * @throws ClusterError ProfileInvalid where there is none or more than one, and as `profile()` of what was found
 */
export function chooseProfile(found: FoundProfiles, name: string | undefined, hints: NamingHints): ClusterProfile {
  if (name !== undefined) return found.profile(name);
  const [only, ...others] = found.names;
  if (only === undefined)
    throw new ClusterError(
      'ProfileInvalid',
      found.source === undefined ? 'There is no cluster profile here.' : `${found.source} has no cluster profile.`,
      `Write one into .vscode/settings.json, ${example}, or ${hints.without}.`,
    );
  if (others.length > 0)
    throw new ClusterError(
      'ProfileInvalid',
      `There are ${found.names.length} cluster profiles in ${found.source}.`,
      hints.which(found.names),
    );
  return found.profile(only);
}
