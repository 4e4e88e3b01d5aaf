import { messageOf } from '#shared/errors.ts';
import type { CellQueue } from '#session/cellQueue.ts';
import type { Front, WorkerStart } from '#session/coreMessages.ts';
import type { NotebookDebugger } from '#session/debug/debugger.ts';
import { lastWords } from '#session/lastWords.ts';
import { StreamBuffer } from '#session/streamBuffer.ts';
import { unsendable } from '#session/unsendable.ts';
import type { Wire } from '#session/worker.ts';
import { AskedRequests, type Asked } from './askedRequests.ts';
import { Audience } from './audience.ts';
import { readConnection } from './connectionFile.ts';
import { jupyterComm } from './jupyterComms.ts';
import { contentOf, kernelInfo } from './jupyterContent.ts';
import { createSigner, decodeMessage, encodeMessage, type Header, type Outgoing } from './jupyterFrames.ts';
import { answeredReply, executedReply, failure, type Reply } from './jupyterReplies.ts';
import { answerRequest } from './jupyterRequests.ts';
import { openSockets } from './openSockets.ts';
import { JupyterStdin } from './jupyterStdin.ts';

type JupyterHost = {
  queue: CellQueue;
  debug: NotebookDebugger;
  given: WorkerStart;
  front: Extract<Front, { kind: 'jupyter' }>;
  end: (code: number) => void;
};

/** Whether code is complete is asked at every Enter; a console that hears nothing for this long is told `unknown`. */
const unknownMs = 700;

/** The front for Jupyter: ZeroMQ sockets and messaging 5.4. */
export async function openJupyter({ queue, debug, given, front, end }: JupyterHost): Promise<Wire> {
  const connection = readConnection(front.connectionFile);
  const signer = createSigner(connection.key);
  const info = kernelInfo(given, debug.isAvailable, front.language);
  const requests = new AskedRequests();

  const encode = (message: Outgoing) => encodeMessage(message, session, signer);
  const publish = (message: Omit<Outgoing, 'identities'> & { topic?: string }) => {
    const { type, parent, topic = type } = message;
    const failed = (cause: unknown) =>
      encode({ identities: ['error'], type: 'error', content: unsendable(type, cause), parent });
    sockets.publish(attempt(() => encode({ ...message, identities: [topic] }), failed));
  };
  const status = (state: string, parent: Header | undefined) =>
    publish({ type: 'status', content: { execution_state: state }, parent });
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
  const settle = (id: string, answer: (asked: Asked) => Reply) => {
    const asked = requests.take(id);
    if (!asked) return;
    reply(asked, answer(asked));
    // The end of a cell's turn is told by the queue.
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

  const handle = async (asked: Asked): Promise<void> => {
    const { message } = asked;
    const { header } = message;
    // A queued cell is busy when its turn comes.
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
      // Not signed with our key, sent before, or broken: dropped, for an answer would tell a stranger that somebody is here.
      if (!message) return;
      if (channel === 'stdin') return stdin.receive(message);
      const answer = () => void handle({ message, channel });
      // What kernel this is, clients ask to learn whether it is there; an interrupt or the end of the kernel never waits.
      if (channel === 'control' || message.header.msg_type === 'kernel_info_request') answer();
      else audience.before(answer);
    },
    subscribed(topic) {
      publish({ type: 'iopub_welcome', content: { subscription: topic }, parent: undefined, topic });
      audience.arrive();
    },
    lost() {
      lastWords('The process that listens for the kernel has ended');
      end(1);
    },
  });
  const { sockets, session } = opened;
  const audience = new Audience(opened.isHeard);
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

const isCell = ({ message }: Asked): boolean => message.header.msg_type === 'execute_request';

// One message that can't be written must not end the thread, and with it the kernel.
function attempt<T>(body: () => T, otherwise: (cause: unknown) => T): T {
  try {
    return body();
  } catch (cause) {
    return otherwise(cause);
  }
}
