import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunContext, Runner } from '#jobs/runners/runner.ts';

export const fragments = 10;
export const rowsOfFragment = 100;

/** The environment variable with the path of a file. The word in the file controls the runner. */
export const gateVariable = 'COUNTING_GATE';

/**
 * Stands in for a runner that computes. It counts fragments up to the number in the gate's file, and stores its count
 * beside the record. Tests of processes and records need a runner that stops where the test wants.
 */
export const countingRunnerStandIn: Runner = {
  name: 'local',
  availability: () => Promise.resolve({ isPossible: true, reason: 'It counts.' }),
  run,
};

async function run({ emit, log, folder, signal, request, kept }: RunContext): Promise<void> {
  const gate = process.env[gateVariable] ?? '';
  const done = join(folder, 'counted');
  const before = existsSync(done) ? readFileSync(done, 'utf8').length : 0;
  emit({
    kind: 'planned',
    readVersion: 1,
    fragments: fragments - before,
    rows: (fragments - before) * rowsOfFragment,
    committedFragments: before,
    checkpointedFragments: 0,
    reusedRows: 0,
  });
  kept.set('attempts', String(Number(kept.get('attempts') ?? 0) + 1));
  let counted = 0;
  while (before + counted < fragments) {
    const word = readFileSync(gate, 'utf8');
    if (word === 'throw') throw new Error('The stand-in was told to fail.');
    if (word === 'return') return;
    if (word === 'uncaught')
      setImmediate(() => {
        throw new Error('Nobody waits for this.');
      });
    if (word === 'tell') {
      // Log the whole request with its secrets, because an engine may quote it in an error or a log.
      log(`connecting with ${JSON.stringify(request)}\n`);
      emit({ kind: 'notice', text: `connected with ${JSON.stringify(request.table)}` });
    }
    if (word === 'stuck') for (;;);
    if (word !== 'deaf') signal.throwIfAborted();
    if (!(Number(word) > before + counted)) {
      await sleep(20);
      continue;
    }
    appendFileSync(done, '.');
    counted++;
    const fragment = before + counted - 1;
    log(`fragment ${fragment}\n`);
    emit({
      kind: 'progress',
      rows: counted * rowsOfFragment,
      errors: 0,
      computeSeconds: counted,
      readSeconds: 0,
      writeSeconds: 0,
    });
    emit({ kind: 'fragment', fragment, computedRows: rowsOfFragment, reusedRows: 0, bytesWritten: 400, seconds: 0.1 });
    emit({ kind: 'committed', fragments: [fragment], version: 2 + fragment, milliseconds: 3 });
  }
  emit({
    kind: 'succeeded',
    rows: counted * rowsOfFragment,
    errors: 0,
    skipped: 0,
    bytesWritten: 400 * counted,
    version: 1 + fragments,
  });
}
