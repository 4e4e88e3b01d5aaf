// How a synchronous `prompt()` gets its answer: the main thread sleeps at shared memory, so no message reaches it, and the
// worker writes the answer there and wakes it.

/** What came of asking a person: the text, nothing as they cancelled, or why nobody could be asked. */
export type InputAnswer = { kind: 'value'; value: string } | { kind: 'cancelled' } | { kind: 'refused'; why: string };

const kinds = ['value', 'cancelled', 'refused'] as const;
const headerBytes = 8;
/** Room for the answer, a line that a person typed. Memory that is not written to costs nothing. */
const maxAnswerBytes = 1 << 20;

/** In the header: 0 while nothing is decided, else one more than the index in `kinds`. */
const stateAt = 0;
const lengthAt = 1;

export const createGate = (): SharedArrayBuffer => new SharedArrayBuffer(headerBytes + maxAnswerBytes);

/** Lets the waiting thread go on with an answer. An answer that does not fit becomes a refusal that says so. */
export function openGate(gate: SharedArrayBuffer, answer: InputAnswer): void {
  const text = answer.kind === 'value' ? answer.value : answer.kind === 'refused' ? answer.why : '';
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > maxAnswerBytes)
    return openGate(gate, { kind: 'refused', why: 'The answer is longer than a megabyte. Read a file instead.' });
  Buffer.from(gate).set(bytes, headerBytes);
  const header = new Int32Array(gate, 0, 2);
  Atomics.store(header, lengthAt, bytes.length);
  Atomics.store(header, stateAt, kinds.indexOf(answer.kind) + 1);
  Atomics.notify(header, stateAt);
}

/** Sleeps until `openGate` was called on the other thread. */
export function waitAtGate(gate: SharedArrayBuffer): InputAnswer {
  const header = new Int32Array(gate, 0, 2);
  // More than once, for a wait may end without a cause.
  while (Atomics.load(header, stateAt) === 0) Atomics.wait(header, stateAt, 0);
  const text = Buffer.from(gate).toString('utf8', headerBytes, headerBytes + Atomics.load(header, lengthAt));
  const kind = kinds[Atomics.load(header, stateAt) - 1];
  if (kind === 'value') return { kind, value: text };
  return kind === 'refused' ? { kind, why: text } : { kind: 'cancelled' };
}
