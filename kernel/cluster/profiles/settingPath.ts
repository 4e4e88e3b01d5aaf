import { ClusterError } from '#cluster/errors.ts';
import { isRecord } from '#shared/records.ts';
import { otherSpellings, toSettingName } from './settingNames.ts';

// Settings are synchronized, shared and committed, so values that look like a secret are rejected, and never quoted.

/** The setting with the profiles. */
export const profilesSetting = 'lanceCatalog.cluster.profiles';

/** The environment variable that has the same value as JSON. The editor sets it for notebooks, or CI sets it. */
export const profilesVariable = 'LANCE_CATALOG_CLUSTERS';

/** A call in a notebook cell whose argument contains settings. Errors name the call instead of a profile. */
export type SettingCall = { readonly call: 'ray.cluster' | 'ray.connect' | 'cluster.check' };

/** The root of settings: the name of a profile, or a call. */
export type SettingRoot = string | SettingCall;

type Step = string | number;

/** The path of a value: the root, then keys and indexes as the user spelled them. */
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
 * Returns the path of a setting as the user spelled it.
 * @param value the settings below the root
 * @param steps the path in our spelling
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

/** A missing setting is spelled like the settings beside it. */
function writtenKey(section: unknown, name: string): string {
  const keys = isRecord(section) ? Object.keys(section) : [];
  const written = keys.find((key) => toSettingName(key) === name);
  if (written !== undefined) return written;
  return (keys.some((key) => key.includes('_')) ? otherSpellings(name)[0] : undefined) ?? name;
}

const places = new WeakMap<ClusterError, SettingPath>();

/** Returns an error for a setting and records the path. A caller that knows the file uses the path to find the line. */
export function settingError(path: SettingPath, what: string, hint: string): ClusterError {
  const error = new ClusterError('ProfileInvalid', `${textOfPath(path)} ${what}`, hint);
  places.set(error, path);
  return error;
}

/** Returns the path of the setting that an error is about, below the setting of all profiles. */
export function placeOfError(error: ClusterError): readonly Step[] | undefined {
  const [root, ...steps] = places.get(error) ?? [];
  return typeof root === 'string' ? [root, ...steps] : undefined;
}

/**
 * Returns the field that an error is about, and the problem without the path. For callers whose profile is not in the
 * settings.
 */
export function withoutPlace(error: ClusterError): readonly [field: string, problem: string] | undefined {
  const path = places.get(error);
  const field = path?.[1];
  return path && field !== undefined ? [String(field), error.what.slice(textOfPath(path).length + 1)] : undefined;
}

/** Names that usually hold secrets. */
const names = /token|passwo?r?d|secret|api_?key|access_?key|private_?key|client_?key|credential|bearer|authorization/i;

/** Shapes of secrets: AWS keys, tokens, PEM, service account files. */
const shapes =
  /^(?:A[KS]IA[0-9A-Z]{16}|eyJ[\w-]{10,}|ya29\.|k8s-aws-v1\.|gh[pousr]_|AIza|sk-)|-----BEGIN|"private_key"/;

/** Whether a value looks like a secret, or has the name of one. */
export const looksSecret = (value: unknown, name = ''): boolean =>
  names.test(name) || (typeof value === 'string' && shapes.test(value));

export const secretError = (path: SettingPath): ClusterError =>
  settingError(
    path,
    'looks like a secret. Settings must not contain secrets.',
    'Remove it: credentials come from your kubeconfig, from ~/.aws, from Google application-default credentials, or from ' +
      'a catalog connection that the profile names.',
  );
