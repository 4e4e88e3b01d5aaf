import type { ChildProcess as Child } from 'node:child_process';
import { createRequire, enableCompileCache } from 'node:module';
import { join, sep } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { dataFolder } from '#processes/userFolders.ts';
import type { CoreDeps, startCore } from '#session/core/coreStart.ts';
import { writeFatalError } from '#session/core/writeFatalError.ts';
import { Outputs } from '#session/core/outputs.ts';
import { listenPermanently } from '#session/core/uncaught.ts';
import type { FromCore, OrderedFromCore, ToCore, WorkerStart } from '#session/threads/coreMessages.ts';
import { createLoadLock, lockedLoader } from '#session/threads/loadLock.ts';
import { createOutputWindow, OutputSender } from '#session/threads/outputLimit.ts';
import { createRing, RingWriter } from '#session/threads/textRing.ts';
import { ownVersions } from './about.ts';
import { parseKernelArguments } from './arguments.ts';

// The kernel process, started by an editor (`kernel.cjs --pipe`) or by Jupyter (`kernel.cjs --connection-file=FILE`).
// It ends when the worker sends `exit`, when a cell calls `process.exit`, or when a thread fails. The worker thread
// starts first and answers clients while this thread loads the compiler; loading takes most of a second. So this file
// imports little; everything else is in kernelCore.cjs, whose compiled code Node.js caches.

/**
 * A method of `process` that is missing from Node's types. It returns the handles that keep the process alive; child
 * processes are among them.
 */
type WithHandles = { readonly _getActiveHandles?: () => readonly unknown[] };

/**
 * Kills the child processes that cells started, because the processes would outlive the kernel. Processes that a cell
 * detached with `unref()` continue. Processes of this product, such as jobs, also continue, because they notice the end
 * of the kernel themselves.
 */
function terminateChildProcesses(): void {
  try {
    const { ChildProcess } = process.getBuiltinModule('node:child_process');
    const handles = (process as WithHandles)._getActiveHandles?.() ?? [];
    for (const handle of handles) if (handle instanceof ChildProcess && !isOurs(handle)) attempt(() => handle.kill());
  } catch {
    // The error is ignored: a cell has replaced a builtin that this code uses, and the kernel ends anyway.
  }
}

const isOurs = ({ spawnargs }: Child): boolean =>
  spawnargs.some((argument) => argument.startsWith(import.meta.dirname + sep));

/** Ignores failures, so that the remaining processes are still killed. */
function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // The error is ignored: the user may lack the right to kill a process that has changed its user.
  }
}

const [asyncHooksFlag = ''] = kernelFlags();
const { wait } = Atomics;

function start(): void {
  const parsed = parseKernelArguments(process.argv.slice(2), process.env);
  if ('problem' in parsed) {
    writeFatalError(parsed.problem);
    process.exit(2);
  }
  const require = createRequire(join(import.meta.dirname, 'kernel.cjs'));
  const { version, typescript } = ownVersions(require);
  const workerData: WorkerStart = {
    front: parsed.front,
    canTerminate: process.execArgv.includes(asyncHooksFlag),
    typescript,
    version,
    // Only a kernel of an editor checks the engine, because the check takes a while and only an editor reads the
    // result.
    engineProblem: parsed.front.kind === 'pipe' ? engineProblem(require) : null,
    ring: createRing(),
    room: createOutputWindow(),
    loads: createLoadLock(),
    heapLimit: getHeapStatistics().heap_size_limit,
  };
  const worker = new Worker(join(import.meta.dirname, 'kernelWorker.cjs'), { workerData });
  globalThis.lanceCatalogPartLoader = lockedLoader(workerData.loads);
  const send = (placed: OrderedFromCore) => worker.postMessage(placed);
  const ring = new RingWriter(workerData.ring, () => send(null));
  const post = (message: FromCore) => ring.post((place) => send({ message, place }));
  const room = new OutputSender(workerData.room);
  const outputs = new Outputs((parent, output) => room.send(output, () => post({ type: 'output', parent, output })));
  const exit = process.exit.bind(process);
  worker.on('error', (error) => {
    writeFatalError("The kernel's protocol thread failed", error);
    exit(1);
  });
  outputs.takeStreams(ring);
  process.exit = (code) => {
    const status = Number(code ?? process.exitCode ?? 0);
    try {
      const gate = new SharedArrayBuffer(4);
      post({ type: 'exiting', code: status, gate });
      // Blocks this thread until the worker has reported the end to clients, because code after `process.exit()` must
      // not run.
      wait(new Int32Array(gate), 0, 0, 2000);
    } catch {
      // The error is ignored: a cell has replaced a builtin that this code uses, and the process ends anyway.
    }
    return exit(status);
  };
  // Ctrl-C in a terminal signals the whole process group. The kernel ignores the signal, because the client decides
  // what Ctrl-C means and sends a message.
  listenPermanently('SIGINT', () => {});
  const early: ToCore[] = [];
  let receive = (message: ToCore): void => void early.push(message);
  worker.on('message', (message: ToCore) => {
    if (message.type === 'exit') {
      terminateChildProcesses();
      exit(message.code);
    }
    receive(message);
  });
  try {
    receive = loadCore(require)({ post, outputs, typescript });
    for (const message of early) receive(message);
  } catch (error) {
    writeFatalError('The kernel could not start', error);
    exit(1);
  }
}

function loadCore(require: NodeJS.Require): (parts: CoreDeps) => (message: ToCore) => void {
  // Compiling TypeScript takes a third of the start time. The cache is in the user's own folder, because any process
  // that can write it can run code in the kernel.
  enableCompileCache(join(dataFolder(), 'compile-cache'));
  const bundle = './kernelCore.cjs';
  return (require(bundle) as { startCore: typeof startCore }).startCore;
}

/**
 * Returns why `dir` catalogs can't work here, or null if they can. The engine has 200 MB, so it is only resolved and
 * not loaded.
 */
function engineProblem(require: NodeJS.Require): string | null {
  const libraries = ['gnu', 'musl', 'msvc'].map((kind) => `-${kind}`);
  try {
    const engine = createRequire(require.resolve('@lancedb/lancedb'));
    const platform = `@lancedb/lancedb-${process.platform}-${process.arch}`;
    if (['', ...libraries].some((kind) => isThere(engine, platform + kind))) return null;
    throw new Error(`There is no ${platform}.`);
  } catch {
    return 'The native engine (@lancedb/lancedb) is not installed for this platform; catalogs over REST work without it.';
  }
}

function isThere(from: NodeJS.Require, name: string): boolean {
  try {
    from.resolve(name);
    return true;
  } catch {
    return false;
  }
}

start();
