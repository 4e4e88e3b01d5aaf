import type { NotebookDebugger } from '#session/debug/debugger.ts';
import type { History, HistoryEntry } from '#session/history/history.ts';
import type { Question } from '#session/threads/coreMessages.ts';
import type { CellQueue } from '#session/worker/cellQueue.ts';
import type { CellRequest } from '#session/worker/shells.ts';
import { isDebugRequest } from '#shared/protocol/debugMessages.ts';
import { commInfo, commOf, wantedTarget } from './jupyterComms.ts';
import type { Header, JupyterMessage } from './jupyterFrames.ts';
import { failure, type Reply } from './jupyterReplies.ts';

type Channel = 'shell' | 'control';
export type PendingRequest = { message: JupyterMessage; channel: Channel; started?: string; timer?: NodeJS.Timeout };

/** Number of answered requests whose client and header are kept, so that late output still has its cell as parent. */
const keptParents = 1000;

export class PendingRequests {
  readonly #asked = new Map<string, PendingRequest>();
  /**
   * Answered requests. They are kept apart from pending requests, because only answered requests may be dropped. A
   * pending request must be kept while its cell runs for hours, even if subshells run thousands of other cells
   * meanwhile.
   */
  readonly #answered = new Map<string, JupyterMessage>();
  #next = 0;
  #latest: Header | undefined;

