import { createHash } from 'node:crypto';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { at, listAt, textAt } from '#cluster/kube/fields.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { manifestYaml } from '#cluster/report/manifestYaml.ts';
import { isRecord } from '#shared/records.ts';
import type { KubernetesManifest } from './fix.ts';

/** Asks for a path and gives the JSON of the reply. */
type Get = (path: string) => Promise<unknown>;

/**
 * Finds the path of an object by what the API server says of its kind, each group and version asked once.
 * @returns a function from an object to its path. @throws ClusterError NotFound for a kind that is not served,
 * InvalidRequest for an object of a namespace that names none
 */
function apiPaths(get: Get): (object: KubernetesManifest) => Promise<string> {
  const asked = new Map<string, Promise<unknown>>();
  return async (object) => {
    const { apiVersion, kind, metadata } = object;
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const listed = asked.get(root) ?? get(root);
    asked.set(root, listed);
    const resource = listAt(await listed, 'resources').find(
      // `pods/status` and its like have the kind of what they are a part of.
      (each) => textAt(each, 'kind') === kind && textAt(each, 'name')?.includes('/') === false,
    );
    const plural = textAt(resource, 'name');
    if (plural === undefined)
      throw new ClusterError(
        'NotFound',
        `The API server does not serve ${kind} of ${apiVersion}.`,
        'Install what defines it, then try again.',
      );
    const name = encodeURIComponent(metadata.name);
    if (at(resource, 'namespaced') !== true) return `${root}/${plural}/${name}`;
    if (metadata.namespace === undefined)
      throw new ClusterError('InvalidRequest', `${nameOf(object)} names no namespace.`, 'Add one to its metadata.');
    return `${root}/namespaces/${encodeURIComponent(metadata.namespace)}/${plural}/${name}`;
  };
}

/** An object as a sentence names it: `ServiceAccount geneva/geneva-sa`. */
const nameOf = ({ kind, metadata: { name, namespace } }: KubernetesManifest): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;

/** What the API server keeps in an object's metadata for itself. */
const serverFields = new Set([
  'managedFields',
  'resourceVersion',
  'uid',
  'creationTimestamp',
  'generation',
  'selfLink',
]);
/** A copy of the whole object that an older way of applying leaves. */
const copyOfObject = 'kubectl.kubernetes.io/last-applied-configuration';

/** An object as a person would write it: without its status, and without what the API server adds to its metadata. */
function withoutServerParts(object: unknown): unknown {
  if (!isRecord(object)) throw new ClusterError('BadReply', 'The API server gave no object.', 'Check its address.');
  const { apiVersion, kind, metadata, status: _, ...body } = object;
  return { apiVersion, kind, metadata: isRecord(metadata) ? shownMetadata(metadata) : metadata, ...body };
}

function shownMetadata(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown = without(metadata, (key) => serverFields.has(key));
  const { annotations, ...rest } = shown;
  if (!isRecord(annotations)) return shown;
  const kept = without(annotations, (key) => key === copyOfObject);
  return Object.keys(kept).length === 0 ? rest : { ...rest, annotations: kept };
}

const without = (fields: Readonly<Record<string, unknown>>, isOut: (key: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => !isOut(key)));

/** What the API server would make of one object. */
export type ObjectPreview = {
  /** As it was given. */
  readonly object: KubernetesManifest;
  /** For people: `ClusterRole geneva-role`. */
  readonly name: string;
  /** YAML of what is there, without what the server keeps for itself; empty where nothing is. */
  readonly before: string;
  /** YAML of what would be there. */
  readonly after: string;
  readonly changed: boolean;
  /** Who else has set the fields that this would change, in the server's words: it is applied by `force` alone. */
  readonly conflict?: string;
  /** Why the server was not asked for `after`, which is the object as it was given then. */
  readonly unchecked?: string;
};

export type MendPreview = { readonly objects: readonly ObjectPreview[] };

/**
 * Asks the API server what objects would become, by a server-side apply that is a dry run; nothing changes.
 * @throws ClusterError for each way in which the server would refuse one: Forbidden, InvalidRequest, NotFound …
 */
export async function previewMend(
  connection: KubeConnection,
  objects: readonly KubernetesManifest[],
  signal: AbortSignal,
): Promise<MendPreview> {
  const pathOf = apiPaths(async (path) => (await connection.request({ method: 'GET', path }, signal)).body);
  const previews: ObjectPreview[] = [];
  for (const object of objects) {
    const path = await pathOf(object);
    previews.push(await previewObject(connection, object, path, { signal, madeBefore: previews }));
  }
  return { objects: previews };
}

