import { randomUUID } from 'node:crypto';
import { messageOf } from '#shared/errors.ts';
import type { CellQueue } from '#session/cellQueue.ts';
import { readConnection } from './connectionFile.ts';
import type { CellOutput, Executed, QuestionAnswer, WorkerStart } from '#session/coreMessages.ts';
import { contentOf, kernelInfo } from './jupyterContent.ts';
import {
  createSigner,
  decodeMessage,
  encodeMessage,
  type Header,
  type JupyterMessage,
  type Outgoing,
} from './jupyterFrames.ts';
import { answerRequest, type Reply } from './jupyterRequests.ts';
import { bindSockets, type Sockets } from './jupyterSockets.ts';
import { JupyterStdin, type Asker } from './jupyterStdin.ts';
import { StreamBuffer } from '#session/streamBuffer.ts';
import { unsendable } from '#session/unsendable.ts';
import type { Wire } from '#session/worker.ts';

type JupyterHost = {
  queue: CellQueue;
  given: WorkerStart;
  end: (code: number) => void;
  connectionFile: string;
};

type Channel = 'shell' | 'control';
type Asked = { message: JupyterMessage; channel: Channel };

/** Headers of answered requests are kept for this many, so that late output still has its cell as parent. */
const keptParents = 1000;

/** The front for Jupyter: ZeroMQ sockets and messaging 5.4. */
export async function openJupyter({ queue, given, end, connectionFile }: JupyterHost): Promise<Wire> {
  const connection = readConnection(connectionFile);
  const signer = createSigner(connection.key);
  const session = randomUUID();
  const asked = new Map<string, Asked>();
  const parents = new Map<string, Asker>();
  let latest: Header | undefined;
  let next = 0;

  const encode = (message: Outgoing) => encodeMessage(message, session, signer);
  const publish = (type: string, content: unknown, parent: Header | undefined, topic = type) => {
    const failed = (cause: unknown) =>
      encode({ identities: ['error'], type: 'error', content: unsendable(type, cause), parent });
    sockets.publish(attempt(() => encode({ identities: [topic], type, content, parent }), failed));
  };
  const status = (state: string, parent: Header | undefined) => publish('status', { execution_state: state }, parent);
  const reply = ({ message, channel }: Asked, { content, type, metadata }: Reply) => {
    const { identities, header } = message;
    const name = type ?? header.msg_type.replace(/_request$/, '_reply');
    const rest = { identities, type: name, parent: header, ...(metadata && { metadata }) };
    const failed = (cause: unknown) => encode({ ...rest, content: { status: 'error', ...unsendable(name, cause) } });
    sockets.reply(
      channel,
      attempt(() => encode({ ...rest, content }), failed),
    );
  };
  const settle = (id: string, answer: Reply) => {
    const request = asked.get(id);
    asked.delete(id);
    if (request) reply(request, answer);
  };
  const remember = (request: Asked): string => {
    const id = String(++next);
    asked.set(id, request);
    parents.set(id, request.message);
    const oldest = parents.keys().next();
    if (parents.size > keptParents && !oldest.done) parents.delete(oldest.value);
    return id;
  };
  const parentOf = (id: string) => parents.get(id)?.header ?? latest;
  const stdin = new JupyterStdin({
    send: ({ identities, header }, content, id) =>
      sockets.ask(encode({ identities, type: 'input_request', content, parent: header, id })),
    answer: (id, answer) => void queue.answerInput(id, answer),
  });
  const streams = new StreamBuffer((id, output) => publish(output.type, contentOf(output), parentOf(id)));

  queue.listen({
    status(id, state) {
      streams.flush();
      latest = parentOf(id);
      status(state, latest);
    },
    output: (id: string | null, output: CellOutput) => streams.pass(id ?? '', output),
    executed(id: string, executed: Executed) {
      streams.flush();
      settle(id, executedReply(executed));
    },
    answered(id: string, answer: QuestionAnswer) {
      const parent = parents.get(id)?.header;
      settle(id, answeredReply(answer, asked.get(id)?.message));
      status('idle', parent);
    },
    input(id, question, signal) {
      streams.flush();
      const asker = parents.get(id);
      if (asker) stdin.ask(question, asker, signal);
    },
  });

  const handle = async (channel: Channel, message: JupyterMessage): Promise<void> => {
    const request = { message, channel };
    const { header } = message;
    // A queued cell is busy when its turn comes.
    const isCell = header.msg_type === 'execute_request';
    if (!isCell) status('busy', header);
    const answer = await answerRequest(message, {
      queue,
      info: kernelInfo(given),
      remember: () => remember(request),
      publish: (type, content) => publish(type, content, header),
    }).catch((error: unknown): Reply => ({
      content: { status: 'error', ename: 'Error', evalue: messageOf(error), traceback: [] },
    }));
    if (answer === 'later') return;
    if (isCell) status('busy', header);
    if (answer !== 'nothing') reply(request, answer);
    if (header.msg_type === 'shutdown_request' && answer !== 'nothing')
      publish('shutdown_reply', answer.content, header);
    status('idle', header);
    if (header.msg_type === 'shutdown_request') end(0);
  };

  const sockets: Sockets = await bindSockets(connection, {
    request(channel, frames) {
      const message = decodeMessage(frames, signer);
      // Not signed with our key, or broken: dropped, for an answer would tell a stranger that somebody is here.
      if (message && channel === 'stdin') stdin.receive(message);
      else if (message && channel !== 'stdin') void handle(channel, message);
    },
    subscribed: (topic) => publish('iopub_welcome', { subscription: topic }, undefined, topic),
  });
  status('starting', undefined);
  return {
    close() {
      streams.flush();
      return sockets.close();
    },
    // ZeroMQ keeps no count; its own queue is unbounded here, so that no output is dropped.
    backlog: () => 0,
  };
}

