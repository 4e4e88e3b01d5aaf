import { ClusterError } from '#cluster/errors.ts';
import { isRecord } from '#shared/records.ts';
import { otherSpellings, toSettingName } from './settingNames.ts';

// A profile is in settings, which are synchronised, shared and committed. What looks like a secret is refused there at once,
// and never quoted.

/** The setting that profiles are in. */
export const profilesSetting = 'lanceCatalog.cluster.profiles';

/** JSON of what the setting holds: the editor hands its profiles to notebooks by it, and CI its own. */
export const profilesVariable = 'LANCE_CATALOG_CLUSTERS';

/** A call of a cell whose argument holds settings: an error in it names the call, since there is no profile. */
export type SettingCall = { readonly call: 'ray.cluster' | 'ray.connect' | 'cluster.check' };

/** Where settings begin: the name of a profile, or a call. */
export type SettingRoot = string | SettingCall;

type Step = string | number;

/** Where a value stands: the root, then keys and indexes as they are written. */
export type SettingPath = readonly [SettingRoot, ...Step[]];

/** `lanceCatalog.cluster.profiles.prod.workerGroups[0].memory`, or `ray.cluster({ worker_groups[0].memory: … })` */
function textOfPath([root, ...steps]: SettingPath): string {
  if (typeof root === 'string') return `${profilesSetting}${textOfSteps([root, ...steps])}`;
  const inside = textOfSteps(steps).replace(/^\./, '');
  return `${root.call}({ ${inside === '' ? '…' : `${inside}: …`} })`;
}

const textOfSteps = (steps: readonly Step[]): string =>
  steps.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return /^[\w-]+$/.test(step) ? `${text}.${step}` : `${text}[${JSON.stringify(step)}]`;
  }, '');

/**
 * Where a setting stands, in the spelling that it is written in.
 * @param value what is written below the root
 * @param steps the way there in our spelling
 */
export function writtenPath(root: SettingRoot, value: unknown, steps: readonly Step[]): SettingPath {
  const path: [SettingRoot, ...Step[]] = [root];
  let at = value;
  for (const step of steps) {
    if (typeof step === 'number') {
      path.push(step);
      at = Array.isArray(at) ? (at as unknown[])[step] : undefined;
    } else {
      const key = writtenKey(at, step);
      path.push(key);
      at = isRecord(at) ? at[key] : undefined;
    }
  }
  return path;
}

/** One that is missing is spelled as the settings beside it are. */
function writtenKey(section: unknown, name: string): string {
  const keys = isRecord(section) ? Object.keys(section) : [];
  const written = keys.find((key) => toSettingName(key) === name);
  if (written !== undefined) return written;
  return (keys.some((key) => key.includes('_')) ? otherSpellings(name)[0] : undefined) ?? name;
}

const places = new WeakMap<ClusterError, SettingPath>();

/** The error for what is wrong at a place; who knows the file finds the line by it. */
export function settingError(path: SettingPath, what: string, hint: string): ClusterError {
  const error = new ClusterError('ProfileInvalid', `${textOfPath(path)} ${what}`, hint);
  places.set(error, path);
  return error;
}

/** Where the value stands below the setting of profiles that an error is about. */
export function placeOfError(error: ClusterError): readonly Step[] | undefined {
  const [root, ...steps] = places.get(error) ?? [];
  return typeof root === 'string' ? [root, ...steps] : undefined;
}

/** The field of a profile that an error is about, and what is wrong with it: for who read it from somewhere else. */
export function withoutPlace(error: ClusterError): readonly [field: string, problem: string] | undefined {
  const path = places.get(error);
  const field = path?.[1];
  return path && field !== undefined ? [String(field), error.what.slice(textOfPath(path).length + 1)] : undefined;
}

/** Names under which people put secrets. */
const names = /token|passwo?r?d|secret|api_?key|access_?key|private_?key|client_?key|credential|bearer|authorization/i;

/** Shapes of secrets: keys of AWS, tokens, PEM, service account files. */
const shapes =
  /^(?:A[KS]IA[0-9A-Z]{16}|eyJ[\w-]{10,}|ya29\.|k8s-aws-v1\.|gh[pousr]_|AIza|sk-)|-----BEGIN|"private_key"/;

/** Whether a value, or the name that it stands under, is that of a secret. */
export const looksSecret = (value: unknown, name = ''): boolean =>
  names.test(name) || (typeof value === 'string' && shapes.test(value));

export const secretError = (path: SettingPath): ClusterError =>
  settingError(
    path,
    'looks like a secret, and settings are no place for one.',
    'Remove it: credentials come from your kubeconfig, from ~/.aws, from application-default credentials of Google, or from ' +
      'a catalog connection that the profile names.',
  );