/**
 * Applies what a preview has shown, in its order, by server-side apply under a name of our own.
 * @param options.force takes fields over that somebody else has set; never without a person who has seen who
 * @returns the names of the objects, as they were applied
 * @throws ClusterError Conflict where an object would not become what was shown, or is somebody else's, and what was
 * applied before it stays; else as `previewMend`
 */
export async function applyMend(
  connection: KubeConnection,
  { objects }: MendPreview,
  { signal, force = false }: { readonly signal: AbortSignal; readonly force?: boolean },
): Promise<readonly string[]> {
  const pathOf = apiPaths(async (path) => (await connection.request({ method: 'GET', path }, signal)).body);
  const applied: string[] = [];
  for (const shown of objects) {
    if (!shown.changed) continue;
    const { object, name } = shown;
    const path = await pathOf(object);
    const now = await previewObject(connection, object, path, { signal, madeBefore: [] });
    if (shown.unchecked === undefined && (now.before !== shown.before || now.after !== shown.after))
      throw new ClusterError('Conflict', `${name} has changed since it was shown.`, 'Look at the change anew.');
    if (now.conflict !== undefined && !force)
      throw new ClusterError('Conflict', now.conflict, 'Change it where it comes from, or take the fields over.');
    await connection.request(applyAsk(object, path, { force }), signal);
    applied.push(name);
  }
  return applied;
}

type PreviewOptions = { readonly signal: AbortSignal; readonly madeBefore: readonly ObjectPreview[] };

async function previewObject(
  connection: KubeConnection,
  object: KubernetesManifest,
  path: string,
  { signal, madeBefore }: PreviewOptions,
): Promise<ObjectPreview> {
  const name = nameOf(object);
  const before = await orUndefined(connection.request({ method: 'GET', path }, signal), 'NotFound');
  const beforeText = before === undefined ? '' : manifestYaml(withoutServerParts(before.body));
  const dry = { dryRun: true } as const;
  try {
    const refused = await conflictOf(connection.request(applyAsk(object, path, dry), signal));
    const after =
      typeof refused === 'string'
        ? await connection.request(applyAsk(object, path, { ...dry, force: true }), signal)
        : refused;
    const afterText = manifestYaml(withoutServerParts(after.body));
    const changed = beforeText !== afterText;
    return {
      object,
      name,
      before: beforeText,
      after: afterText,
      changed,
      ...(typeof refused === 'string' && changed ? { conflict: `${name}: ${refused}` } : {}),
    };
  } catch (error) {
    const { namespace } = object.metadata;
    const isNew = madeBefore.some(
      ({ object: { kind, metadata } }) => kind === 'Namespace' && metadata.name === namespace,
    );
    if (!isNew || !isClusterError(error) || error.kind !== 'NotFound') throw error;
    return {
      object,
      name,
      before: '',
      after: manifestYaml(object),
      changed: true,
      unchecked: `The API server cannot be asked before the namespace ${namespace} is there.`,
    };
  }
}

type ApplyOptions = { readonly dryRun?: boolean; readonly force?: boolean };

function applyAsk(object: KubernetesManifest, path: string, { dryRun = false, force = false }: ApplyOptions) {
  const query = new URLSearchParams({
    fieldManager: managerOf(object),
    force: String(force),
    ...(dryRun ? { dryRun: 'All' } : {}),
  });
  return {
    method: 'PATCH',
    path: `${path}?${query.toString()}`,
    // JSON is YAML.
    contentType: 'application/apply-patch+yaml',
    body: object,
  } as const;
}

/**
 * The name that a change is made under. Server-side apply takes back what the same manager set before and does not say
 * again: with one name for all, the second mend of a node would take away the label that the first one gave. So each set of
 * fields has a manager of its own.
 */
function managerOf(object: KubernetesManifest): string {
  const hash = createHash('sha256').update(fieldsOf(object).toSorted().join('\n')).digest('hex');
  return `lance-catalog-${hash.slice(0, 10)}`;
}

/** The paths of all that is set; a list counts as a whole. */
function fieldsOf(value: unknown, path = ''): string[] {
  if (!isRecord(value)) return [path];
  return Object.entries(value).flatMap(([key, each]) => fieldsOf(each, `${path}/${key}`));
}

async function orUndefined<T>(asked: Promise<T>, kind: 'NotFound'): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isClusterError(error) && error.kind === kind) return undefined;
    throw error;
  }
}

/** The reply, or the server's words on who else has set what would change. */
async function conflictOf<T>(asked: Promise<T>): Promise<T | string> {
  try {
    return await asked;
  } catch (error) {
    if (isClusterError(error) && error.kind === 'Conflict') return conflictWords(error.what);
    throw error;
  }
}

/** What a person decides by, who has set which field, without the request that was answered so. */
const conflictWords = (said: string): string => said.replace(/^.*?Apply failed with \d+ conflicts?: /s, '');
