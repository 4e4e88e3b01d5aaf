// The engine process: serves directories of tables on a private socket. The parent process starts it, and it ends when
// the parent closes stdin.
import { chmodSync, unlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { EngineHandshake } from '#catalog/engineHandshake.ts';
import { OpenCatalogs } from '#engine/server/openCatalogs.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { type OpenStoreFiles, registerStoreFiles } from '#engine/dir/files/storeFiles.ts';
import { engineProblem, engineVersion } from './native.ts';
import { createEngineServer } from '#engine/server/engineServer.ts';
import type { ContractHandler } from '#engine/server/server.ts';

const log = (line: string): void => void process.stderr.write(`${line}\n`);

type Start = { secret: string; socket: string; memoryLimit: number | undefined; storeFiles: string | undefined };

/**
 * Parses the first line on stdin. It contains the socket to listen on and the secret that callers must send. It can
 * also contain the memory in bytes at which this process must end itself, and the path of the module that reads files
 * of object stores.
 */
function parseStart(line: string): Start {
  const value: unknown = JSON.parse(line);
  if (isRecord(value)) {
    const { secret, socket, memoryLimit, storeFiles } = value;
    const isLimit = memoryLimit === undefined || typeof memoryLimit === 'number';
    const isModule = storeFiles === undefined || typeof storeFiles === 'string';
    const isPlace = typeof secret === 'string' && secret.length >= 16 && typeof socket === 'string' && socket !== '';
    if (isPlace && isLimit && isModule) return { secret, socket, memoryLimit, storeFiles };
  }
  throw new CatalogError('InvalidInput', 'The first line on stdin is not {"secret","socket"}.', 'The parent sends it.');
}

/**
 * Kills this process when it uses more memory than `limit`. Needed on systems that can't limit the memory of a process.
 * A separate thread watches, because the engine keeps the main thread busy while memory grows by gigabytes a second.
 */
function watchMemory(limit: number): void {
  const watch = `
    const { workerData: limit } = require('node:worker_threads');
    setInterval(() => {
      if (process.memoryUsage.rss() > limit) process.kill(process.pid, 'SIGKILL');
    }, ${watchMs});`;
  new Worker(watch, { eval: true, workerData: limit }).unref();
}

/**
 * Lets this process read files of object stores with the module at `path`. The module contains a client for stores, so
 * it is loaded only when the first file is read.
 */
function useStoreFiles(path: string): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parent names a bundle of this product
  const load = () => createRequire(path)(path) as { openStoreFiles: OpenStoreFiles };
  registerStoreFiles((...store) => load().openStoreFiles(...store));
}

/** Milliseconds between two readings of the memory. One reading takes at most 0.4 ms. */
const watchMs = 20;

/**
 * How long, in ms, running writes may take to finish at exit. The parent waits one second longer before it kills this
 * process.
 */
const grace = 2000;

type Running = { socket: string; contract: ContractHandler };

async function start(line: string, onListen: (running: Running) => void): Promise<void> {
  const { secret, socket, memoryLimit, storeFiles } = parseStart(line);
  if (memoryLimit !== undefined) watchMemory(memoryLimit);
  if (storeFiles !== undefined) useStoreFiles(storeFiles);
  const catalogs = new OpenCatalogs((root, storageOptions) =>
    openDir({ root, ...(storageOptions && { storageOptions: { ...storageOptions } }) }),
  );
  const { server, contract } = createEngineServer({
    secret,
    log,
    catalogOf: ({ root, storageOptions }) => catalogs.get(root, storageOptions),
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  onListen({ socket, contract });
  if (process.platform !== 'win32') chmodSync(socket, 0o600);
  const problem = await engineProblem();
  const handshake: EngineHandshake = {
    protocol: 1,
    pid: process.pid,
    node: process.versions.node,
    napi: Number(process.versions['napi'] ?? 0),
    engine: problem === null ? engineVersion : null,
    problem,
  };
  process.stdout.write(`${JSON.stringify(handshake)}\n`);
}

function run(): void {
  let running: Running | undefined;
  let started = false;
  let ending = false;
  const end = async (code: number): Promise<never> => {
    if (running && !ending) {
      ending = true;
      // Finishes running writes, because after a broken write a client would have to find out how much was written.
      await Promise.race([running.contract.drain('writes'), setTimeout(grace)]);
      removeSocket(running.socket);
    }
    process.exit(code);
  };
  const lines = createInterface({ input: process.stdin });
  lines.once('line', (line) => {
    started = true;
    start(line, (listening) => {
      running = listening;
    }).catch((error: unknown) => {
      log(messageOf(error));
      void end(1);
    });
  });
  // The parent holds the other end of stdin: when it closes, for whatever reason, this process is no longer needed.
  lines.once('close', () => {
    if (!started) log('stdin closed before the parent sent the socket');
    void end(started ? 0 : 1);
  });
  // A second signal exits without waiting.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end(0));
}

function removeSocket(socket: string): void {
  if (process.platform === 'win32') return;
  try {
    unlinkSync(socket);
  } catch {
    // An error is ignored, because the parent may already have removed the folder.
  }
}

run();
