import { setTimeout as pause } from 'node:timers/promises';
import { loadPart } from '#shared/loadPart.ts';
import { textAt } from './fields.ts';
import type { KubeConnection } from './kubeConnection.ts';

/** Milliseconds after which it is looked at again in any case: a person may get what they may not watch. */
const patience = 2_000;

/**
 * Waits until an object has changed since it was read, or might have.
 * @param path of the object, as it was read by
 * @param object as it was read
 * @throws what the signal has for a reason
 */
export async function nextChange(
  connection: KubeConnection,
  path: string,
  object: unknown,
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const own = AbortSignal.any([signal, ended.signal]);
  // A watch that cannot be made or is cut says nothing: the time out of it does, and the next reading tells what is wrong.
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
  const { Watch } = await loadPart(() => import('#cluster/kube/kubeClient.ts'));
  const watch = new Watch(await connection.kubeConfig(signal));
  const split = path.lastIndexOf('/');
  const query = {
    fieldSelector: `metadata.name=${decodeURIComponent(path.slice(split + 1))}`,
    resourceVersion: textAt(object, 'metadata', 'resourceVersion'),
  };
  const controller = await watch.watch(path.slice(0, split), query, onEvent, () => {});
  if (signal.aborted) controller.abort();
  else signal.addEventListener('abort', () => controller.abort(), { once: true });
}
