import { Socket } from 'node:net';
import { isCatalogConfig, type CatalogConfig } from '#shared/catalogConfig.ts';
import { encodeFrame, frameDecoder } from '#shared/frames.ts';
import {
  isKernelOutput,
  type KernelHandshake,
  type KernelMessage,
  type KernelRequest,
} from '#shared/kernelMessages.ts';
import { isRecord } from '#shared/records.ts';
import type { CellQueue } from './cellQueue.ts';
import type { Answer, CellOutput, QuestionAnswer } from './coreMessages.ts';
import { StreamBuffer } from './streamBuffer.ts';
import { unsendable } from './unsendable.ts';
import type { Wire } from './worker.ts';

/** The file descriptor that an editor hands to the kernel it starts. */
const pipeFd = 3;

type PipeHost = {
  queue: CellQueue;
  handshake: () => KernelHandshake;
  start: (catalog: CatalogConfig | null) => void;
  /** Ends the process, politely if the main thread lets it. */
  end: (code: number) => void;
};

/** The front for an editor: framed JSON over an inherited pipe, one client. */
export function openPipe(host: PipeHost): Wire {
  const { queue } = host;
  const socket = new Socket({ fd: pipeFd, readable: true, writable: true });
  let isStarted = false;
  const send = (message: KernelMessage) => {
    if (!socket.destroyed) socket.write(frameOf(message));
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
  });

  const interrupt = async (id: string): Promise<void> => {
    const asked = performance.now();
    const status = (await queue.interrupt()) ? 'ok' : 'failed';
    reply(id, { type: 'interrupt_reply', content: { status, milliseconds: performance.now() - asked } });
  };

  const handle = (request: KernelRequest) => {
    const { id } = request;
    if (!isStarted && request.type !== 'start') {
      return reply(id, { type: 'error_reply', content: { message: 'The first message of a pipe must be "start".' } });
    }
    switch (request.type) {
      case 'start':
        if (isStarted)
          return reply(id, { type: 'error_reply', content: { message: 'This kernel was started before.' } });
        isStarted = true;
        host.start(request.content.catalog);
        return reply(id, { type: 'start_reply', content: host.handshake() });
      case 'execute_request': {
        const { code, silent = false, storeHistory = true } = request.content;
        return queue.execute({ id, code, silent, storeHistory, stopOnError: true, expressions: {} });
      }
      case 'complete_request':
        return queue.ask(id, { kind: 'complete', code: request.content.code, cursor: request.content.cursorPos });
      case 'inspect_request':
        return queue.ask(id, { kind: 'inspect', code: request.content.code, cursor: request.content.cursorPos });
      case 'is_complete_request':
        return queue.ask(id, { kind: 'isComplete', code: request.content.code });
      case 'interrupt_request':
        void interrupt(id);
        return;
      case 'shutdown_request':
        reply(id, { type: 'shutdown_reply', content: { status: 'ok' } });
        return host.end(0);
    }
  };

  const decode = frameDecoder((message) => {
    const id = idOf(message);
    if (isRequest(message)) handle(message);
    // Without an id there is nobody to answer.
    else if (id !== undefined)
      reply(id, {
        type: 'error_reply',
        content: { message: 'The kernel does not know this request or its contents.' },
      });
  });
  socket.on('data', (chunk) => {
    try {
      decode(chunk);
    } catch {
      // What follows a broken frame can't be trusted to begin at a frame: the peer is not an editor of ours.
      socket.destroy();
    }
  });
  // The reason of a broken pipe does not matter: the editor is gone, and 'close' follows.
  socket.on('error', () => {});
  socket.on('close', () => host.end(0));

  return {
    close: () =>
      new Promise((resolve) => {
        streams.flush();
        if (socket.destroyed) return resolve();
        socket.end(resolve);
      }),
    backlog: () => socket.writableLength,
  };
}

// One output that can't be written must not take the connection, and with it the kernel, away.
function frameOf(message: KernelMessage): Uint8Array {
  try {
    return encodeFrame(message);
  } catch (cause) {
    const { parent, type } = message;
    const error = unsendable(type, cause);
    if (isKernelOutput(message)) return encodeFrame({ type: 'error', parent, content: error });
    return encodeFrame({ type: 'error_reply', parent, content: { message: error.evalue } });
  }
}

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
    case 'failed':
      return { type: 'error_reply', content: { message: answer.message } };
  }
}

const isOptionalBoolean = (value: unknown): boolean => value === undefined || typeof value === 'boolean';
const idOf = (message: unknown): string | undefined =>
  isRecord(message) && typeof message['id'] === 'string' ? message['id'] : undefined;

const hasCode = (content: Record<string, unknown>): boolean => typeof content['code'] === 'string';
const hasCursor = (content: Record<string, unknown>): boolean =>
  hasCode(content) && Number.isSafeInteger(content['cursorPos']);

const contentChecks: Record<KernelRequest['type'], (content: Record<string, unknown>) => boolean> = {
  start: (content) => content['catalog'] === null || isCatalogConfig(content['catalog']),
  execute_request: (content) =>
    hasCode(content) && isOptionalBoolean(content['silent']) && isOptionalBoolean(content['storeHistory']),
  complete_request: hasCursor,
  inspect_request: hasCursor,
  is_complete_request: hasCode,
  interrupt_request: () => true,
  shutdown_request: () => true,
};

function isRequest(message: unknown): message is KernelRequest {
  if (!isRecord(message) || idOf(message) === undefined || !isRecord(message['content'])) return false;
  const type = String(message['type']);
  return Object.hasOwn(contentChecks, type) && contentChecks[type as KernelRequest['type']](message['content']);
}
