import type { ChildProcess as Child } from 'node:child_process';
import { createRequire, enableCompileCache } from 'node:module';
import { join, sep } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { dataFolder } from '#processes/userFolders.ts';
import type { CoreParts, startCore } from '#session/core/coreStart.ts';
import { lastWords } from '#session/core/lastWords.ts';
import { Outputs } from '#session/core/outputs.ts';
import { keepListening } from '#session/core/uncaught.ts';
import type { FromCore, PlacedFromCore, ToCore, WorkerStart } from '#session/threads/coreMessages.ts';
import { createLoadLock, lockedLoader } from '#session/threads/loadLock.ts';
import { createRoom, OutputSender } from '#session/threads/outputLimit.ts';
import { createRing, RingWriter } from '#session/threads/textRing.ts';
import { ownVersions } from './about.ts';
import { parseKernelArguments } from './arguments.ts';

// The process of one kernel: `kernel.cjs --pipe` for an editor, `kernel.cjs --connection-file=FILE` for Jupyter. The
// worker starts first and answers while the compiler, which takes most of a second, loads here. So this file imports
// little; all else is in another bundle, kernelCore.cjs, which Node keeps compiled.

/** A process that Node waits for before it ends, as it does for servers and timers. No types say so. */
type WithHandles = { readonly _getActiveHandles?: () => readonly unknown[] };

/**
 * Asks the programs that cells have started to end with the kernel, which would be left to nobody. Those that are to go on
 * were let go with `unref()`. Our own, a job for instance, know themselves what the end of a kernel is to them.
 */
function endChildren(): void {
  try {
    const { ChildProcess } = process.getBuiltinModule('node:child_process');
    const handles = (process as WithHandles)._getActiveHandles?.() ?? [];
    for (const handle of handles) if (handle instanceof ChildProcess && !isOurs(handle)) attempt(() => handle.kill());
  } catch {
    // A cell has replaced what is used here. The kernel ends all the same.
  }
}

const isOurs = ({ spawnargs }: Child): boolean =>
  spawnargs.some((argument) => argument.startsWith(import.meta.dirname + sep));

/** One that belongs to another person by now is not ours to end, and the others are. */
function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // It may not be ended by this person.
  }
}

const [asyncHooksFlag = ''] = kernelFlags();
const { wait } = Atomics;

function start(): void {
  const parsed = parseKernelArguments(process.argv.slice(2), process.env);
  if ('problem' in parsed) {
    lastWords(parsed.problem);
    process.exit(2);
  }
  const require = createRequire(join(import.meta.dirname, 'kernel.cjs'));
  const { version, typescript } = ownVersions(require);
  const workerData: WorkerStart = {
    front: parsed.front,
    canTerminate: process.execArgv.includes(asyncHooksFlag),
    typescript,
    version,
    // Of no interest to Jupyter, and looking for it takes a while.
    engineProblem: parsed.front.kind === 'pipe' ? engineProblem(require) : null,
    ring: createRing(),
    room: createRoom(),
    loads: createLoadLock(),
    heapLimit: getHeapStatistics().heap_size_limit,
  };
  const worker = new Worker(join(import.meta.dirname, 'kernelWorker.cjs'), { workerData });
  globalThis.lanceCatalogPartLoader = lockedLoader(workerData.loads);
  const send = (placed: PlacedFromCore) => worker.postMessage(placed);
  const ring = new RingWriter(workerData.ring, () => send(null));
  const post = (message: FromCore) => ring.post((place) => send({ message, place }));
  const room = new OutputSender(workerData.room);
  const outputs = new Outputs((parent, output) => room.send(output, () => post({ type: 'output', parent, output })));
  const exit = process.exit.bind(process);
  worker.on('error', (error) => {
    lastWords("The kernel's protocol thread failed", error);
    exit(1);
  });
  outputs.takeStreams(ring);
  process.exit = (code) => {
    const status = Number(code ?? process.exitCode ?? 0);
    try {
      const gate = new SharedArrayBuffer(4);
      post({ type: 'exiting', code: status, gate });
      // Code behind process.exit() must not run while the worker tells what happened.
      wait(new Int32Array(gate), 0, 0, 2000);
    } catch {
      // A cell has replaced what is used here. The process ends all the same.
    }
    return exit(status);
  };
  // Ctrl-C in a terminal reaches the whole group; the front decides what it means and sends a message.
  keepListening('SIGINT', () => {});
  const early: ToCore[] = [];
  let receive = (message: ToCore): void => void early.push(message);
  worker.on('message', (message: ToCore) => {
    if (message.type === 'exit') {
      endChildren();
      exit(message.code);
    }
    receive(message);
  });
  try {
    receive = loadCore(require)({ post, outputs, typescript });
    for (const message of early) receive(message);
  } catch (error) {
    lastWords('The kernel could not start', error);
    exit(1);
  }
}

function loadCore(require: NodeJS.Require): (parts: CoreParts) => (message: ToCore) => void {
  // Compiling TypeScript itself is a third of the start. In the person's own folder: a cache that others can write runs
  // their code.
  enableCompileCache(join(dataFolder(), 'compile-cache'));
  const bundle = './kernelCore.cjs';
  return (require(bundle) as { startCore: typeof startCore }).startCore;
}

/** Why `dir` can't work here, found without loading 200 MB; null when its package is in place. */
function engineProblem(require: NodeJS.Require): string | null {
  const libraries = ['gnu', 'musl', 'msvc'].map((kind) => `-${kind}`);
  try {
    const engine = createRequire(require.resolve('@lancedb/lancedb'));
    const platform = `@lancedb/lancedb-${process.platform}-${process.arch}`;
    if (['', ...libraries].some((kind) => isThere(engine, platform + kind))) return null;
    throw new Error(`There is no ${platform}.`);
  } catch {
    return 'The native engine (@lancedb/lancedb) is not installed for this platform; catalogs over rest work without it.';
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
