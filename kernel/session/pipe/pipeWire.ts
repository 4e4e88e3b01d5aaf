import { Socket } from 'node:net';
import type { NotebookDebugger } from '#session/debug/debugger.ts';
import {
  type Answer,
  type CellOutput,
  type QuestionAnswer,
  unsendableOutputError,
  type Wire,
} from '#session/threads/coreMessages.ts';
import type { CellQueue } from '#session/worker/cellQueue.ts';
import { StreamBuffer } from '#session/worker/streamBuffer.ts';
import { type CatalogConfig, isCatalogConfig } from '#shared/catalogConfig.ts';
import { notebookLanguages, typeCheckModes } from '#shared/notebookLanguage.ts';
import { isDebugRequest } from '#shared/protocol/debugMessages.ts';
import { encodeFrame, readFrames } from '#shared/protocol/frames.ts';
import {
  type CellSettings,
  isCellPlace,
  isKernelOutput,
  isNamedConnection,
  type KeepKernel,
  type KernelConnectionRequest,
  type KernelHandshake,
  type KernelInputRequest,
  type KernelMessage,
  type KernelRequest,
  type KernelViewRequest,
} from '#shared/protocol/kernelMessages.ts';
import { isOutputRowsRequest, isOutputTableRequest, isViewAnswer } from '#shared/protocol/outputTables.ts';
import { isPicturePlace } from '#shared/protocol/pictureMessages.ts';
import { isRecord } from '#shared/records.ts';
import {
  type Check,
  isBoolean,
  isInteger,
  isNonNegativeNumber,
  isString,
  nullable,
  oneOf,
  optional,
  shape,
  shapeFor,
} from '#shared/shape.ts';
import { type KeptKernelServer, serveKeptKernel } from './keep.ts';
import { RunLog } from './runLog.ts';

/** An editor at the other end of a pipe or socket. */
type PipeClient = {
  send(message: KernelMessage): void;
  /** Bytes accepted but not sent yet. */
  backlog(): number;
  /** Sends the pending messages, then closes the connection. */
  end(): Promise<void>;
  destroy(): void;
};

/** Exchanges frames over a connection. `onClose` is called once, however the connection ends. */
function pipeClient(socket: Socket, onMessage: (message: unknown) => void, onClose: () => void): PipeClient {
  // After a malformed frame the connection is closed: the start of the next frame is unknown, and the peer is not one
  // of our clients.
  readFrames(socket, onMessage, () => socket.destroy());
  // The error is ignored, because the client is gone and 'close' follows.
  socket.on('error', () => {});
  socket.on('close', onClose);
  return {
    send: (message) => {
      if (!socket.destroyed) socket.write(frameOf(message));
    },
    backlog: () => socket.writableLength,
    end: () =>
      new Promise((resolve) => {
        if (socket.destroyed) resolve();
        else socket.end(resolve);
      }),
    destroy: () => void socket.destroy(),
  };
}

// Encodes a message. An output that can't be encoded must not close the connection and so end the kernel.
function frameOf(message: KernelMessage): Uint8Array {
  try {
    return encodeFrame(message);
  } catch (cause) {
    const { parent, type } = message;
    const error = unsendableOutputError(type, cause);
    if (isKernelOutput(message)) return encodeFrame({ type: 'error', parent, content: error });
    return encodeFrame({ type: 'error_reply', parent, content: { message: error.evalue } });
  }
}

// Validates messages of the client before they are used.

const hasCode = shape({ code: isString });
const hasCursor = shape({ code: isString, cursorPos: isInteger });

const isKeep = shapeFor<KeepKernel>({ folder: isString, seconds: isNonNegativeNumber, editor: isInteger });

const contentChecks: Record<KernelRequest['type'], Check> = {
  start: shape({
    catalog: nullable(isCatalogConfig),
    typeCheck: optional(oneOf(...typeCheckModes)),
    language: optional(oneOf(...notebookLanguages)),
    keep: optional(isKeep),
    hasPanels: optional(isBoolean),
  }),
  attach: shape({ secret: isString }),
  execute_request: shape({
    code: isString,
    silent: optional(isBoolean),
    storeHistory: optional(isBoolean),
    allowStdin: optional(isBoolean),
    cell: optional(isCellPlace),
  }),
  complete_request: hasCursor,
  inspect_request: hasCursor,
  is_complete_request: hasCode,
  interrupt_request: isRecord,
  variables_request: isRecord,
  picture_request: isPicturePlace,
  table_request: isOutputTableRequest,
  rows_request: isOutputRowsRequest,
  debug_request: isDebugRequest,
  input_reply: shape({ value: nullable(isString) }),
  connection_reply: isNamedConnection,
  view_reply: isViewAnswer,
  shutdown_request: isRecord,
};

