// How a synchronous `prompt()` gets its answer. The main thread blocks on shared memory, so it receives no messages.
// The worker thread writes the answer into this memory and wakes the main thread.

/** The result of a question: the text, cancelled by the user, or the reason why it could not be asked. */
export type InputAnswer = { kind: 'value'; value: string } | { kind: 'cancelled' } | { kind: 'refused'; why: string };

const kinds = ['value', 'cancelled', 'refused'] as const;
const headerBytes = 8;
/**
 * Maximum size of an answer. The memory that an answer does not use costs nothing, because pages are allocated when
 * first written.
 */
const maxAnswerBytes = 1 << 20;

/** Header index of the state: 0 while undecided, else the index in `kinds` plus 1. */
const stateAt = 0;
const lengthAt = 1;

export const createInputSlot = (): SharedArrayBuffer => new SharedArrayBuffer(headerBytes + maxAnswerBytes);

/** Wakes the waiting thread with an answer. An answer that is too long becomes a refusal. */
export function answerInput(gate: SharedArrayBuffer, answer: InputAnswer): void {
  const text = answer.kind === 'value' ? answer.value : answer.kind === 'refused' ? answer.why : '';
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > maxAnswerBytes)
    return answerInput(gate, { kind: 'refused', why: 'The input is longer than 1 MB. Read a file instead.' });
  Buffer.from(gate).set(bytes, headerBytes);
  const header = new Int32Array(gate, 0, 2);
  Atomics.store(header, lengthAt, bytes.length);
  Atomics.store(header, stateAt, kinds.indexOf(answer.kind) + 1);
  Atomics.notify(header, stateAt);
}

/** Blocks until the other thread calls `answerInput`. */
export function waitForInput(gate: SharedArrayBuffer): InputAnswer {
  const header = new Int32Array(gate, 0, 2);
  // Waits in a loop, because `Atomics.wait` may return without a change of the state.
  while (Atomics.load(header, stateAt) === 0) Atomics.wait(header, stateAt, 0);
  const text = Buffer.from(gate).toString('utf8', headerBytes, headerBytes + Atomics.load(header, lengthAt));
  const kind = kinds[Atomics.load(header, stateAt) - 1];
  if (kind === 'value') return { kind, value: text };
  return kind === 'refused' ? { kind, why: text } : { kind: 'cancelled' };
}