// One message that can't be written must not end the thread, and with it the kernel.
function attempt<T>(body: () => T, otherwise: (cause: unknown) => T): T {
  try {
    return body();
  } catch (cause) {
    return otherwise(cause);
  }
}

function executedReply({ reply, expressions }: Executed): Reply {
  switch (reply.status) {
    case 'ok':
      return {
        content: { status: 'ok', execution_count: reply.executionCount, user_expressions: expressions, payload: [] },
      };
    case 'error': {
      const { ename, evalue, traceback, executionCount } = reply;
      return { content: { status: 'error', execution_count: executionCount, ename, evalue, traceback } };
    }
    case 'aborted':
      return { content: { status: 'aborted' } };
  }
}

function answeredReply(answer: QuestionAnswer, message: JupyterMessage | undefined): Reply {
  const code = typeof message?.content['code'] === 'string' ? message.content['code'] : '';
  // Jupyter counts characters, the compiler UTF-16 units.
  const characters = (units: number) => Array.from(code.slice(0, units)).length;
  switch (answer.kind) {
    case 'complete': {
      const [start, end] = [characters(answer.start), characters(answer.end)];
      const types = answer.matches.map(({ text, kind }) => ({ text, type: kind, start, end }));
      return {
        content: {
          status: 'ok',
          matches: answer.matches.map(({ text }) => text),
          cursor_start: start,
          cursor_end: end,
          metadata: { _jupyter_types_experimental: types },
        },
      };
    }
    case 'inspect':
      return { content: { status: 'ok', found: answer.data !== null, data: answer.data ?? {}, metadata: {} } };
    case 'isComplete':
      return {
        content: { status: answer.status, ...(answer.status === 'incomplete' && { indent: answer.indent }) },
      };
    case 'variables':
      // Asked by the editor's front alone.
      return {
        content: { status: 'error', ename: 'Unsupported', evalue: 'Jupyter does not ask this.', traceback: [] },
      };
    case 'failed':
      return { content: { status: 'error', ename: 'CompilerError', evalue: answer.message, traceback: [] } };
  }
}
