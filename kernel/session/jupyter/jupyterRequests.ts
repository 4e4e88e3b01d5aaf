import type { CellQueue } from '#session/cellQueue.ts';
import type { Question } from '#session/coreMessages.ts';
import type { HistoryEntry } from '#session/history.ts';
import type { JupyterMessage } from './jupyterFrames.ts';

export type Reply = { content: Record<string, unknown>; type?: string; metadata?: Record<string, unknown> };

type Requests = {
  queue: CellQueue;
  info: Record<string, unknown>;
  /** Keeps the request until the queue answers it under the id that this gives. */
  remember: () => string;
  publish: (type: string, content: unknown) => void;
};

/** Answers one request: at once, `later` by the queue's events, or with `nothing` where the protocol wants none. */
export async function answerRequest(
  { header, content }: JupyterMessage,
  { queue, info, remember, publish }: Requests,
): Promise<Reply | 'later' | 'nothing'> {
  const ask = (question: Question | undefined): Reply | 'later' => {
    if (!question) return invalid('code and cursor_pos');
    queue.ask(remember(), question);
    return 'later';
  };
  switch (header.msg_type) {
    case 'kernel_info_request':
      return { content: info };
    case 'execute_request': {
      const { code, silent, store_history: store, stop_on_error: stop, user_expressions: wanted } = content;
      if (typeof code !== 'string') return invalid('code');
      const expressions = stringsOf(wanted);
      const isSilent = silent === true;
      queue.execute({
        id: remember(),
        code,
        silent: isSilent,
        storeHistory: store !== false && !isSilent,
        stopOnError: stop !== false,
        allowInput: content['allow_stdin'] !== false,
        expressions,
      });
      return 'later';
    }
    case 'complete_request':
      return ask(questionAt('complete', content));
    case 'inspect_request':
      return ask(questionAt('inspect', content));
    case 'is_complete_request':
      return ask(typeof content['code'] === 'string' ? { kind: 'isComplete', code: content['code'] } : undefined);
    case 'history_request':
      return { content: { status: 'ok', history: historyOf(queue, content) } };
    case 'comm_info_request':
      return { content: { status: 'ok', comms: {} } };
    case 'comm_open':
      // There is no target to open here; the specification's answer to that is to close.
      publish('comm_close', { comm_id: content['comm_id'], data: {} });
      return 'nothing';
    case 'interrupt_request':
      if (await queue.interrupt()) return { content: { status: 'ok' } };
      return failure('InterruptFailed', 'The cell did not stop: it is in native code. Restart the kernel.');
    case 'shutdown_request':
      return { content: { status: 'ok', restart: content['restart'] === true } };
    default:
      if (!header.msg_type.endsWith('_request')) return 'nothing';
      return failure('UnknownRequest', `This kernel does not know "${header.msg_type}".`);
  }
}

const failure = (ename: string, evalue: string): Reply => ({
  content: { status: 'error', ename, evalue, traceback: [evalue] },
});
const invalid = (what: string): Reply => failure('InvalidRequest', `The request has no valid ${what}.`);

function questionAt(kind: 'complete' | 'inspect', content: Record<string, unknown>): Question | undefined {
  const { code, cursor_pos: cursor } = content;
  if (typeof code !== 'string' || typeof cursor !== 'number') return undefined;
  return { kind, code, cursor: Array.from(code).slice(0, cursor).join('').length };
}

function stringsOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function historyOf({ history }: CellQueue, content: Record<string, unknown>): unknown[] {
  const whole = (name: string): number | undefined => {
    const value = content[name];
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
  };
  const select = (): HistoryEntry[] => {
    switch (content['hist_access_type']) {
      case 'tail':
        return history.tail(whole('n') ?? 10);
      case 'range':
        return history.range(whole('session') ?? 0, whole('start') ?? 0, whole('stop') ?? null);
      case 'search': {
        const n = whole('n');
        const pattern = typeof content['pattern'] === 'string' ? content['pattern'] : '*';
        return history.search(pattern, { ...(n !== undefined && { n }), unique: content['unique'] === true });
      }
      default:
        return [];
    }
  };
  // With `output` an entry's code becomes a pair; outputs are not kept.
  if (content['output'] === true) return select().map(([session, line, code]) => [session, line, [code, null]]);
  return select();
}
