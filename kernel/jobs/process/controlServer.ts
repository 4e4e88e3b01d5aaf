import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { processFile } from '#processes/jobsFolder.ts';
import { replaceFile } from '#processes/files.ts';
import type { ControlMethods } from '#jobs/records/control.ts';
import { touchMs, type ProcessMark } from '#jobs/records/processMark.ts';
import { encodeFrame, readFrames } from '#shared/protocol/frames.ts';
import { isText, shape } from '#shared/jobs/jobShapes.ts';
import { Endpoint, type Methods } from '#shared/protocol/rpc.ts';

/** What a path of a socket may have on every system; macOS has the least room. */
const longestAddress = 100;

type ControlServer = {
  /** Takes the socket and the mark away: from then on the job has no process. */
  close(): void;
};

/**
 * Listens for whoever looks after a job, and leaves a mark in its folder so that they find it. Somebody who is connected
 * learns of the end of this process from the end of the connection, however it comes.
 * @throws an error of the file system, where neither the folder nor the system's folder for passing files takes a socket
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
  const mark: ProcessMark = { pid: process.pid, host: hostname(), address, secret };
  const path = join(folder, processFile);
  // Written once the socket is there, so that who reads it can connect.
  replaceFile(path, JSON.stringify(mark), { isLasting: false });
  const timer = setInterval(() => touch(path), touchMs);
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

/** Where it listens, and the folder that was made for it. */
type Listening = { readonly address: string; readonly made?: string };

/** In the job's folder where it can be, which a long path and some file systems do not allow. */
async function listen(server: Server, folder: string): Promise<Listening> {
  if (process.platform === 'win32') return listening(server, `\\\\.\\pipe\\lance-job-${randomUUID()}`);
  const here = join(folder, 's');
  if (Buffer.byteLength(here) <= longestAddress) {
    // Of a process that was killed.
    rmSync(here, { force: true });
    try {
      return await listening(server, here);
    } catch {
      // A mount without sockets.
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
    // The folder was taken away. The job goes on all the same.
  }
}

const hasSecret = shape({ secret: isText });

function answer(socket: Socket, secret: string, onCancel: () => void): void {
  const check = (params: { readonly secret: string }): void => {
    if (!hasSecret(params) || !isSame(params.secret, secret)) throw new Error('That is not the secret of this job.');
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

function isSame(given: string, wanted: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}
