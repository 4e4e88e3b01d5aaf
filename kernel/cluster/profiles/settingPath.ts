import { ClusterError } from '#cluster/errors.ts';

/** The setting that profiles are in. */
export const profilesSetting = 'lanceCatalog.cluster.profiles';

/** JSON of what the setting holds: the editor hands its profiles to notebooks by it, and CI its own. */
export const profilesVariable = 'LANCE_CATALOG_CLUSTERS';

/** Where a value stands below that setting: the profile's name, then keys and indexes. */
export type SettingPath = readonly (string | number)[];

/** `lanceCatalog.cluster.profiles.prod.workerGroups[0].memory` */
export const textOfPath = (path: SettingPath): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return /^[\w-]+$/.test(step) ? `${text}.${step}` : `${text}[${JSON.stringify(step)}]`;
  }, profilesSetting);

const places = new WeakMap<ClusterError, SettingPath>();

/** The error for what is wrong at a place; who knows the file finds the line by it. */
export function settingError(path: SettingPath, what: string, hint: string): ClusterError {
  const error = new ClusterError('ProfileInvalid', `${textOfPath(path)} ${what}`, hint);
  places.set(error, path);
  return error;
}

/** Where the value stands that an error is about. */
export const placeOfError = (error: ClusterError): SettingPath | undefined => places.get(error);

/** The field of a profile that an error is about, and what is wrong with it: for who read it from somewhere else. */
export function withoutPlace(error: ClusterError): readonly [field: string, problem: string] | undefined {
  const path = places.get(error);
  const field = path?.[1];
  return path && field !== undefined ? [String(field), error.what.slice(textOfPath(path).length + 1)] : undefined;
}
