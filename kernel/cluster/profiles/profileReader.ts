import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { BucketLocation, ClusterAuth, ClusterProfile, RayGroup } from '#cluster/profile.ts';
import { isCatalogConfig } from '#shared/catalogConfig.ts';
import type { Values } from '#shared/fieldTable.ts';
import { isRecord } from '#shared/records.ts';
import { profileFields } from './profileFields.ts';
import { readFields, invalidSetting } from './settingFields.ts';
import {
  looksSecret,
  secretError,
  settingError,
  type SettingPath,
  type SettingRoot,
  writtenPath,
} from './settingPath.ts';

type Settings = Values<typeof profileFields>;
type GroupSettings = NonNullable<Settings['workerGroups']>[number];

/** Returns the path of a setting as the user spelled it, from steps in our spelling. */
type At = (...steps: (string | number)[]) => SettingPath;

/**
 * Reads a profile from settings and checks every field. The defaults are from upstream's documentation.
 * @param root the name of the profile, or the call that describes a cluster
 * @param folder base of a relative kubeconfig path. Default: the current directory
 * @throws ClusterError ProfileInvalid naming the setting, the expected value and the actual one
 */
export function readProfile(root: SettingRoot, value: unknown, folder: string = process.cwd()): ClusterProfile {
  const settings = readFields([root], value, profileFields);
  const at: At = (...steps) => writtenPath(root, value, steps);
  const { serviceAccount = profileFields.serviceAccount.default } = settings;
  const { labelDomain = profileFields.labelDomain.default } = settings;
  const group = { serviceAccount, labelDomain };
  return {
    name: typeof root === 'string' ? root : 'cluster',
    auth: authOf(at, settings, folder),
    namespace: settings.namespace ?? profileFields.namespace.default,
    serviceAccount,
    labelDomain,
    rayCluster: settings.rayCluster,
    rayVersion: settings.rayVersion,
    usePortForwarding: settings.usePortForwarding ?? profileFields.usePortForwarding.default,
    headGroup: headOf(settings.headGroup ?? {}, group),
    workerGroups: workersOf(at, settings.workerGroups ?? [{}], group),
    storage: settings.storage === undefined ? undefined : parseBucketUrl(settings.storage),
    aws: awsOf(at, settings),
    gcp: gcpOf(at, settings),
    catalog: catalogOf(at('catalog'), settings.catalog),
  };
}

function authOf(at: At, settings: Settings, folder: string): ClusterAuth {
  const { configMethod = 'LOCAL', kubeconfig, context, clusterName, region, roleName, aws } = settings;
  if (configMethod !== 'LOCAL') notFor(at, configMethod, { kubeconfig, context }, 'LOCAL');
  if (configMethod !== 'EKS_AUTH') notFor(at, configMethod, { clusterName, region, roleName }, 'EKS_AUTH');
  switch (configMethod) {
    case 'LOCAL':
      return {
        configMethod,
        kubeconfig: kubeconfig === undefined ? undefined : absolute(kubeconfig, folder),
        context,
      };
    case 'EKS_AUTH':
      return {
        configMethod,
        clusterName: clusterName ?? missing(at, 'clusterName', 'EKS_AUTH', profileFields.clusterName.takes),
        region: region ?? missing(at, 'region', 'EKS_AUTH', profileFields.region.takes),
        roleName: roleName ?? missing(at, 'roleName', 'EKS_AUTH', profileFields.roleName.takes),
        profile: aws?.profile,
      };
    case 'IN_CLUSTER':
      return { configMethod };
  }
}

/** A setting without any effect is an error, because otherwise the user would not notice the mistake. */
function notFor(at: At, method: string, settings: Readonly<Record<string, unknown>>, only: string): void {
  const key = Object.keys(settings).find((one) => settings[one] !== undefined);
  if (key === undefined) return;
  const instead = only === 'EKS_AUTH' && key !== 'roleName' ? `, or write it below "aws"` : '';
  const [, setting = 'configMethod'] = at('configMethod');
  throw settingError(
    at(key),
    `applies only to ${only}, but ${setting} is ${method}.`,
    `Remove it, or set ${setting} to "${only}"${instead}.`,
  );
}

function missing(at: At, key: string, what: string, takes: string): never {
  throw settingError(at(...key.split('.')), `is missing, but ${what} requires it.`, `Set it to ${takes}.`);
}

