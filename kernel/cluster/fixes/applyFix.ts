import { createHash } from 'node:crypto';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { fieldAt, listAt, stringAt } from '#shared/fields.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import { manifestYaml } from '#cluster/report/manifestYaml.ts';
import { isRecord } from '#shared/records.ts';
import type { KubernetesManifest } from './fix.ts';

type Get = (path: string) => Promise<unknown>;

/**
 * Resolves the paths of objects from the API server's discovery, with one request per group and version.
 * @returns a function from an object to its path
 * @throws ClusterError NotFound if a kind is not served, InvalidRequest if a namespaced object names no namespace
 */
function apiPaths(get: Get): (object: KubernetesManifest) => Promise<string> {
  const asked = new Map<string, Promise<unknown>>();
  return async (object) => {
    const { apiVersion, kind, metadata } = object;
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const listed = asked.get(root) ?? get(root);
    asked.set(root, listed);
    const resource = listAt(await listed, 'resources').find(
      // Subresources such as `pods/status` may have the kind of their parent.
      (each) => stringAt(each, 'kind') === kind && stringAt(each, 'name')?.includes('/') === false,
    );
    const plural = stringAt(resource, 'name');
    if (plural === undefined)
      throw new ClusterError(
        'NotFound',
        `The API server does not serve ${kind} of ${apiVersion}.`,
        'Install its resource definition, then try again.',
      );
    const name = encodeURIComponent(metadata.name);
    if (fieldAt(resource, 'namespaced') !== true) return `${root}/${plural}/${name}`;
    if (metadata.namespace === undefined)
      throw new ClusterError('InvalidRequest', `${nameOf(object)} has no namespace.`, 'Add one to its metadata.');
    return `${root}/namespaces/${encodeURIComponent(metadata.namespace)}/${plural}/${name}`;
  };
}

/** `ServiceAccount geneva/geneva-sa` */
const nameOf = ({ kind, metadata: { name, namespace } }: KubernetesManifest): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;

/** Metadata fields that the API server sets. */
const serverFields = new Set([
  'managedFields',
  'resourceVersion',
  'uid',
  'creationTimestamp',
  'generation',
  'selfLink',
]);
/** The annotation in which client-side apply keeps a copy of the whole object. */
const copyOfObject = 'kubectl.kubernetes.io/last-applied-configuration';

/** Removes the status and the server's metadata, because a hand-written manifest has none of them. */
function withoutServerFields(object: unknown): unknown {
  if (!isRecord(object)) throw new ClusterError('BadReply', 'The API server returned no object.', 'Check its address.');
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

/** The result that the API server predicts for one object. */
export type ObjectDiff = {
  /** The object as given. */
  readonly object: KubernetesManifest;
  /** For display: `ClusterRole geneva-role`. */
  readonly name: string;
  /** YAML of the existing object, without the server's fields; empty if there is none. */
  readonly before: string;
  /** YAML of the object after the change. */
  readonly after: string;
  readonly changed: boolean;
  /** The server's message about other managers of the changed fields; if set, only `force` applies the change. */
  readonly conflict?: string;
  /** Why the server could not predict `after`. Then `after` is the object as given. */
  readonly unchecked?: string;
};

export type FixPreview = { readonly objects: readonly ObjectDiff[] };

/**
 * Previews objects by a server-side apply with dry run; nothing changes.
 * @throws ClusterError if the server would refuse an object: Forbidden, InvalidRequest, NotFound …
 */
export async function previewFix(
  connection: KubeConnection,
  objects: readonly KubernetesManifest[],
  signal: AbortSignal,
): Promise<FixPreview> {
  const pathOf = apiPaths(async (path) => (await connection.request({ method: 'GET', path }, signal)).body);
  const previews: ObjectDiff[] = [];
  for (const object of objects) {
    const path = await pathOf(object);
    previews.push(await previewObject(connection, object, path, { signal, madeBefore: previews }));
  }
  return { objects: previews };
}

/**
 * Applies the objects of a preview in order, by server-side apply under our own field manager.
 * @param options.force takes over fields of other managers; set it only after the user has seen the conflict
 * @returns the names of the applied objects
 * @throws ClusterError Conflict if an object would differ from its preview, or if another manager owns changed fields
 * and `force` is not set. Objects that were already applied remain. Other errors are the same as for `previewFix`.
 */
export async function applyFix(
  connection: KubeConnection,
  { objects }: FixPreview,
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
      throw new ClusterError('Conflict', `${name} has changed since the preview.`, 'Preview the change again.');
    if (now.conflict !== undefined && !force)
      throw new ClusterError('Conflict', now.conflict, 'Change the object at its source, or take over the fields.');
    await connection.request(applyAsk(object, path, { force }), signal);
    applied.push(name);
  }
  return applied;
}

type PreviewOptions = { readonly signal: AbortSignal; readonly madeBefore: readonly ObjectDiff[] };

async function previewObject(
  connection: KubeConnection,
  object: KubernetesManifest,
  path: string,
  { signal, madeBefore }: PreviewOptions,
): Promise<ObjectDiff> {
  const name = nameOf(object);
  const before = await orUndefined(connection.request({ method: 'GET', path }, signal), 'NotFound');
  const beforeText = before === undefined ? '' : manifestYaml(withoutServerFields(before.body));
  const dry = { dryRun: true } as const;
  try {
    const refused = await conflictOf(connection.request(applyAsk(object, path, dry), signal));
    const after =
      typeof refused === 'string'
        ? await connection.request(applyAsk(object, path, { ...dry, force: true }), signal)
        : refused;
    const afterText = manifestYaml(withoutServerFields(after.body));
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
      unchecked: `The API server can't check this before the namespace ${namespace} exists.`,
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
 * Returns the field manager of a change. Each set of fields has its own manager, because server-side apply removes
 * fields that the same manager has set before and omits now. With one manager for all, a second fix of a node would
 * remove the label that the first has set.
 */
function managerOf(object: KubernetesManifest): string {
  const hash = createHash('sha256').update(fieldsOf(object).toSorted().join('\n')).digest('hex');
  return `lance-catalog-${hash.slice(0, 10)}`;
}

/** Returns the paths of all fields of an object. A list counts as one field. */
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

/** Returns the reply, or the server's message about other managers of the changed fields. */
async function conflictOf<T>(asked: Promise<T>): Promise<T | string> {
  try {
    return await asked;
  } catch (error) {
    if (isClusterError(error) && error.kind === 'Conflict') return conflictWords(error.what);
    throw error;
  }
}

/** Returns the list of managers and fields from the server's message, without the words before it. */
const conflictWords = (said: string): string => said.replace(/^.*?Apply failed with \d+ conflicts?: /s, '');
