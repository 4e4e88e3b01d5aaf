import { randomUUID } from 'node:crypto';
import { writeFatalError } from '#session/core/writeFatalError.ts';
import type { NotebookDebugger } from '#session/debug/debugger.ts';
import type { InputAnswer } from '#session/input/gate.ts';
import type { InputQuestion } from '#session/input/pendingInputs.ts';
import { type Relayed, relayedSockets, type RelayEvents } from '#session/jupyter/relay/relayedSockets.ts';
import { type Front, unsendableOutputError, type Wire, type WorkerStart } from '#session/threads/coreMessages.ts';
import type { CellQueue } from '#session/worker/cellQueue.ts';
import { StreamBuffer } from '#session/worker/streamBuffer.ts';
import { messageOf } from '#shared/errors.ts';
import { type Connection, readConnection } from './connectionFile.ts';
import { jupyterComm } from './jupyterComms.ts';
import { contentOf, kernelInfo, startingFrames } from './jupyterContent.ts';
import {
  createSigner,
  decodeMessage,
  encodeMessage,
  type Header,
  type JupyterMessage,
  type Outgoing,
  type Signer,
} from './jupyterFrames.ts';
import { answeredReply, executedReply, failure, type Reply } from './jupyterReplies.ts';
import { answerRequest, type PendingRequest, PendingRequests } from './jupyterRequests.ts';

/**
 * Maximum wait for a subscriber. The wait is longer than ZeroMQ takes to reconnect a refused socket. A client that
 * never subscribes waits this long once.
 */
const waitMs = 1000;

/**
 * Delays requests until a client subscribes to iopub. The channels of a client connect one after another, because
 * ZeroMQ retries each channel separately. Output that is published before iopub is connected would be lost, including
 * the message that a cell has ended.
 */
export class SubscriberWait {
  #isThere: boolean;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting: (() => void)[] = [];

  constructor(isThere: boolean) {
    this.#isThere = isThere;
  }

