import { ClusterError } from '#cluster/errors.ts';
import { at, listAt, textAt } from '#cluster/kube/fields.ts';
import type { KubernetesManifest } from '#cluster/mend.ts';

/** Asks for a path and gives the JSON of the reply. */
export type Get = (path: string) => Promise<unknown>;

/**
 * Finds the path of an object by what the API server says of its kind, each group and version asked once.
 * @returns a function from an object to its path. @throws ClusterError NotFound for a kind that is not served,
 * InvalidRequest for an object of a namespace that names none
 */
export function apiPaths(get: Get): (object: KubernetesManifest) => Promise<string> {
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
export const nameOf = ({ kind, metadata: { name, namespace } }: KubernetesManifest): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
