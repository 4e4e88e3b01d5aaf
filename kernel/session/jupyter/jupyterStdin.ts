import { randomUUID } from 'node:crypto';
import type { InputAnswer } from '#session/input/gate.ts';
import type { InputQuestion } from '#session/input/openQuestions.ts';
import type { Header, JupyterMessage } from './jupyterFrames.ts';

/** Whom to ask: the client that ran the cell, by its ZeroMQ identity, and the header of its request. */
export type Asker = { identities: readonly Buffer[]; header: Header };

type Question = InputQuestion & { asker: Asker; signal: AbortSignal };
/** One client's questions; the first is the one it was asked. */
type Line = { questions: Question[]; messageId: string | undefined };

type StdinParts = {
  /** Sends an `input_request` under a message id. `false` when the client has no stdin channel. */
  send: (asker: Asker, content: { prompt: string; password: boolean }, messageId: string) => Promise<boolean>;
  answer: (id: string, answer: InputAnswer) => void;
};

const unreachable =
  'This cell asks for input, but the program that ran it has no input channel. Give the value in code instead.';

/**
 * The stdin channel. A reply need not say which request it is for, so each client is asked one question at a time, and a
 * reply that comes when nothing is asked is dropped.
 */
export class JupyterStdin {
  readonly #parts: StdinParts;
  readonly #lines = new Map<string, Line>();

  constructor(parts: StdinParts) {
    this.#parts = parts;
  }

  ask(question: InputQuestion, asker: Asker, signal: AbortSignal): void {
    const key = keyOf(asker.identities);
    const line = this.#lines.get(key) ?? { questions: [], messageId: undefined };
    this.#lines.set(key, line);
    const entry: Question = { ...question, asker, signal };
    line.questions.push(entry);
    signal.addEventListener('abort', () => this.#remove(key, line, entry), { once: true });
    if (line.questions.length === 1) void this.#askFirst(key, line);
  }

  /** Takes a message of the stdin channel. */
  receive({ header, identities, parent, content }: JupyterMessage): void {
    if (header.msg_type !== 'input_reply') return;
    const key = keyOf(identities);
    const line = this.#lines.get(key);
    const [question] = line?.questions ?? [];
    if (!line || !question || line.messageId === undefined) return;
    // Of a question that was withdrawn since; clients that name none can't be told apart.
    if (typeof parent['msg_id'] === 'string' && parent['msg_id'] !== line.messageId) return;
    const { value } = content;
    this.#parts.answer(question.id, typeof value === 'string' ? { kind: 'value', value } : { kind: 'cancelled' });
    this.#remove(key, line, question);
  }

  async #askFirst(key: string, line: Line): Promise<void> {
    const [question] = line.questions;
    if (!question) return;
    const { asker, prompt, password, id } = question;
    // Known before it is sent: the reply may be here before sending has been reported.
    line.messageId = randomUUID();
    if (await this.#parts.send(asker, { prompt, password }, line.messageId)) return;
    if (line.questions[0] !== question) return;
    this.#parts.answer(id, { kind: 'refused', why: unreachable });
    this.#remove(key, line, question);
  }

  #remove(key: string, line: Line, question: Question): void {
    const at = line.questions.indexOf(question);
    if (at < 0) return;
    line.questions.splice(at, 1);
    if (at > 0) return;
    line.messageId = undefined;
    if (line.questions.length === 0) this.#lines.delete(key);
    else void this.#askFirst(key, line);
  }
}

const keyOf = (identities: readonly Buffer[]): string => identities.map((each) => each.toString('hex')).join('/');