  /** Calls `answer` once a client has subscribed or the wait has ended; keeps the order of the calls. */
  before(answer: () => void): void {
    if (this.#isThere) return answer();
    this.#waiting.push(answer);
    this.#timer ??= setTimeout(() => this.arrive(), waitMs);
  }

  arrive(): void {
    this.#isThere = true;
    clearTimeout(this.#timer);
    // The delayed requests are answered synchronously, so that a later request is not answered before them.
    for (const answer of this.#waiting.splice(0)) answer();
  }
}

/** The client that ran the cell, by its ZeroMQ identity, and the header of its request. */
export type RequestOrigin = { identities: readonly Buffer[]; header: Header };

type Question = InputQuestion & { asker: RequestOrigin; signal: AbortSignal };
/** The questions for one client; the first one is currently shown. */
type Line = { questions: Question[]; messageId: string | undefined };

type StdinDeps = {
  /** Sends an `input_request` with this message id. Returns `false` if the client has no stdin channel. */
  send: (asker: RequestOrigin, content: { prompt: string; password: boolean }, messageId: string) => Promise<boolean>;
  answer: (id: string, answer: InputAnswer) => void;
};

const unreachable =
  'This cell asks for input, but the program that ran it has no input channel. Set the value in code instead.';

/**
 * The stdin channel. A reply need not name its request, so each client gets one question at a time, and a reply
 * without an open question is dropped.
 */
export class JupyterStdin {
  readonly #parts: StdinDeps;
  readonly #lines = new Map<string, Line>();

  constructor(parts: StdinDeps) {
    this.#parts = parts;
  }

  ask(question: InputQuestion, asker: RequestOrigin, signal: AbortSignal): void {
    const key = keyOf(asker.identities);
    const line = this.#lines.get(key) ?? { questions: [], messageId: undefined };
    this.#lines.set(key, line);
    const entry: Question = { ...question, asker, signal };
    line.questions.push(entry);
    signal.addEventListener('abort', () => this.#remove(key, line, entry), { once: true });
    if (line.questions.length === 1) void this.#askFirst(key, line);
  }

  receive({ header, identities, parent, content }: JupyterMessage): void {
    if (header.msg_type !== 'input_reply') return;
    const key = keyOf(identities);
    const line = this.#lines.get(key);
    const [question] = line?.questions ?? [];
    if (!line || !question || line.messageId === undefined) return;
    // Ignores a reply to a withdrawn question. This requires a parent id; a reply without one counts as a reply to the
    // open question.
    if (typeof parent['msg_id'] === 'string' && parent['msg_id'] !== line.messageId) return;
    const { value } = content;
    this.#parts.answer(question.id, typeof value === 'string' ? { kind: 'value', value } : { kind: 'cancelled' });
    this.#remove(key, line, question);
  }

  async #askFirst(key: string, line: Line): Promise<void> {
    const [question] = line.questions;
    if (!question) return;
    const { asker, prompt, password, id } = question;
    // The id is set before sending, because the reply may arrive before the send completes.
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

export type Opened = Relayed & {
  /** Delivers the events held back so far. From then on, delivers each event immediately. */
  listen(): void;
};

/**
 * Returns the sockets of the kernel's relay. Without a working relay, opens the kernel's own sockets.
 * @param relay path of the relay's socket
 * @throws Error of ZeroMQ if an address can't be bound
 */
export async function openSockets(
  connection: Connection,
  relay: string | undefined,
  signer: Signer,
  events: RelayEvents,
): Promise<Opened> {
  const early: (() => void)[] = [];
  let isListening = false;
  const told =
    <A extends unknown[]>(tell: (...args: A) => void) =>
    (...args: A) =>
      isListening ? tell(...args) : void early.push(() => tell(...args));
  const listen = () => {
    isListening = true;
    for (const tell of early.splice(0)) tell();
  };
  const later: RelayEvents = {
    request: told((channel, frames) => events.request(channel, frames)),
    subscribed: told((topic) => events.subscribed(topic)),
    lost: told(() => events.lost()),
  };
  const relayed = relay === undefined ? undefined : await relayedSockets(relay, later);
  if (relayed) return { ...relayed, listen };
  // ZeroMQ is loaded lazily, because a kernel with a relay does not need it.
  const { bindSockets } = await import('./jupyterSockets.ts');
  const session = randomUUID();
  const sockets = await bindSockets(connection, later, startingFrames(session, signer));
  return { sockets, session, isHeard: false, answered: [], listen };
}

type JupyterHost = {
  queue: CellQueue;
  debug: NotebookDebugger;
  given: WorkerStart;
  front: Extract<Front, { kind: 'jupyter' }>;
  end: (code: number) => void;
};

/** A console sends `is_complete_request` at every Enter; after this time the reply is `unknown`. */
const unknownMs = 700;

/** Serves Jupyter clients: ZeroMQ sockets and messaging 5.4. */
export async function openJupyter({ queue, debug, given, front, end }: JupyterHost): Promise<Wire> {
  const connection = readConnection(front.connectionFile);
  const signer = createSigner(connection.key);
  const info = kernelInfo(given, debug.isAvailable, front.language);
  const requests = new PendingRequests();

  const encode = (message: Outgoing) => encodeMessage(message, session, signer);
  const publish = (message: Omit<Outgoing, 'identities'> & { topic?: string }) => {
    const { type, parent, topic = type } = message;
    const failed = (cause: unknown) =>
      encode({ identities: ['error'], type: 'error', content: unsendableOutputError(type, cause), parent });
    sockets.publish(attempt(() => encode({ ...message, identities: [topic] }), failed));
  };
  const status = (state: string, parent: Header | undefined) =>
    publish({ type: 'status', content: { execution_state: state }, parent });
  const reply = ({ message, channel }: PendingRequest, { content, type, metadata }: Reply) => {
    const { identities, header } = message;
    const name = type ?? header.msg_type.replace(/_request$/, '_reply');
    const rest = { identities, type: name, parent: header, ...(metadata && { metadata }) };
    const failed = (cause: unknown) =>
      encode({ ...rest, content: { status: 'error', ...unsendableOutputError(name, cause) } });
    sockets.reply(
      channel,
      attempt(() => encode({ ...rest, content }), failed),
    );
  };
  const settle = (id: string, answer: (asked: PendingRequest) => Reply) => {
    const asked = requests.take(id);
    if (!asked) return;
    reply(asked, answer(asked));
    // For a cell the queue reports the end, so `idle` is published only for other requests.
    if (!isCell(asked)) status('idle', asked.message.header);
  };
  const stdin = new JupyterStdin({
    send: ({ identities, header }, content, id) =>
      sockets.ask(encode({ identities, type: 'input_request', content, parent: header, id })),
    answer: (id, answer) => void queue.answerInput(id, answer),
  });
  const streams = new StreamBuffer((id, output) =>
    publish({ type: output.type, content: contentOf(output), parent: requests.parentOf(id) }),
  );

  queue.listen({
    status(id, state) {
      streams.flush();
      if (state === 'busy') requests.begin(id);
      status(state, requests.parentOf(id));
    },
    output: (id, output) => streams.pass(id ?? '', output),
    executed(id, executed) {
      streams.flush();
      settle(id, ({ started }) => executedReply(executed, started, session));
    },
    answered: (id, answer) => settle(id, ({ message }) => answeredReply(answer, message.content['code'])),
    input(id, question, signal) {
      streams.flush();
      const asker = requests.sender(id);
      if (asker) stdin.ask(question, asker, signal);
    },
    // Clients of Jupyter have no connections.
    connection: ({ id }) => queue.answerConnection(id, { names: [], config: null, problem: null }),
    // They have no table panel either.
    view: ({ id }) => queue.answerView(id, { kind: 'absent' }),
    comm(parent, message) {
      streams.flush();
      publish({ ...jupyterComm(message), parent: requests.parentOf(parent ?? '') });
    },
    commDone(id) {
      streams.flush();
      const asked = requests.take(id);
      if (asked) status('idle', asked.message.header);
    },
  });

  debug.listen((event) => {
    streams.flush();
    publish({ type: 'debug_event', content: event, parent: requests.parentOf('') });
  });

  const handle = async (asked: PendingRequest): Promise<void> => {
    const { message } = asked;
    const { header } = message;
    // For a cell `busy` is published later, when the queued cell starts.
    if (!isCell(asked)) status('busy', header);
    const remember = (): string => {
      const id = requests.add(asked);
      if (header.msg_type === 'is_complete_request')
        asked.timer = setTimeout(() => settle(id, () => ({ content: { status: 'unknown' } })), unknownMs);
      return id;
    };
    const answer = await answerRequest(message, { queue, debug, info, remember }).catch((error: unknown) =>
      failure('Error', messageOf(error)),
    );
    if (answer === 'later') return;
    if (isCell(asked)) status('busy', header);
    if (answer !== 'nothing') reply(asked, answer);
    const isEnd = header.msg_type === 'shutdown_request' && answer !== 'nothing';
    if (isEnd) publish({ type: 'shutdown_reply', content: answer.content, parent: header });
    status('idle', header);
    if (isEnd) end(0);
  };

  const opened = await openSockets(connection, front.relay, signer, {
    request(channel, frames) {
      const message = decodeMessage(frames, signer);
      // The message is malformed, replayed or not signed with the key. It is dropped, because a reply would reveal the
      // kernel to unauthenticated clients.
      if (!message) return;
      if (channel === 'stdin') return stdin.receive(message);
      const answer = () => void handle({ message, channel });
      // Two kinds of requests must not wait for a subscriber. A client sends a kernel info request to find out whether
      // the kernel runs. A request on the control channel may be an interrupt or a shutdown, which must never wait.
      if (channel === 'control' || message.header.msg_type === 'kernel_info_request') answer();
      else audience.before(answer);
    },
    subscribed(topic) {
      publish({ type: 'iopub_welcome', content: { subscription: topic }, parent: undefined, topic });
      audience.arrive();
    },
    lost() {
      writeFatalError('The process that listens for the kernel has ended');
      end(1);
    },
  });
  const { sockets, session } = opened;
  const audience = new SubscriberWait(opened.isHeard);
  for (const signature of opened.answered) signer.remember(signature);
  opened.listen();
  return {
    close() {
      streams.flush();
      queue.history.close();
      return sockets.close();
    },
    backlog: () => sockets.backlog(),
  };
}

const isCell = ({ message }: PendingRequest): boolean => message.header.msg_type === 'execute_request';

// Handles an error of `body`, because a message that can't be encoded must not end the thread and so the kernel.
function attempt<T>(body: () => T, otherwise: (cause: unknown) => T): T {
  try {
    return body();
  } catch (cause) {
    return otherwise(cause);
  }
}