/** Resolves `~/x` and paths relative to a folder. */
function absolute(path: string, folder: string): string {
  if (path === '~' || /^~[\\/]/.test(path)) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? path : resolve(folder, path);
}

type GroupDefaults = { readonly serviceAccount: string; readonly labelDomain: string };

function headOf(settings: GroupSettings, defaults: GroupDefaults): RayGroup {
  const label = { [`${defaults.labelDomain}/ray-head`]: 'true' };
  return { ...groupOf(settings, { ...defaults, label }), minReplicas: 1, maxReplicas: 1 };
}

function workersOf(at: At, groups: readonly GroupSettings[], defaults: GroupDefaults): readonly RayGroup[] {
  const names = new Set<string>();
  return groups.map((settings, index) => {
    const kind = (settings.numGpus ?? 0) > 0 ? 'gpu' : 'cpu';
    const { minReplicas = 0, maxReplicas = Math.max(100, minReplicas) } = settings;
    if (minReplicas > maxReplicas)
      throw invalidSetting(
        at('workerGroups', index, 'minReplicas'),
        `must be at most maxReplicas (${maxReplicas})`,
        minReplicas,
      );
    const name = settings.name ?? (groups.length === 1 ? `${kind}-workers` : `${kind}-workers-${index + 1}`);
    if (names.has(name))
      throw invalidSetting(at('workerGroups', index, 'name'), 'must be a name that no other group has', name);
    names.add(name);
    const label = { [`${defaults.labelDomain}/ray-worker-${kind}`]: 'true' };
    return { name, ...groupOf(settings, { ...defaults, label }), minReplicas, maxReplicas };
  });
}

function groupOf(
  settings: GroupSettings,
  defaults: { readonly serviceAccount: string; readonly label: Readonly<Record<string, string>> },
): Omit<RayGroup, 'minReplicas' | 'maxReplicas'> {
  const { numGpus = 0 } = settings;
  const { numCpus = numGpus > 0 ? 8 : 4, memory = numGpus > 0 ? '16Gi' : '8Gi' } = settings;
  return {
    numCpus,
    memory,
    numGpus,
    serviceAccount: settings.serviceAccount ?? defaults.serviceAccount,
    nodeSelector: settings.nodeSelector ?? defaults.label,
    image: settings.image,
  };
}

/** Splits `s3://bucket/path/` into its parts. */
function parseBucketUrl(address: string): BucketLocation {
  const [scheme = '', rest = ''] = address.split('://');
  const [bucket = '', ...path] = rest.split('/');
  return { scheme: scheme === 'gs' ? 'gs' : 's3', bucket, prefix: path.filter((one) => one !== '').join('/') };
}

function awsOf(at: At, { aws, region, clusterName }: Settings): ClusterProfile['aws'] {
  if (!aws) return undefined;
  return {
    region: aws.region ?? region ?? missing(at, 'aws.region', 'aws', profileFields.region.takes),
    clusterName: aws.clusterName ?? clusterName,
    clientRole: aws.clientRole,
    serviceRole: aws.serviceRole,
    account: aws.account,
    profile: aws.profile,
  };
}

function gcpOf(at: At, { gcp }: Settings): ClusterProfile['gcp'] {
  if (!gcp) return undefined;
  const { project, location, clusterName } = profileFields.gcp.fields;
  return {
    project: gcp.project ?? missing(at, 'gcp.project', 'gcp', project.takes),
    location: gcp.location ?? missing(at, 'gcp.location', 'gcp', location.takes),
    clusterName: gcp.clusterName ?? missing(at, 'gcp.clusterName', 'gcp', clusterName.takes),
    serviceAccount: gcp.serviceAccount,
  };
}

function catalogOf(path: SettingPath, value: unknown): ClusterProfile['catalog'] {
  if (value === undefined) return undefined;
  const secret = secretIn(path, value);
  if (secret !== undefined) throw secretError(secret);
  if (typeof value === 'string' && value.trim() !== '') return value;
  if (isCatalogConfig(value)) return value;
  throw invalidSetting(path, `must be ${profileFields.catalog.takes}`, value);
}

/** Returns the path of the first value that looks like a secret. */
function secretIn(path: SettingPath, value: unknown): SettingPath | undefined {
  if (looksSecret(value)) return path;
  if (!isRecord(value)) return undefined;
  for (const [key, each] of Object.entries(value)) {
    const here: SettingPath = [...path, key];
    const found = looksSecret(each, key) ? here : secretIn(here, each);
    if (found !== undefined) return found;
  }
  return undefined;
}
