import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { keepAliveFile, type KeepKernel, keptFile, type KeptKernel } from '#shared/protocol/kernelMessages.ts';
import { isSameSecret } from '#processes/isSameSecret.ts';
import { isProcessRunning } from '#processes/running.ts';

/** How often a kernel without a client checks that its editor process still runs. */
const editorMs = 1000;

export type KeptKernelServer = {
  isSecret(given: string): boolean;
  /**
   * Starts waiting for a client. The kernel ends when the editor ends, or if for `seconds` no client connects and the
   * editor does not update the `hold` file.
   */
  wait(): void;
  stopWaiting(): void;
  close(): void;
};

/**
 * Keeps a kernel available to a window that reloads: listens on a socket in a private folder, or on a named pipe, and
 * writes its address and a secret into the folder. The secret is for Windows, where other users may open the pipe.
 */
export function serveKeptKernel(
  keep: KeepKernel,
  onConnection: (socket: Socket) => void,
  end: () => void,
): KeptKernelServer {
  const { folder, seconds, editor } = keep;
  const secret = randomBytes(32).toString('base64url');
  const address = process.platform === 'win32' ? `\\\\.\\pipe\\lance-kernel-${randomUUID()}` : join(folder, 's');
  const kept: KeptKernel = { address, secret, pid: process.pid };
  const server = createServer(onConnection);
  // An error of the server is ignored: without a socket the kernel works, but is lost when the window reloads. The
  // client then reports the loss.
  server.on('error', () => {});
  // The file is written after the socket is listening, so that each reader of the file can connect.
  server.listen(address, () => writeFileSync(join(folder, keptFile), JSON.stringify(kept), { mode: 0o600 }));
  let timers: NodeJS.Timeout[] = [];
  const expire = (): void => {
    const heldAt = statSync(join(folder, keepAliveFile), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const left = heldAt + seconds * 1000 - Date.now();
    if (left > 0) timers.push(setTimeout(expire, left));
    else end();
  };
  const stopWaiting = (): void => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
  };
  return {
    isSecret: (given) => isSameSecret(given, secret),
    wait: () => {
      stopWaiting();
      timers = [setTimeout(expire, seconds * 1000), setInterval(() => isProcessRunning(editor) || end(), editorMs)];
    },
    stopWaiting,
    close: () => {
      stopWaiting();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
