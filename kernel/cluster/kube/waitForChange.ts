import { setTimeout as pause } from 'node:timers/promises';
import { loadLazy } from '#shared/loadLazy.ts';
import { stringAt } from '#shared/fields.ts';
import type { KubeConnection } from './kubeConnection.ts';

/** Milliseconds until the object is read again without an event, because the user may lack the right to watch. */
const patience = 2_000;

/**
 * Waits until an object may have changed since it was read.
 * @param path the path of the object in the API
 * @param object the object as it was read
 * @throws AbortError if the signal aborts
 */
export async function waitForChange(
  connection: KubeConnection,
  path: string,
  object: unknown,
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const own = AbortSignal.any([signal, ended.signal]);
  // Errors of the watch are ignored: then the wait ends by the time limit, and the next read reports the problem.
  const event = new Promise<void>((resolve) => {
    watchFor(connection, path, object, own, resolve).catch(() => {});
  });
  try {
    await Promise.race([pause(patience, undefined, { signal: own }), event]);
  } finally {
    ended.abort();
  }
}

async function watchFor(
  connection: KubeConnection,
  path: string,
  object: unknown,
  signal: AbortSignal,
  onEvent: () => void,
): Promise<void> {
  const { Watch } = await loadLazy(() => import('#cluster/kube/kubeClient.ts'));
  const watch = new Watch(await connection.kubeConfig(signal));
  const split = path.lastIndexOf('/');
  const query = {
    fieldSelector: `metadata.name=${decodeURIComponent(path.slice(split + 1))}`,
    resourceVersion: stringAt(object, 'metadata', 'resourceVersion'),
  };
  const controller = await watch.watch(path.slice(0, split), query, onEvent, () => {});
  if (signal.aborted) controller.abort();
  else signal.addEventListener('abort', () => controller.abort(), { once: true });
}