  /** Stores a request until it is taken, and returns its id. */
  add(asked: PendingRequest): string {
    const id = String(++this.#next);
    this.#asked.set(id, asked);
    return id;
  }

  get(id: string): PendingRequest | undefined {
    return this.#asked.get(id);
  }

  /** Returns a pending request and marks it as answered; `undefined` if it was already answered. */
  take(id: string): PendingRequest | undefined {
    const asked = this.#asked.get(id);
    if (!asked) return undefined;
    this.#asked.delete(id);
    clearTimeout(asked.timer);
    // The answered request is stored without its content, because the content may be megabytes.
    this.#answered.set(id, { ...asked.message, content: {}, buffers: [] });
    const oldest = this.#answered.keys().next();
    if (this.#answered.size > keptParents && !oldest.done) this.#answered.delete(oldest.value);
    return asked;
  }

  /** Returns the message of a request, pending or answered. */
  sender(id: string): JupyterMessage | undefined {
    return this.#asked.get(id)?.message ?? this.#answered.get(id);
  }

  /** Returns the parent for messages that a request causes; for an unknown request, the parent of the latest cell. */
  parentOf(id: string): Header | undefined {
    return this.sender(id)?.header ?? this.#latest;
  }

  begin(id: string): void {
    this.#latest = this.parentOf(id);
    const asked = this.#asked.get(id);
    if (asked) asked.started = new Date().toISOString();
  }
}

const wordsToLeave = /^\s*(?:exit|quit)\s*(?:\(\s*\))?\s*;?\s*$/;

/**
 * Returns the reply that closes a Jupyter console for `exit` and `quit`. The console lists `exit` and `quit` in its
 * help, but leaves them to the kernel. A request with a `cellId` is from a notebook; in a notebook these words are
 * ordinary names.
 * @param executionCount number of cells that have run
 */
export function consoleExit({ content, metadata }: JupyterMessage, executionCount: number): Reply | undefined {
  const { code, silent, allow_stdin: asks } = content;
  const isConsole = asks === true && silent !== true && metadata['cellId'] === undefined;
  if (!isConsole || typeof code !== 'string' || !wordsToLeave.test(code)) return undefined;
  const payload = [{ source: 'ask_exit', keepkernel: false }];
  return { content: { status: 'ok', execution_count: executionCount, user_expressions: {}, payload } };
}

/**
 * Returns the entries that a `history_request` selects; with `output`, the code of an entry becomes a pair of code and
 * result.
 */
function historyOf(history: History, content: Record<string, unknown>): unknown[] {
  const entries = select(history, content);
  if (content['output'] !== true) return entries;
  return entries.map((entry) => [entry[0], entry[1], [entry[2], history.resultOf(entry)]]);
}

function select(history: History, content: Record<string, unknown>): HistoryEntry[] {
  const whole = (name: string): number | undefined => {
    const value = content[name];
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
  };
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
}

type Requests = {
  queue: CellQueue;
  debug: NotebookDebugger;
  info: Record<string, unknown>;
  /** Stores the request until the queue answers it, and returns its id. */
  remember: () => string;
};

/**
 * Returns the reply to a request: `later` if events of the queue answer the request, or `nothing` if the protocol has
 * no reply.
 */
export async function answerRequest(
  message: JupyterMessage,
  { queue, debug, info, remember }: Requests,
): Promise<Reply | 'later' | 'nothing'> {
  const { header, content } = message;
  const { subshell_id: subshell } = header;
  if (typeof subshell === 'string' && !queue.subshells.includes(subshell) && header.msg_type.endsWith('_request'))
    return failure('UnknownSubshell', `This kernel has no subshell ${subshell}; it may have been closed.`);
  const ask = (question: Question | undefined): Reply | 'later' => {
    if (!question) return invalid('code and cursor_pos');
    queue.ask(remember(), question);
    return 'later';
  };
  switch (header.msg_type) {
    case 'kernel_info_request':
      return { content: info };
    case 'execute_request': {
      const leaving = consoleExit(message, queue.executionCount);
      if (leaving) return leaving;
      const cell = cellOf(message);
      if (!cell) return invalid('code');
      queue.execute({ id: remember(), ...cell, ...(typeof subshell === 'string' && { subshell }) });
      return 'later';
    }
    case 'complete_request':
      return ask(questionAt('complete', content));
    case 'inspect_request':
      return ask(questionAt('inspect', content));
    case 'is_complete_request':
      return ask(typeof content['code'] === 'string' ? { kind: 'isComplete', code: content['code'] } : undefined);
    case 'history_request':
      return { content: { status: 'ok', history: historyOf(queue.history, content) } };
    case 'comm_info_request':
      return { content: commInfo(queue.comms.list(wantedTarget(content))) };
    case 'comm_open':
    case 'comm_msg':
    case 'comm_close': {
      const comm = commOf(message);
      if (!comm) return 'nothing';
      queue.comms.send(remember(), comm);
      return 'later';
    }
    case 'interrupt_request':
      if (await queue.interrupt()) return { content: { status: 'ok' } };
      queue.remark(`${notStopped}\n`);
      return failure('InterruptFailed', notStopped);
    case 'debug_request':
      if (!debug.isAvailable)
        return failure('UnknownRequest', 'This Node has no inspector, so nothing can be debugged.');
      if (!isDebugRequest(content)) return invalid('message of the Debug Adapter Protocol');
      return { content: await debug.request(content) };
    case 'create_subshell_request':
      return { content: { status: 'ok', subshell_id: queue.openSubshell() } };
    case 'delete_subshell_request': {
      const { subshell_id: id } = content;
      if (typeof id !== 'string') return invalid('subshell_id');
      if (!queue.closeSubshell(id)) return failure('UnknownSubshell', `This kernel has no subshell ${id}.`);
      return { content: { status: 'ok' } };
    }
    case 'list_subshell_request':
      return { content: { status: 'ok', subshell_id: queue.subshells } };
    case 'shutdown_request':
      return { content: { status: 'ok', restart: content['restart'] === true } };
    default:
      if (!header.msg_type.endsWith('_request')) return 'nothing';
      return failure('UnknownRequest', `This kernel does not know "${header.msg_type}".`);
  }
}

const notStopped =
  'The cell did not stop within 3 s: it is in native code, or waits for another process. It may still end by itself; ' +
  'restart the kernel to end it now. Its variables are lost then.';

const invalid = (what: string): Reply => failure('InvalidRequest', `The request has no valid ${what}.`);

function cellOf({ content, metadata }: JupyterMessage): Omit<CellRequest, 'id'> | undefined {
  const { code, silent, store_history: store, stop_on_error: stop, allow_stdin: asks } = content;
  if (typeof code !== 'string') return undefined;
  const isSilent = silent === true;
  // The id of the notebook cell, if the client sends it.
  const { cellId } = metadata;
  return {
    code,
    silent: isSilent,
    storeHistory: store !== false && !isSilent,
    stopOnError: stop !== false,
    allowInput: asks !== false,
    expressions: stringsOf(content['user_expressions']),
    ...(typeof cellId === 'string' && { cell: cellId }),
  };
}

function questionAt(kind: 'complete' | 'inspect', content: Record<string, unknown>): Question | undefined {
  const { code, cursor_pos: position, detail_level: level } = content;
  if (typeof code !== 'string' || typeof position !== 'number') return undefined;
  const cursor = Array.from(code).slice(0, position).join('').length;
  return kind === 'complete' ? { kind, code, cursor } : { kind, code, cursor, detail: level === 1 ? 1 : 0 };
}

function stringsOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
