import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { watchParent } from '#processes/running.ts';
import { readStreamLabel } from '#session/core/outputs.ts';
import { crashNotePath, readCrashNote } from '#session/crash/crashFolder.ts';
import { CrashKeeper } from '#session/crash/crashKeeper.ts';
import { createDebugger, type NotebookDebugger } from '#session/debug/debugger.ts';
import { openHistory } from '#session/history/history.ts';
import { openPipe } from '#session/pipe/pipeWire.ts';
import { redirectWarnings } from '#session/start/warnings.ts';
import type { FromCore, OrderedFromCore, ToCore, Wire, WorkerStart } from '#session/threads/coreMessages.ts';
import { createTerminationLock } from '#session/threads/loadLock.ts';
import { OutputReceiver } from '#session/threads/outputLimit.ts';
import { RingReader } from '#session/threads/textRing.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { messageOf } from '#shared/errors.ts';
import { crashSentence } from '#shared/protocol/crashNote.ts';
import type { CellSettings, KernelHandshake } from '#shared/protocol/kernelMessages.ts';
import { CellQueue } from './cellQueue.ts';
import { createInterrupter, type Interrupter } from './interrupt.ts';

// The worker thread, which handles all communication. session/main.ts starts the thread, and it ends with the process.
// The thread never runs code of a cell, so messages, the heartbeat and interrupts get through while the main thread is
// in an endless loop.

/** Returns an interrupter that also ends code paused in the debugger. Breakpoints are disabled during the interrupt. */
const interruptThroughDebugger = (
  interrupter: Interrupter,
  debug: Pick<NotebookDebugger, 'stepAside' | 'isPaused'>,
): Interrupter => ({
  ...interrupter,
  terminate() {
    if (debug.isPaused) void debug.stepAside();
    else interrupter.terminate();
  },
  async interrupt(ping, ask, isOver) {
    const stopAgain = await debug.stepAside();
    try {
      return await interrupter.interrupt(ping, ask, isOver);
    } finally {
      stopAgain();
    }
  },
});

/** Bytes that may wait in the connection before printing is slowed down. */
const maxBacklog = 8 * 1024 * 1024;
const backlogMs = 5;
/**
 * Polling interval while text arrives. Polling is used because waking this thread for each line costs more than
 * printing the line.
 */
const readMs = 2;
/**
 * Time for the connections to close, and then again the same time for the main thread to exit, before the process is
 * killed.
 */
const exitMs = 500;

const port = parentPort;
if (!port) throw new Error('The kernel worker must run as a worker thread.');
const given = workerData as WorkerStart;
const stopper = createInterrupter(given.canTerminate, createTerminationLock(given.loads));
let isReady = () => {};
const ready = new Promise<void>((resolve) => (isReady = resolve));
const debug = createDebugger({
  isAvailable: stopper.canTerminate,
  cellOf: (count) => queue.cellOf(count),
  interrupt: () => queue.interrupt(),
  ready,
});
const interrupter = interruptThroughDebugger(stopper, debug);
const crashes = new CrashKeeper(crashNotePath(given.front), given.heapLimit);
const post = (message: ToCore) => {
  if (message.type === 'ask' && debug.isPaused) return refuse(message.id);
  port.postMessage(message);
  // The note is written after the message is sent, so that the main thread compiles while this thread writes.
  if (message.type === 'execute') crashes.begin(message.id, message.count, message.code);
};

/**
 * Refuses a request while code is paused in the debugger, because the main thread would answer only after the client
 * has stopped waiting.
 */
const refuse = (id: string) => {
  const message = 'The notebook is paused in the debugger. Continue or stop debugging, then try again.';
  queueMicrotask(() => queue.receive({ type: 'answer', id, answer: { kind: 'failed', message } }));
};
const queue = new CellQueue(post, interrupter, openHistory(given.front));
let wire: Wire | undefined;
let isEnding = false;

const kill = () => process.kill(process.pid, 'SIGKILL');

async function close(): Promise<void> {
  // The debugger is detached, because with a debug session the process would wait for its debugger at exit.
  debug.detach();
  await Promise.race([wire?.close(), new Promise((resolve) => setTimeout(resolve, exitMs))]);
  interrupter.dispose();
}

