import { ClusterError } from '#cluster/errors.ts';
import { wait } from '#processes/wait.ts';

/** @throws ClusterError Aborted */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(milliseconds, signal);
  } catch (cause) {
    throw new ClusterError('Aborted', 'Waiting for Ray was canceled.', '', { cause });
  }
}
