import { isClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { profileFields } from '#cluster/profiles/profileFields.ts';
import { shellLine } from '#cluster/mends/commands.ts';
import { chooseProfile } from '#session/cluster/chooseProfile.ts';
import { UsageError } from './command.ts';

/** Options that say which cluster is meant. */
export const profileOptions = {
  profile: { type: 'string' },
  settings: { type: 'string' },
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  namespace: { type: 'string', short: 'n' },
  'service-account': { type: 'string' },
  storage: { type: 'string' },
} as const;

export type ProfileArguments = { readonly [K in keyof typeof profileOptions]?: string | undefined };

const { namespace, serviceAccount } = profileFields;

export const profileHelp = `  --profile NAME      a profile of lanceCatalog.cluster.profiles; not needed where there is one alone. They are those of the
                      environment variable LANCE_CATALOG_CLUSTERS (JSON), else of .vscode/settings.json here or above
  --settings FILE     … or of this settings file
  --context NAME, --kubeconfig FILE, --namespace NAME, --service-account NAME, --storage s3://… | gs://…
                      any of them: a cluster without a profile. What is not said is the current context of the
                      kubeconfig, the namespace ${namespace.default} and the service account ${serviceAccount.default}`;

/** The fields of a profile that have an option of their own, by that. */
const fields = {
  kubeconfig: 'kubeconfig',
  context: 'context',
  namespace: 'namespace',
  'service-account': 'serviceAccount',
  storage: 'storage',
} as const;

/**
 * The profile that the arguments mean.
 * @throws UsageError for arguments that do not go together; ClusterError ProfileInvalid where none is meant or one is wrong
 */
export async function profileOfArguments(args: ProfileArguments): Promise<ClusterProfile> {
  const { findProfiles, readProfile, withoutPlace } = await import('#cluster/clouds.ts');
  const given = Object.entries(fields).flatMap(([option, field]) => {
    const value = args[option as keyof typeof fields];
    return value === undefined ? [] : [[option, field, value] as const];
  });
  const [first] = given;
  if (first) {
    if (args.profile !== undefined || args.settings !== undefined)
      throw new UsageError(`--${first[0]} describes a cluster without a profile, so --profile has no place beside it.`);
    const value = Object.fromEntries(given.map(([, field, text]) => [field, text]));
    try {
      return readProfile(args.context || 'current context', { configMethod: 'LOCAL', ...value });
    } catch (error) {
      // There is no profile to correct: what is wrong was typed.
      const [field, problem] = isClusterError(error) ? (withoutPlace(error) ?? []) : [];
      const typed = given.find(([, one]) => one === field);
      throw typed ? new UsageError(`--${typed[0]} ${problem}`, { cause: error }) : error;
    }
  }
  const found = await findProfiles({ folder: process.cwd(), environment: process.env, settings: args.settings });
  return chooseProfile(found, args.profile, {
    which: (names) => `Say which one: --profile ${names.join(', --profile ')}.`,
    without: 'name a cluster without one, by --context',
  });
}

/** The same arguments as they are typed, for a command that is to go to the same cluster. */
export const profileLine = (args: ProfileArguments): string =>
  shellLine(
    ...Object.keys(profileOptions).flatMap((option) => {
      const value = args[option as keyof ProfileArguments];
      return value === undefined ? [] : [`--${option}`, value];
    }),
  );
