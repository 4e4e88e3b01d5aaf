import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSameSecret } from '#processes/isSameSecret.ts';
import { processFile } from '#processes/jobsFolder.ts';
import { replaceFile } from '#processes/files.ts';
import type { ControlMethods } from '#jobs/records/control.ts';
import { heartbeatMs, type Heartbeat } from '#jobs/records/heartbeat.ts';
import { encodeFrame, readFrames } from '#shared/protocol/frames.ts';
import { isString, shape } from '#shared/shape.ts';
import { Endpoint, type Methods } from '#shared/protocol/rpc.ts';

/** Maximum bytes of a socket path on every system; macOS has the lowest limit. */
const longestAddress = 100;

type ControlServer = {
  /** Closes all connections and removes the mark file, so that clients find no process of the job. */
  close(): void;
};

/**
 * Listens for clients that watch or cancel a job, and writes a mark file, so that the clients find this process. When
 * the process ends or crashes, the connection closes, so the clients notice it.
 * @throws an error of the file system if neither the job's folder nor the temporary folder supports a socket
 */
export async function openControlServer(folder: string, onCancel: () => void): Promise<ControlServer> {
  const secret = randomBytes(32).toString('base64url');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    answer(socket, secret, onCancel);
  });
  const { address, made } = await listen(server, folder);
  const mark: Heartbeat = { pid: process.pid, host: hostname(), address, secret };
  const path = join(folder, processFile);
  // The mark is written last, so that each reader of the mark can connect.
  replaceFile(path, JSON.stringify(mark), { isLasting: false });
  const timer = setInterval(() => touch(path), heartbeatMs);
  timer.unref();
  return {
    close: () => {
      clearInterval(timer);
      rmSync(path, { force: true });
      server.close();
      for (const socket of sockets) socket.destroy();
      if (made !== undefined) rmSync(made, { recursive: true, force: true });
    },
  };
}

/** `made`: a temporary folder to remove, if any. */
type Listening = { readonly address: string; readonly made?: string };

/** Listens in the job's folder if possible; long paths and some file systems do not allow it. */
async function listen(server: Server, folder: string): Promise<Listening> {
  if (process.platform === 'win32') return listening(server, `\\\\.\\pipe\\lance-job-${randomUUID()}`);
  const here = join(folder, 's');
  if (Buffer.byteLength(here) <= longestAddress) {
    // Removes a socket that a killed process may have left.
    rmSync(here, { force: true });
    try {
      return await listening(server, here);
    } catch {
      // The error is ignored: the file system does not support sockets, so the temporary folder is used.
    }
  }
  const made = mkdtempSync(join(tmpdir(), 'lance-job-'));
  return { ...(await listening(server, join(made, 's'))), made };
}

async function listening(server: Server, address: string): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  return { address };
}

function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // The error is ignored: the folder of the job was removed, but the job continues.
  }
}

const hasSecret = shape({ secret: isString });

function answer(socket: Socket, secret: string, onCancel: () => void): void {
  const check = (params: { readonly secret: string }): void => {
    if (!hasSecret(params) || !isSameSecret(params.secret, secret))
      throw new Error('The secret of this job does not match.');
  };
  const endpoint = new Endpoint<ControlMethods, Methods>((frame) => void socket.write(encodeFrame(frame)), {
    hello: (params) => {
      check(params);
      return null;
    },
    cancel: (params) => {
      check(params);
      onCancel();
      return null;
    },
  });
  readFrames(
    socket,
    (message) => void endpoint.receive(message),
    () => socket.destroy(),
  );
  socket.on('error', () => {});
  socket.on('close', () => endpoint.close());
}
