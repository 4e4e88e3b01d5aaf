import { Console } from 'node:console';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { RecordBatchStreamWriter } from '#arrow';
import { readIpc } from '#catalog/arrow/ipcReader.ts';
import { createWrittenBytes } from '#catalog/arrow/ipcWriter.ts';
import { endWithParent } from '#processes/running.ts';
import { messageOf } from '#shared/errors.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { isRecord } from '#shared/records.ts';
import { answerSchema, batchWork } from './batchWork.ts';
import type { RowFunction } from './computeRows.ts';
import { exitCodes, failureLine } from './failures.ts';
import { readWorkerOptions, type WorkerOptions } from './workerOptions.ts';

// The process that runs a TypeScript function: batches of its inputs come as an Arrow IPC stream, and one batch of values
// and errors goes out for each. Whoever starts it may be TypeScript or Python, on this machine or on a worker of Ray, so
// it is one file without packages that any Node from 20 on runs. README.md beside it says the protocol.

const lineFeed = 0x0a;

/**
 * Takes the first line off a stream, without its end, and leaves what follows to be read.
 * @returns what there is where the stream ends before the line does
 */
async function firstLine(stream: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  for (;;) {
    const piece = stream.read() as Buffer | null;
    if (piece === null) {
      if (stream.readableEnded) break;
      await Promise.race([once(stream, 'readable'), once(stream, 'end')]);
      continue;
    }
    const end = piece.indexOf(lineFeed);
    if (end < 0) {
      pieces.push(piece);
      continue;
    }
    pieces.push(piece.subarray(0, end));
    if (end + 1 < piece.length) stream.unshift(piece.subarray(end + 1));
    break;
  }
  return Buffer.concat(pieces).toString('utf8');
}

/**
 * Takes the process's output for batches alone: what the function prints, by whatever way, goes to the errors' stream
 * from here on. Has to be called before the function is loaded.
 * @returns writes bytes and waits until there is room for more
 */
function takeOutput(): (bytes: Uint8Array) => Promise<void> {
  const output = process.stdout;
  // Whoever writes is told; without a listener it would end the process first.
  output.on('error', () => {});
  Object.defineProperty(process, 'stdout', { value: process.stderr, configurable: true });
  globalThis.console = new Console(process.stderr, process.stderr);
  // For `import { stdout } from 'node:process'`.
  syncBuiltinESMExports();
  return (bytes) =>
    new Promise((written, failed) => {
      output.write(bytes, (error) => (error ? failed(error) : written()));
    });
}

/** @throws Error in a sentence */
async function loadFunction({ module }: WorkerOptions): Promise<RowFunction> {
  const loaded: unknown = await import(pathToFileURL(resolve(module)).href);
  const found = isRecord(loaded) ? loaded['default'] : undefined;
  if (typeof found === 'function') return found as RowFunction;
  throw new Error('Its default export is not a function.');
}

async function serve(options: WorkerOptions, compute: RowFunction, write: (bytes: Uint8Array) => Promise<void>) {
  const schema = answerSchema(options);
  const work = batchWork(options, compute, schema);
  const writer = new RecordBatchStreamWriter();
  const written = createWrittenBytes();
  writer.reset(written, schema);
  // Before anything is read: who started this knows by it that the function is there.
  await write(written.take());
  const { batches } = await readIpc(process.stdin, undefined, { keepEmpty: true });
  for await (const batch of batches) {
    writer.write(await work(batch));
    await write(written.take());
  }
  writer.finish();
  await write(written.take());
}

function exitWith(code: number, kind: Parameters<typeof failureLine>[0], message: string): never {
  process.stderr.write(failureLine(kind, message));
  process.exit(code);
}

async function main(): Promise<void> {
  const write = takeOutput();
  let options: WorkerOptions;
  try {
    const line = await firstLine(process.stdin);
    // It was started before anybody knew whether there is something to compute.
    if (line === '') return process.exit(0);
    options = readWorkerOptions(line);
  } catch (error) {
    return exitWith(exitCodes.unusable, 'Internal', messageOf(error));
  }
  // What is done sooner needs no thread that watches.
  endWithParent(1000);
  let compute: RowFunction;
  try {
    compute = await loadFunction(options);
  } catch (error) {
    return exitWith(exitCodes.notLoaded, 'FunctionInvalid', `The function can't be loaded: ${messageOf(error)}`);
  }
  const send = async (bytes: Uint8Array): Promise<void> => {
    // Nobody reads any more, so nobody would read why.
    await write(bytes).catch(() => process.exit(exitCodes.unread));
  };
  try {
    await serve(options, compute, send);
  } catch (error) {
    return exitWith(exitCodes.unusable, isJobError(error) ? error.kind : 'Internal', messageOf(error));
  }
  // What the function has left open, a connection for instance, would keep the process.
  process.exit(0);
}

await main();
