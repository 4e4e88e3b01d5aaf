import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { holdFile, keptFile, type KeptKernel } from '#shared/protocol/kernelMessages.ts';
import type { KeepKernel } from '#shared/protocol/kernelMessages.ts';
import { isRunning } from '#processes/running.ts';

/** How often a kernel without a client looks whether its editor still runs. */
const editorMs = 1000;

export type Keeper = {
  isSecret(given: string): boolean;
  /** No client is connected: the kernel ends when none comes or holds it in time, or when the editor ends. */
  wait(): void;
  /** A client is there. */
  stopWaiting(): void;
  /** Takes the socket and the folder away. */
  close(): void;
};

/**
 * Keeps a kernel within reach of a window that reloads: listens on a socket in a folder of the person alone, or a named
 * pipe, and leaves its address and secret in the folder. The secret is for Windows, where others may open a named pipe.
 */
export function keepKernel(keep: KeepKernel, onConnection: (socket: Socket) => void, end: () => void): Keeper {
  const { folder, seconds, editor } = keep;
  const secret = randomBytes(32).toString('base64url');
  const address = process.platform === 'win32' ? `\\\\.\\pipe\\lance-kernel-${randomUUID()}` : join(folder, 's');
  const kept: KeptKernel = { address, secret, pid: process.pid };
  const server = createServer(onConnection);
  // Without a socket the kernel works as well; it is only lost when the window reloads, which is said then.
  server.on('error', () => {});
  // Written once the socket is there, so that who reads it can connect.
  server.listen(address, () => writeFileSync(join(folder, keptFile), JSON.stringify(kept), { mode: 0o600 }));
  let timers: NodeJS.Timeout[] = [];
  const expire = (): void => {
    const heldAt = statSync(join(folder, holdFile), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const left = heldAt + seconds * 1000 - Date.now();
    if (left > 0) timers.push(setTimeout(expire, left));
    else end();
  };
  const stopWaiting = (): void => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
  };
  return {
    isSecret: (given) => {
      const [left, right] = [Buffer.from(given), Buffer.from(secret)];
      return left.length === right.length && timingSafeEqual(left, right);
    },
    wait: () => {
      stopWaiting();
      timers = [setTimeout(expire, seconds * 1000), setInterval(() => isRunning(editor) || end(), editorMs)];
    },
    stopWaiting,
    close: () => {
      stopWaiting();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
