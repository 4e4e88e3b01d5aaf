import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import { isRecord } from '#shared/records.ts';
import { type DebugEvent, type DebugRequest, type DebugResponse, isDebugEvent } from './debugMessages.ts';

// The messages between an editor and a kernel over the framed pipe. They follow Jupyter messaging 5.4 in names and
// contents, without its envelope: there is one client, and the pipe itself is private to the two processes.

// How a window that was reloaded finds the kernel of a notebook again.

/** The file in a kept kernel's folder that says how to reach it. */
export const keptFile = 'kernel.json';
/** The file in a kept kernel's folder that native code and Node itself write their last words to. */
export const keptErrors = 'stderr.txt';

/** The file in a kept kernel's folder that is written anew by a window that will want it, but has not come for it yet. */
export const holdFile = 'hold';

export type KeptKernel = {
  /** A socket's path, or a named pipe's on Windows. */
  address: string;
  /** To be said in the first message. */
  secret: string;
  pid: number;
};

export function isKeptKernel(value: unknown): value is KeptKernel {
  if (!isRecord(value)) return false;
  const { address, secret, pid } = value;
  return typeof address === 'string' && typeof secret === 'string' && Number.isSafeInteger(pid);
}

/** One output value in several forms, by MIME type. Binary forms are base64 text. */
export type MimeBundle = Record<string, unknown>;

/** What type errors do: `error` keeps the cell from running, `warn` prints them, `off` does not look for them. */
export const typeCheckModes = ['error', 'warn', 'off'] as const;
export type TypeCheck = (typeof typeCheckModes)[number];

/** How a kernel takes cells: as TypeScript, which a type error keeps from running, unless the settings say otherwise. */
export type CellSettings = { typeCheck?: TypeCheck; language?: NotebookLanguage };

/** How a kernel outlives its client, so that a window that reloads finds it again. */
export type KeepKernel = {
  /** A folder of the person alone. The kernel says there how to reach it, and removes the folder when it ends. */
  folder: string;
  /** Seconds without a client after which the kernel ends. */
  seconds: number;
  /** The editor's process id: without a client, the kernel does not outlive that process. */
  editor: number;
};

/** Which cell of a notebook an execution is of, told back to a client that comes later. */
export type CellPlace = { index: number; id?: string };

export const isCellPlace = (value: unknown): value is CellPlace =>
  isRecord(value) && Number.isSafeInteger(value['index']) && ['undefined', 'string'].includes(typeof value['id']);

export type KernelRequest =
  /** First message on the pipe. The kernel answers nothing before it. */
  | { type: 'start'; id: string; content: { catalog: CatalogConfig | null; keep?: KeepKernel } & CellSettings }
  /** First message of a client that comes later, over the socket of `keep`. */
  | { type: 'attach'; id: string; content: { secret: string } }
  | {
      type: 'execute_request';
      id: string;
      /** `allowStdin`: the client answers an `input_request`. Without it, a cell that asks is told that nobody is there. */
      content: { code: string; silent?: boolean; storeHistory?: boolean; allowStdin?: boolean; cell?: CellPlace };
    }
  | { type: 'variables_request'; id: string; content: Record<string, never> }
  /** What the person typed for the `input_request` with this id; null when they left it. It has no answer of its own. */
  | { type: 'input_reply'; id: string; content: { value: string | null } }
  | { type: 'complete_request'; id: string; content: { code: string; cursorPos: number } }
  | { type: 'inspect_request'; id: string; content: { code: string; cursorPos: number } }
  | { type: 'is_complete_request'; id: string; content: { code: string } }
  | { type: 'interrupt_request'; id: string; content: Record<string, never> }
  /** A request of the Debug Adapter Protocol, which may fail by its own reply. */
  | { type: 'debug_request'; id: string; content: DebugRequest }
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
  /** The file where the kernel notes what it is doing, for the case that it ends without a word. */
  crashNote: string;
};

/** One run of a cell, as the kernel tells it to a client that comes later. */
export type KernelRun = {
  /** The id of its `execute_request`, which its outputs have as `parent`. */
  id: string;
  cell: CellPlace;
  code: string;
  /** Milliseconds since 1970, as `Date.now()` gives them. */
  startedAt: number;
  executionCount: number | null;
  ended: { at: number; success: boolean } | null;
  /** Whether an earlier client had its end: then `messages` are only those that came after it left, else all of them. */
  isSeen: boolean;
  /** Its outputs, and its reply when it has ended, in order. Long text lacks its middle, which a note says. */
  messages: KernelMessage[];
};

/** What a client that comes later must know, besides the handshake. */
type KernelState = KernelHandshake & { executionCount: number; runs: KernelRun[] };

/** A variable of the notebook. Texts are short, and made without calling the person's code. */
export type VariableInfo = {
  name: string;
  /** Its class or kind: `number`, `Table`, `Map`. */
  type: string;
  /** How much it holds, in its own unit: `3 rows`, `5 entries`; empty where that has no meaning. */
  size: string;
  preview: string;
  /** Whether the panel for tables can show it. */
  isTable: boolean;
};

/** `omitted` variables are beyond the limit. */
export type VariableList = { variables: VariableInfo[]; omitted: number };

export type ExecuteReply =
  | { status: 'ok'; executionCount: number }
  | { status: 'error'; executionCount: number; ename: string; evalue: string; traceback: string[] }
  | { status: 'aborted' };

export type CompletionItem = {
  text: string;
  /** TypeScript's word for it, `method` for instance, or `table`, `namespace` and `column` of a catalog. */
  kind: string;
  /** How a function is called. */
  signature?: string;
};

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
  | { type: 'attach_reply'; parent: string; content: KernelState }
  | { type: 'variables_reply'; parent: string; content: VariableList }
  | { type: 'debug_reply'; parent: string; content: DebugResponse }
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

/** The running cell waits for the person; the answer is an `input_reply` with this `id`. */
export type KernelInputRequest = {
  type: 'input_request';
  parent: string;
  content: { id: string; prompt: string; password: boolean };
};

/** Something happened in the debugger. It is of no request, so that `parent` is empty. */
type KernelDebugEvent = { type: 'debug_event'; parent: string; content: DebugEvent };

export type KernelMessage = KernelReply | KernelOutput | KernelInputRequest | KernelDebugEvent;

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

const isInputContent = ({ id, prompt, password }: Record<string, unknown>): boolean =>
  isText(id) && isText(prompt) && typeof password === 'boolean';

const isOutputType = (type: string): type is KernelOutput['type'] => Object.hasOwn(outputChecks, type);

export const isKernelOutput = (message: KernelMessage): message is KernelOutput => isOutputType(message.type);

/** Whether something that came out of the pipe has the shape of a message. Contents of replies are not looked into. */
export function isKernelMessage(value: unknown): value is KernelMessage {
  if (!isRecord(value)) return false;
  const { type, parent, content } = value;
  if (typeof type !== 'string' || typeof parent !== 'string' || !isRecord(content)) return false;
  if (type === 'input_request') return isInputContent(content);
  if (type === 'debug_event') return isDebugEvent(content);
  return !isOutputType(type) || outputChecks[type](content);
}
