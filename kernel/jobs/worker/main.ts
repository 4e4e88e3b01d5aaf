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
import { exitCodes, failureLine } from './rowFailures.ts';
import { readWorkerOptions, type WorkerOptions } from './workerOptions.ts';

// The process that runs a TypeScript function over batches from stdin. TypeScript or Python starts it, on this machine
// or on a Ray worker, so it is one file that needs no packages and runs on Node.js from version 20. It ends when its
// input or its parent ends. Protocol: README.md.

const lineFeed = 0x0a;

/**
 * Reads the first line of a stream and leaves the rest unread.
 * @returns the incomplete line if the stream ends before a line feed
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
 * Reserves stdout for batches: other output goes to stderr. Call it before the function is loaded.
 * @returns a function that writes bytes and waits until they are flushed
 */
function redirectStdout(): (bytes: Uint8Array) => Promise<void> {
  const output = process.stdout;
  // The error is ignored here, because `write` reports it. Without a listener the process would end.
  output.on('error', () => {});
  Object.defineProperty(process, 'stdout', { value: process.stderr, configurable: true });
  globalThis.console = new Console(process.stderr, process.stderr);
  // Needed for `import { stdout } from 'node:process'`.
  syncBuiltinESMExports();
  return (bytes) =>
    new Promise((written, failed) => {
      output.write(bytes, (error) => (error ? failed(error) : written()));
    });
}

/** @throws Error if the module has no default function */
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
  // The schema is sent before any batch, because it shows that the function is loaded.
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
  const write = redirectStdout();
  let options: WorkerOptions;
  try {
    const line = await firstLine(process.stdin);
    // Without options there is nothing to compute, so the process ends. This happens because workers are started early.
    if (line === '') return process.exit(0);
    options = readWorkerOptions(line);
  } catch (error) {
    return exitWith(exitCodes.unusable, 'Internal', messageOf(error));
  }
  // The thread that watches the parent starts after this delay in milliseconds, because short runs do not need it.
  endWithParent(1000);
  let compute: RowFunction;
  try {
    compute = await loadFunction(options);
  } catch (error) {
    return exitWith(exitCodes.notLoaded, 'FunctionInvalid', `The function can't be loaded: ${messageOf(error)}`);
  }
  const send = async (bytes: Uint8Array): Promise<void> => {
    // If writing fails, the reader has ended, so no process would read an error.
    await write(bytes).catch(() => process.exit(exitCodes.unread));
  };
  try {
    await serve(options, compute, send);
  } catch (error) {
    return exitWith(exitCodes.unusable, isJobError(error) ? error.kind : 'Internal', messageOf(error));
  }
  // The process exits explicitly, because handles that the function left open would keep it alive.
  process.exit(0);
}

await main();