/** Returns the id of a request. Without an id the kernel can't reply. */
const idOf = (message: unknown): string | undefined =>
  isRecord(message) && typeof message['id'] === 'string' ? message['id'] : undefined;

/** Whether a message is a valid request, including its content. */
function isRequest(message: unknown): message is KernelRequest {
  if (!isRecord(message) || idOf(message) === undefined || !isRecord(message['content'])) return false;
  const type = String(message['type']);
  return Object.hasOwn(contentChecks, type) && contentChecks[type as KernelRequest['type']](message['content']);
}

/** The file descriptor that an editor passes to the kernel it starts. */
const pipeFd = 3;
/** How long a new connection may take to send the secret. */
const secretMs = 5000;

type PipeHost = {
  queue: CellQueue;
  handshake: () => KernelHandshake;
  start: (catalog: CatalogConfig | null, settings: CellSettings & { hasPanels: boolean }) => void;
  /** Ends the process, in an orderly way if the main thread responds. */
  end: (code: number) => void;
  debug: NotebookDebugger;
};

/**
 * Serves an editor: framed JSON over an inherited pipe. If the client requests it, the kernel outlives the client and
 * accepts another client over a socket. There is only one client at a time.
 */
export function openPipe({ queue, handshake, start, end, debug }: PipeHost): Wire {
  const log = new RunLog();
  let client: PipeClient | undefined;
  let keeper: KeptKernelServer | undefined;
  let isStarted = false;
  /** Open questions of cells and queries, which are sent again to a later client. */
  const questions = new Map<string, KernelInputRequest | KernelConnectionRequest | KernelViewRequest>();

  const send = (message: KernelMessage) => {
    if (keeper) log.take(message);
    client?.send(message);
  };
  const reply = (parent: string, answer: Answer) => send({ ...answer, parent });
  const output = (parent: string, content: CellOutput) => send({ ...content, parent });
  const streams = new StreamBuffer(output);

  queue.listen({
    status: (id, state) => {
      streams.flush();
      output(id, { type: 'status', content: { executionState: state } });
    },
    output: (id, content) => streams.pass(id ?? '', content),
    executed: (id, executed) => {
      streams.flush();
      reply(id, { type: 'execute_reply', content: executed.reply });
    },
    answered: (id, answer) => reply(id, answerOf(answer)),
    // Editors don't support comms. The protocol says to reject a comm by closing it.
    comm: (_, { kind, commId }) => {
      if (kind === 'open') queue.comms.send('', { kind: 'close', commId, data: {}, metadata: {}, buffers: [] });
    },
    commDone: () => {},
    input: (id, question, signal) => {
      streams.flush();
      const request: KernelInputRequest = { type: 'input_request', parent: id, content: question };
      questions.set(question.id, request);
      signal.addEventListener('abort', () => questions.delete(question.id), { once: true });
      send(request);
    },
    connection: (question) => {
      const request: KernelConnectionRequest = { type: 'connection_request', parent: '', content: question };
      questions.set(question.id, request);
      send(request);
    },
    view: (question) => {
      const request: KernelViewRequest = { type: 'view_request', parent: '', content: question };
      questions.set(question.id, request);
      send(request);
    },
  });

  debug.listen((event) => send({ type: 'debug_event', parent: '', content: event }));

  const interrupt = async (id: string): Promise<void> => {
    const asked = performance.now();
    const status = (await queue.interrupt()) ? 'ok' : 'failed';
    reply(id, { type: 'interrupt_reply', content: { status, milliseconds: performance.now() - asked } });
  };

  const handle = (request: KernelRequest) => {
    const { id } = request;
    switch (request.type) {
      case 'start': {
        const { catalog, keep, hasPanels = false, ...settings } = request.content;
        start(catalog, { ...settings, hasPanels });
        if (keep) keeper = serveKeptKernel(keep, admit, () => end(0));
        return reply(id, { type: 'start_reply', content: handshake() });
      }
      case 'attach':
        return refuse({ send }, id, 'This client is already attached.');
      case 'execute_request': {
        const { code, silent = false, storeHistory = true, allowStdin: allowInput = false, cell } = request.content;
        if (cell && keeper) log.begin(id, cell, code);
        const name = cell?.id === undefined ? {} : { cell: cell.id };
        return queue.execute({
          id,
          code,
          silent,
          storeHistory,
          stopOnError: true,
          allowInput,
          expressions: {},
          ...name,
        });
      }
      case 'complete_request':
        return queue.ask(id, { kind: 'complete', code: request.content.code, cursor: request.content.cursorPos });
      case 'inspect_request':
        return queue.ask(id, {
          kind: 'inspect',
          code: request.content.code,
          cursor: request.content.cursorPos,
          detail: 1,
        });
      case 'is_complete_request':
        return queue.ask(id, { kind: 'isComplete', code: request.content.code });
      case 'variables_request':
        return queue.ask(id, { kind: 'variables' });
      case 'picture_request':
        return queue.ask(id, { kind: 'picture', place: request.content });
      case 'table_request':
        return queue.ask(id, { kind: 'table', request: request.content });
      case 'rows_request':
        return queue.ask(id, { kind: 'rows', request: request.content });
      case 'input_reply': {
        const { value } = request.content;
        questions.delete(id);
        queue.answerInput(id, value === null ? { kind: 'cancelled' } : { kind: 'value', value });
        return undefined;
      }
      case 'connection_reply':
        questions.delete(id);
        queue.answerConnection(id, request.content);
        return undefined;
      case 'view_reply':
        questions.delete(id);
        queue.answerView(id, request.content);
        return undefined;
      case 'interrupt_request':
        void interrupt(id);
        return undefined;
      case 'debug_request':
        void debug.request(request.content).then((content) => reply(id, { type: 'debug_reply', content }));
        return undefined;
      case 'shutdown_request':
        reply(id, { type: 'shutdown_reply', content: { status: 'ok' } });
        return end(0);
    }
  };

  const receive = (from: PipeClient, message: unknown) => {
    const id = idOf(message);
    if (id === undefined) return undefined;
    if (!isRequest(message)) return refuse(from, id, 'The type of the request is unknown, or its content is invalid.');
    if (isStarted && message.type === 'start') return refuse(from, id, 'This kernel has already been started.');
    if (!isStarted && message.type !== 'start') return refuse(from, id, 'The first message of a pipe must be "start".');
    isStarted = true;
    return handle(message);
  };

  const left = () => {
    client = undefined;
    streams.flush();
    // The debugger is detached: without a client, a paused cell could not be resumed.
    debug.detach();
    // An unused kernel ends at once, because it has no state that a client could miss.
    if (!keeper || queue.isUnused) return end(0);
    log.leave();
    return keeper.wait();
  };

  /** Accepts a later client once it has sent the secret. */
  const admit = (socket: Socket) => {
    const expire = setTimeout(() => socket.destroy(), secretMs);
    let isAdmitted = false;
    const candidate = pipeClient(
      socket,
      (message) => {
        if (isAdmitted) return receive(candidate, message);
        if (!isRequest(message) || message.type !== 'attach' || !keeper?.isSecret(message.content.secret))
          return candidate.destroy();
        clearTimeout(expire);
        if (client) {
          refuse(candidate, message.id, 'Another window is connected to this kernel.');
          return void candidate.end();
        }
        isAdmitted = true;
        keeper.stopWaiting();
        streams.flush();
        client = candidate;
        const content = { ...handshake(), executionCount: queue.executionCount, runs: log.attach() };
        client.send({ type: 'attach_reply', parent: message.id, content });
        for (const question of questions.values()) client.send(question);
        return undefined;
      },
      () => {
        clearTimeout(expire);
        if (isAdmitted) left();
      },
    );
  };

  const first = pipeClient(
    new Socket({ fd: pipeFd, readable: true, writable: true }),
    (message) => receive(first, message),
    left,
  );
  client = first;

  return {
    close: async () => {
      streams.flush();
      await client?.end();
      keeper?.close();
    },
    backlog: () => client?.backlog() ?? 0,
  };
}

const refuse = (to: Pick<PipeClient, 'send'>, parent: string, message: string) =>
  to.send({ type: 'error_reply', parent, content: { message } });

function answerOf(answer: QuestionAnswer): Answer {
  switch (answer.kind) {
    case 'complete':
      return {
        type: 'complete_reply',
        content: { matches: answer.matches, cursorStart: answer.start, cursorEnd: answer.end },
      };
    case 'inspect':
      return { type: 'inspect_reply', content: { found: answer.data !== null, data: answer.data ?? {} } };
    case 'isComplete':
      return { type: 'is_complete_reply', content: { status: answer.status, indent: answer.indent } };
    case 'variables':
      return { type: 'variables_reply', content: answer.list };
    case 'picture':
      return { type: 'picture_reply', content: { image: answer.image } };
    case 'table':
      return { type: 'table_reply', content: { table: answer.table } };
    case 'rows':
      return { type: 'rows_reply', content: { rows: answer.rows } };
    case 'failed':
      return { type: 'error_reply', content: { message: answer.message } };
  }
}
