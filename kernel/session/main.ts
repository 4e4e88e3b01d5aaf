import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { registerDir } from '#engine/register.ts';
import { parseKernelArguments } from './arguments.ts';
import type { FromCore, ToCore, WorkerStart } from './coreMessages.ts';
import { createFlow } from './flow.ts';
import { Outputs } from './outputs.ts';

// The process of one kernel: `kernel.cjs --pipe` for an editor, `kernel.cjs --connection-file=FILE` for Jupyter. The
// worker starts first and answers while the compiler, which takes most of a second, loads here.

const asyncHooksFlag = '--no-force-async-hooks-checks';

function start(): void {
  const parsed = parseKernelArguments(process.argv.slice(2), process.env);
  if ('problem' in parsed) {
    process.stderr.write(`${parsed.problem}\n`);
    process.exit(2);
  }
  const require = createRequire(join(import.meta.dirname, 'kernel.cjs'));
  const { version: typescript } = require('typescript-6/package.json') as { version: string };
  const { version } = require('../package.json') as { version: string };
  const workerData: WorkerStart = {
    front: parsed.front,
    canTerminate: process.execArgv.includes(asyncHooksFlag),
    typescript,
    version,
    engineProblem: engineProblem(require),
    flow: createFlow(),
  };
  const worker = new Worker(join(import.meta.dirname, 'kernelWorker.cjs'), { workerData });
  const post = (message: FromCore) => worker.postMessage(message);
  const outputs = new Outputs((parent, output) => post({ type: 'output', parent, output }));
  const exit = process.exit.bind(process);
  worker.on('error', (error) => {
    process.stderr.write(`The kernel's protocol thread failed: ${error.stack ?? error.message}\n`);
    exit(1);
  });
  // Node's own streams until here: what fails before belongs to whoever started the process.
  outputs.takeStreams(workerData.flow);
  process.exit = (code) => {
    const gate = new SharedArrayBuffer(4);
    const status = Number(code ?? process.exitCode ?? 0);
    post({ type: 'exiting', code: status, gate });
    // Code behind process.exit() must not run while the worker tells what happened.
    Atomics.wait(new Int32Array(gate), 0, 0, 2000);
    return exit(status);
  };
  // Ctrl-C in a terminal reaches the whole group; the front decides what it means and sends a message.
  process.on('SIGINT', () => {});
  runCore(worker, outputs, exit, typescript).catch((error: unknown) => {
    process.stderr.write(`The kernel could not start: ${String(error)}\n`);
    process.exit(1);
  });
}

async function runCore(
  worker: Worker,
  outputs: Outputs,
  exit: (code: number) => never,
  typescript: string,
): Promise<void> {
  const early: ToCore[] = [];
  let receive = (message: ToCore): void => void early.push(message);
  worker.on('message', (message: ToCore) => {
    if (message.type === 'exit') exit(message.code);
    receive(message);
  });
  const { Core } = await import('./core.ts');
  registerDir();
  const core = new Core(worker, outputs);
  process.on('uncaughtException', (error) => core.reportUncaught(error));
  process.on('unhandledRejection', (error) => core.reportUncaught(error));
  receive = (message) => {
    if (message.type !== 'exit') core.receive(message);
  };
  for (const message of early) receive(message);
  worker.postMessage({ type: 'ready', typescript } satisfies FromCore);
  setImmediate(() => core.warmUp());
}

/** Why `dir` can't work here, found without loading 200 MB; null when its package is in place. */
function engineProblem(require: NodeJS.Require): string | null {
  try {
    require.resolve('@lancedb/lancedb');
    return null;
  } catch {
    return 'The native engine (@lancedb/lancedb) is not installed for this platform; catalogs over rest work without it.';
  }
}

start();