/**
 * Ends the process. The connections are closed first, because native sockets that are open at the exit abort the
 * process.
 */
function end(code: number): void {
  if (isEnding) return;
  isEnding = true;
  crashes.close();
  setTimeout(kill, exitMs * 2);
  interrupter.terminate();
  void close().then(() => post({ type: 'exit', code }));
}

/** Handles `process.exit`; the main thread blocks on `gate` until the worker has closed the connections. */
function leave({ code, gate }: Extract<FromCore, { type: 'exiting' }>): void {
  isEnding = true;
  crashes.close();
  const evalue = `The cell called process.exit(${code}), so the kernel has ended. To end only the cell, throw an error.`;
  queue.fail({ ename: 'KernelExit', evalue, traceback: [evalue] });
  void close().then(() => {
    const lock = new Int32Array(gate);
    Atomics.store(lock, 0, 1);
    return Atomics.notify(lock, 0);
  });
}

redirectWarnings();

const room = new OutputReceiver(given.room);
const ring = new RingReader(given.ring, (label, text) => {
  const { name, cell } = readStreamLabel(label);
  queue.receive({ type: 'output', parent: cell, output: { type: 'stream', content: { name, text } } });
});

let again: NodeJS.Timeout | undefined;

// Passes printed text on to clients. While the connection has much to send, text stays in the ring and no room is
// reported, so that printing code has to wait.
function readPrinted(): void {
  again = undefined;
  if ((wire?.backlog() ?? 0) > maxBacklog) {
    again = setTimeout(readPrinted, backlogMs);
    return;
  }
  room.makeRoom();
  if (ring.drain()) again = setTimeout(readPrinted, readMs);
  else {
    ring.rest();
    // Drains the ring again, because text that was printed in between has not woken this thread.
    ring.drain();
  }
}

port.on('message', (placed: OrderedFromCore) => {
  if (placed) ring.pass(placed.place, () => handle(placed.message));
  if (!again) readPrinted();
});

function handle(message: FromCore): void {
  switch (message.type) {
    case 'ready':
      isReady();
      return interrupter.mayStop();
    case 'done':
      crashes.done(message.id, message.names);
      return queue.receive(message);
    case 'exiting':
      return leave(message);
    case 'output':
      room.take();
      return queue.receive(message);
    case 'answer':
    case 'input':
    case 'connection':
    case 'view':
    case 'comm':
    case 'commDone':
    case 'pong':
      return queue.receive(message);
  }
}

const handshake = (): KernelHandshake => ({
  protocol: 1,
  pid: process.pid,
  node: process.versions.node,
  typescript: given.typescript,
  canInterrupt: interrupter.canTerminate,
  engineProblem: given.engineProblem,
  crashNote: crashes.path,
});
const start = (
  catalog: CatalogConfig | null,
  { typeCheck, language, hasPanels = false }: CellSettings & { hasPanels?: boolean },
) => {
  if (typeCheck !== undefined || language !== undefined)
    post({ type: 'settings', ...(typeCheck && { typeCheck }), ...(language && { language }) });
  post({ type: 'start', catalog, hasPanels });
};

async function open(): Promise<Wire> {
  if (given.front.kind === 'pipe') return openPipe({ queue, debug, handshake, start, end });
  watchParent(process.env, () => end(0));
  const left = readCrashNote(crashes.path);
  if (left) queue.remarkNext(`${crashSentence(left)}\n`);
  // The Jupyter code is loaded only here, because an editor's kernel needs no ZeroMQ and may not have it.
  const { openJupyter } = await import('#session/jupyter/jupyterWire.ts');
  start(given.front.catalog, given.front);
  return openJupyter({ queue, debug, given, front: given.front, end });
}

async function begin(): Promise<void> {
  try {
    wire = await open();
  } catch (error) {
    // The message is written directly to the descriptor, because the streams of a worker go through the main thread.
    writeSync(2, `Can't open the connection of the kernel: ${messageOf(error)}\n`);
    end(1);
  }
}

void begin();
