import { ClusterError } from '#cluster/errors.ts';
import { readProfile } from '#cluster/profiles/profileReader.ts';
import { profileFields } from '#cluster/profiles/profileFields.ts';
import { readFields } from '#cluster/profiles/settingFields.ts';
import type { Fields } from '#shared/fieldTable.ts';
import { toSettingName } from '#cluster/profiles/settingNames.ts';
import { settingError, type SettingCall } from '#cluster/profiles/settingPath.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { isRecord } from '#shared/records.ts';
import { onExits, rayClusterSpecOf, type OnExit, type RayClusterSpec } from './rayClusterSpec.ts';

/** Root of the setting paths in errors. */
const rayCall: SettingCall = { call: 'ray.cluster' };

/** Settings of a RayCluster in addition to those of a profile. */
const ownFields = {
  profile: {
    kind: 'text',
    pattern: /\S/,
    takes: 'the name of a profile',
    description: 'Name of a profile in the settings.',
  },
  name: { kind: 'text', pattern: /\S/, takes: 'the name of a RayCluster', description: 'Name of the RayCluster.' },
  onExit: {
    kind: 'choice',
    values: onExits,
    meanings: ['Delete it.', 'Keep it.', 'Keep it if a job on it failed, else delete it.'],
    description: 'What happens to the RayCluster when its owner has finished.',
  },
  image: {
    kind: 'text',
    pattern: /^[^\s@:/][^\s]*$/,
    takes: 'the name of a container image',
    description: 'Container image of the groups that do not set one.',
  },
  idleTimeoutSeconds: {
    kind: 'count',
    minimum: 0,
    description: 'Seconds of idle time after which a worker is removed.',
  },
} as const satisfies Fields;

/** A RayCluster as the user describes it. */
export type RaySettings = {
  readonly profile: ClusterProfile;
  readonly spec: RayClusterSpec;
  readonly onExit: OnExit | undefined;
  /** A name, or settings, from which another process can read the profile again. Contains no secret. */
  readonly from: string | Readonly<Record<string, unknown>>;
};

/**
 * Reads the settings of `ray.cluster(…)`, in camel case or as in the service's documentation (`head_group`).
 * @param profiles finds a profile by name
 * @throws ClusterError ProfileInvalid for the first error
 */
export async function readRaySettings(
  value: unknown,
  profiles: (name: string) => Promise<ClusterProfile>,
): Promise<RaySettings> {
  if (!isRecord(value))
    throw new ClusterError(
      'ProfileInvalid',
      'Expected an object with the settings of a RayCluster.',
      "Pass an object such as { name: 'backfills' }.",
    );
  const read = readFields([rayCall], value, { ...ownFields, ...profileFields });
  const isOwn = ([key]: readonly [string, unknown]): boolean => Object.hasOwn(ownFields, toSettingName(key));
  const settings = Object.fromEntries(Object.entries(value).filter((entry) => !isOwn(entry)));
  const [extra] = Object.keys(settings);
  if (read.profile !== undefined && extra !== undefined)
    throw new ClusterError(
      'ProfileInvalid',
      `Can't combine the setting "${extra}" with the profile "${read.profile}".`,
      'Change the setting in the profile, or remove "profile" and describe the whole cluster here.',
    );
  const profile = read.profile === undefined ? readProfile(rayCall, settings) : await profiles(read.profile);
  const { name, image, idleTimeoutSeconds } = read;
  if (name === undefined && profile.rayCluster === undefined)
    throw settingError(
      [rayCall],
      'is missing the option "name".',
      "Add a name for the RayCluster, such as 'backfills'.",
    );
  const spec = rayClusterSpecOf(profile, { name, image, idleTimeoutSeconds });
  return { profile, spec, onExit: read.onExit, from: read.profile ?? settings };
}

const connectFields = {
  profile: ownFields.profile,
  rayCluster: profileFields.rayCluster,
} as const satisfies Fields;

/** Reads the settings that `ray.connect(…)` accepts instead of an address. @throws ClusterError ProfileInvalid */
export function readConnectSettings(value: unknown): {
  readonly profile: string;
  readonly rayCluster: string | undefined;
} {
  const call: SettingCall = { call: 'ray.connect' };
  const { profile, rayCluster } = readFields([call], value, connectFields);
  if (profile === undefined)
    throw settingError([call], 'is missing the option "profile".', 'Add the name of a profile, or pass an address.');
  return { profile, rayCluster };
}
