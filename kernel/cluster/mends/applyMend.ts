import { createHash } from 'node:crypto';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import type { KubernetesManifest } from '#cluster/mend.ts';
import { manifestYaml } from '#cluster/report/manifestYaml.ts';
import { isRecord } from '#shared/records.ts';
import { apiPaths, nameOf } from './apiPaths.ts';
import { withoutServerParts } from './shownObject.ts';

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
