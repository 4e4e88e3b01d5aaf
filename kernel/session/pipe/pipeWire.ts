import { Socket } from 'node:net';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type {
  CellSettings,
  KernelHandshake,
  KernelInputRequest,
  KernelMessage,
  KernelRequest,
} from '#shared/kernelMessages.ts';
import type { CellQueue } from '#session/cellQueue.ts';
import type { Answer, CellOutput, QuestionAnswer } from '#session/coreMessages.ts';
import type { NotebookDebugger } from '#session/debug/debugger.ts';
import { StreamBuffer } from '#session/streamBuffer.ts';
import type { Wire } from '#session/worker.ts';
import { keepKernel, type Keeper } from './keep.ts';
import { pipeClient, type PipeClient } from './pipeClient.ts';
import { idOf, isRequest } from './pipeRequests.ts';
import { RunLog } from './runLog.ts';

/** The file descriptor that an editor hands to the kernel it starts. */
const pipeFd = 3;
/** How long a connection to the socket may take to say the secret. */
const secretMs = 5000;

type PipeHost = {
  queue: CellQueue;
  handshake: () => KernelHandshake;
  start: (catalog: CatalogConfig | null, settings: CellSettings) => void;
  /** Ends the process, politely if the main thread lets it. */
  end: (code: number) => void;
  debug: NotebookDebugger;
};

/**
 * The front for an editor: framed JSON over an inherited pipe. When the client asks for it the kernel outlives it, and
 * takes another one over a socket; there is one client at a time.
 */
export function openPipe({ queue, handshake, start, end, debug }: PipeHost): Wire {
  const log = new RunLog();
  let client: PipeClient | undefined;
  let keeper: Keeper | undefined;
  let isStarted = false;
  /** What cells wait for an answer to, asked again of a client that comes later. */
  const questions = new Map<string, KernelInputRequest>();

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
    // An editor has nothing that a comm could be for, and says so as the protocol has it: by closing.
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
        const { catalog, keep, ...settings } = request.content;
        start(catalog, settings);
        if (keep) keeper = keepKernel(keep, admit, () => end(0));
        return reply(id, { type: 'start_reply', content: handshake() });
      }
      case 'attach':
        return refuse({ send }, id, 'This client is attached already.');
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
      case 'input_reply': {
        const { value } = request.content;
        questions.delete(id);
        queue.answerInput(id, value === null ? { kind: 'cancelled' } : { kind: 'value', value });
        return undefined;
      }
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
    // Without an id there is nobody to answer.
    if (id === undefined) return undefined;
    if (!isRequest(message)) return refuse(from, id, 'The kernel does not know this request or its contents.');
    if (isStarted && message.type === 'start') return refuse(from, id, 'This kernel was started before.');
    if (!isStarted && message.type !== 'start') return refuse(from, id, 'The first message of a pipe must be "start".');
    isStarted = true;
    return handle(message);
  };

  const left = () => {
    client = undefined;
    streams.flush();
    // Nobody is there who could let a cell go on that stands still.
    debug.detach();
    // A kernel in which nothing ran holds nothing that a client could miss.
    if (!keeper || queue.isUnused) return end(0);
    log.leave();
    return keeper.wait();
  };

  /** Takes a client that comes later, once it has said the secret. */
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
    case 'failed':
      return { type: 'error_reply', content: { message: answer.message } };
  }
}
