import type { CatalogConfig } from './catalogConfig.ts';
import { isRecord } from './records.ts';

// The messages between an editor and a kernel over the framed pipe. They follow Jupyter messaging 5.4 in names and
// contents, without its envelope: there is one client, and the pipe itself is private to the two processes.

/** One output value in several forms, by MIME type. Binary forms are base64 text. */
export type MimeBundle = Record<string, unknown>;

export type KernelRequest =
  /** First message on the pipe. The kernel answers nothing before it. */
  | { type: 'start'; id: string; content: { catalog: CatalogConfig | null } }
  | { type: 'execute_request'; id: string; content: { code: string; silent?: boolean; storeHistory?: boolean } }
  | { type: 'complete_request'; id: string; content: { code: string; cursorPos: number } }
  | { type: 'inspect_request'; id: string; content: { code: string; cursorPos: number } }
  | { type: 'is_complete_request'; id: string; content: { code: string } }
  | { type: 'interrupt_request'; id: string; content: Record<string, never> }
  | { type: 'shutdown_request'; id: string; content: Record<string, never> };

/** What the kernel found of itself when it started; sent as the reply to `start`. */
export type KernelHandshake = {
  protocol: 1;
  pid: number;
  node: string;
  typescript: string;
  /** False where Node refused `--no-force-async-hooks-checks` or the inspector: then only a restart stops a cell. */
  canInterrupt: boolean;
  /** Why the native engine can't be loaded here, or `null` when it can. `dir` needs it, `rest` does not. */
  engineProblem: string | null;
};

export type ExecuteReply =
  | { status: 'ok'; executionCount: number }
  | { status: 'error'; executionCount: number; ename: string; evalue: string; traceback: string[] }
  | { status: 'aborted' };

export type CompletionItem = { text: string; kind: string };

/** Answers; `parent` is the id of the request. Exactly one per request. */
export type KernelReply =
  | { type: 'start_reply'; parent: string; content: KernelHandshake }
  | { type: 'execute_reply'; parent: string; content: ExecuteReply }
  | {
      type: 'complete_reply';
      parent: string;
      content: { matches: CompletionItem[]; cursorStart: number; cursorEnd: number };
    }
  | { type: 'inspect_reply'; parent: string; content: { found: boolean; data: MimeBundle } }
  | {
      type: 'is_complete_reply';
      parent: string;
      content: { status: 'complete' | 'incomplete' | 'invalid'; indent?: string };
    }
  | { type: 'interrupt_reply'; parent: string; content: { status: 'ok' | 'failed'; milliseconds: number } }
  | { type: 'shutdown_reply'; parent: string; content: { status: 'ok' } }
  | { type: 'error_reply'; parent: string; content: { message: string } };

/** What a cell gives while it runs, and later: a timer's output has the cell that set it as `parent`. */
export type KernelOutput =
  | { type: 'status'; parent: string; content: { executionState: 'busy' | 'idle' } }
  | { type: 'execute_input'; parent: string; content: { code: string; executionCount: number } }
  | { type: 'stream'; parent: string; content: { name: 'stdout' | 'stderr'; text: string } }
  | {
      type: 'display_data';
      parent: string;
      content: { data: MimeBundle; metadata: Record<string, unknown>; displayId?: string };
    }
  | {
      type: 'update_display_data';
      parent: string;
      content: { data: MimeBundle; metadata: Record<string, unknown>; displayId: string };
    }
  | {
      type: 'execute_result';
      parent: string;
      content: { data: MimeBundle; metadata: Record<string, unknown>; executionCount: number };
    }
  | { type: 'error'; parent: string; content: { ename: string; evalue: string; traceback: string[] } }
  | { type: 'clear_output'; parent: string; content: { wait: boolean } };

export type KernelMessage = KernelReply | KernelOutput;

const isText = (value: unknown): boolean => typeof value === 'string';
const hasBundle = ({ data, metadata }: Record<string, unknown>): boolean => isRecord(data) && isRecord(metadata);

/** What must be true of the content of an output, so that nobody who shows it fails over it. */
const outputChecks: Record<KernelOutput['type'], (content: Record<string, unknown>) => boolean> = {
  status: ({ executionState }) => executionState === 'busy' || executionState === 'idle',
  execute_input: ({ code, executionCount }) => isText(code) && Number.isSafeInteger(executionCount),
  stream: ({ name, text }) => (name === 'stdout' || name === 'stderr') && isText(text),
  display_data: (content) => hasBundle(content) && ['undefined', 'string'].includes(typeof content['displayId']),
  update_display_data: (content) => hasBundle(content) && isText(content['displayId']),
  execute_result: (content) => hasBundle(content) && Number.isSafeInteger(content['executionCount']),
  error: ({ ename, evalue, traceback }) =>
    isText(ename) && isText(evalue) && Array.isArray(traceback) && traceback.every(isText),
  clear_output: ({ wait }) => typeof wait === 'boolean',
};

const isOutputType = (type: string): type is KernelOutput['type'] => Object.hasOwn(outputChecks, type);

export const isKernelOutput = (message: KernelMessage): message is KernelOutput => isOutputType(message.type);

/** Whether something that came out of the pipe has the shape of a message. Contents of replies are not looked into. */
export function isKernelMessage(value: unknown): value is KernelMessage {
  if (!isRecord(value)) return false;
  const { type, parent, content } = value;
  if (typeof type !== 'string' || typeof parent !== 'string' || !isRecord(content)) return false;
  return !isOutputType(type) || outputChecks[type](content);
}
