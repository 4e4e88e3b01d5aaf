import { ClusterError } from '#cluster/errors.ts';
import { isRecord } from '#shared/records.ts';

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
export function withoutServerParts(object: unknown): unknown {
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
