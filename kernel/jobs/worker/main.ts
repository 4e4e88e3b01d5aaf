import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RecordBatchStreamWriter } from '#arrow';
import { messageOf } from '#shared/errors.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { isRecord } from '#shared/records.ts';
import { readIpc } from '#client/ipcReader.ts';
import { createWrittenBytes } from '#client/ipcWriter.ts';
import { answerSchema, batchWork } from './batchWork.ts';
import type { RowFunction } from './computeRows.ts';
import { endWithParent } from '#client/endWithParent.ts';
import { firstLine } from './firstLine.ts';
import { takeOutput } from './quietOutput.ts';
import { exitCodes, failureLine } from './workerFailure.ts';
import { readWorkerOptions, type WorkerOptions } from './workerOptions.ts';

// The process that runs a TypeScript function: batches of its inputs come as an Arrow IPC stream, and one batch of values
// and errors goes out for each. Whoever starts it may be TypeScript or Python, on this machine or on a worker of Ray, so
// it is one file without packages that any Node from 20 on runs. README.md beside it says the protocol.

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

function end(code: number, kind: Parameters<typeof failureLine>[0], message: string): never {
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
    return end(exitCodes.unusable, 'Internal', messageOf(error));
  }
  // What is done sooner needs no thread that watches.
  endWithParent(1000);
  let compute: RowFunction;
  try {
    compute = await loadFunction(options);
  } catch (error) {
    return end(exitCodes.notLoaded, 'FunctionInvalid', `The function can't be loaded: ${messageOf(error)}`);
  }
  const send = async (bytes: Uint8Array): Promise<void> => {
    // Nobody reads any more, so nobody would read why.
    await write(bytes).catch(() => process.exit(exitCodes.unread));
  };
  try {
    await serve(options, compute, send);
  } catch (error) {
    return end(exitCodes.unusable, isJobError(error) ? error.kind : 'Internal', messageOf(error));
  }
  // What the function has left open, a connection for instance, would keep the process.
  process.exit(0);
}

await main();
