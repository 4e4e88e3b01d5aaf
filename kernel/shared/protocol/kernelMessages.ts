import { type CatalogConfig, isCatalogConfig } from '#shared/catalogConfig.ts';
import type { NotebookLanguage, typeCheckModes } from '#shared/notebookLanguage.ts';
import { isRecord } from '#shared/records.ts';
import {
  type Check,
  isBoolean,
  isInteger,
  isString,
  listOf,
  nullable,
  oneOf,
  optional,
  shape,
  shapeFor,
} from '#shared/shape.ts';
import { type DebugEvent, type DebugRequest, type DebugResponse, isDebugEvent } from './debugMessages.ts';
import {
  isKernelView,
  type KernelView,
  type OutputRowsRequest,
  type OutputTable,
  type OutputTableRequest,
  type ViewAnswer,
} from './outputTables.ts';
import type { PicturePlace } from './pictureMessages.ts';

// The messages between an editor and a kernel over the framed pipe. Names and contents follow Jupyter messaging 5.4,
// but without the envelope. The envelope is not needed, because there is one client, and only the two processes use the
// pipe.

// How a reloaded window finds the kernel of a notebook again. A kernel that outlives its client is a kept kernel; see
// `KeepKernel`.

/** The file in a kept kernel's folder that contains the kernel's address. */
export const keptFile = 'kernel.json';
/** The file in a kept kernel's folder for the last output of native code and of Node itself. */
export const keptErrors = 'stderr.txt';

/** A file in a kept kernel's folder. A window that will connect soon updates this file, so that the kernel waits. */
export const keepAliveFile = 'hold';

export type KeptKernel = {
  /** Path of a socket, or of a named pipe on Windows. */
  address: string;
  /** Required in the first message. */
  secret: string;
  pid: number;
};

export const isKeptKernel: Check<KeptKernel> = shapeFor<KeptKernel>({
  address: isString,
  secret: isString,
  pid: isInteger,
});

/** One output value in several forms, by MIME type. Binary forms are in base64. */
export type MimeBundle = Record<string, unknown>;

export type TypeCheck = (typeof typeCheckModes)[number];

/** How a kernel compiles cells. Default: as TypeScript, and a type error keeps a cell from running. */
export type CellSettings = { typeCheck?: TypeCheck; language?: NotebookLanguage };

/** How a kernel outlives its client, so that a reloaded window finds it again. */
export type KeepKernel = {
  /** A folder private to the user. The kernel writes its address there, and removes the folder when it ends. */
  folder: string;
  /** Seconds without a client after which the kernel ends. */
  seconds: number;
  /** The editor's process id: while the kernel has no client, it ends when that process ends. */
  editor: number;
};

/** The notebook cell of an execution, for a client that attaches later. */
export type CellPlace = { index: number; id?: string };

export const isCellPlace: Check<CellPlace> = shapeFor<CellPlace>({ index: isInteger, id: optional(isString) });

/**
 * The connections of a client, for queries that name one. The configuration contains secrets, so it is sent only for
 * the connection that a query names.
 */
export type NamedConnection = {
  /** The names of all connections. */
  names: string[];
  /** The connection with the requested name; null if there is none. */
  config: CatalogConfig | null;
  /** Why the connection can't be opened, or null. */
  problem: string | null;
};

export const isNamedConnection: Check<NamedConnection> = shapeFor<NamedConnection>({
  names: listOf(isString),
  config: nullable(isCatalogConfig),
  problem: nullable(isString),
});

export type KernelRequest =
  /** First message on the pipe; the kernel does not reply to other messages before it. */
  | {
      type: 'start';
      id: string;
      /** `hasPanels`: the client can show the tables of outputs in a panel, so the kernel keeps them. */
      content: { catalog: CatalogConfig | null; keep?: KeepKernel; hasPanels?: boolean } & CellSettings;
    }
  /** First message of a client that attaches later, over the socket of `keep`. */
  | { type: 'attach'; id: string; content: { secret: string } }
  | {
      type: 'execute_request';
      id: string;
      /**
       * `allowStdin`: the client replies to an `input_request`. Without it, a cell that requests input gets an error.
       */
      content: { code: string; silent?: boolean; storeHistory?: boolean; allowStdin?: boolean; cell?: CellPlace };
    }
  | { type: 'variables_request'; id: string; content: Record<string, never> }
  /** The user opens an image of which an output has a thumbnail. */
  | { type: 'picture_request'; id: string; content: PicturePlace }
  /** The user opens the table of an output in a panel. */
  | { type: 'table_request'; id: string; content: OutputTableRequest }
  | { type: 'rows_request'; id: string; content: OutputRowsRequest }
  /**
   * The user's input for the `input_request` with this id; null if the user dismissed it. The kernel does not reply to
   * this message.
   */
  | { type: 'input_reply'; id: string; content: { value: string | null } }
  /** The answer to the `connection_request` with this id. The kernel does not reply to this message. */
  | { type: 'connection_reply'; id: string; content: NamedConnection }
  /** The answer to the `view_request` with this id. The kernel does not reply to this message. */
  | { type: 'view_reply'; id: string; content: ViewAnswer }
  | { type: 'complete_request'; id: string; content: { code: string; cursorPos: number } }
  | { type: 'inspect_request'; id: string; content: { code: string; cursorPos: number } }
  | { type: 'is_complete_request'; id: string; content: { code: string } }
  | { type: 'interrupt_request'; id: string; content: Record<string, never> }
  /** A request of the Debug Adapter Protocol. A failure is reported in the response of that protocol. */
  | { type: 'debug_request'; id: string; content: DebugRequest }
  | { type: 'shutdown_request'; id: string; content: Record<string, never> };

/** What the kernel determined at startup; the kernel sends it as the reply to `start`. */
export type KernelHandshake = {
  protocol: 1;
  pid: number;
  node: string;
  typescript: string;
  /**
   * False if Node rejected `--no-force-async-hooks-checks` or the inspector. Then only a restart of the kernel stops a
   * cell.
   */
  canInterrupt: boolean;
  /** Why the native engine can't be loaded, or `null` if it can. `dir` needs it, `rest` does not. */
  engineProblem: string | null;
  crashNote: string;
};

/** One run of a cell, for a client that attaches later. */
export type KernelRun = {
  /** The id of the `execute_request`. It is the `parent` of the outputs. */
  id: string;
  cell: CellPlace;
  code: string;
  /** Milliseconds since 1970, as from `Date.now()`. */
  startedAt: number;
  executionCount: number | null;
  ended: { at: number; success: boolean } | null;
  /**
   * Whether an earlier client received the end of the run. If so, `messages` has only the messages that were sent after
   * that client left. Otherwise it has all messages.
   */
  isSeen: boolean;
  /** The outputs of the run, and the reply if the run has ended, in order. In long text, a note replaces the middle. */
  messages: KernelMessage[];
};

/** The handshake and the state for a client that attaches later. */
type KernelState = KernelHandshake & { executionCount: number; runs: KernelRun[] };

/** A variable of the notebook. Strings are short, and created without calling the user's code. */
export type VariableInfo = {
  name: string;
  /** The class or kind of the variable: `number`, `Table`, `Map`. */
  type: string;
  /** The size of the variable with a unit, such as `3 rows` or `5 entries`; empty for a value without a size. */
  size: string;
  preview: string;
  /** Whether the table panel can show the variable. */
  isTable: boolean;
};

/** `omitted` is the number of variables beyond the limit. */
export type VariableList = { variables: VariableInfo[]; omitted: number };

export type ExecuteReply =
  | { status: 'ok'; executionCount: number }
  | { status: 'error'; executionCount: number; ename: string; evalue: string; traceback: string[] }
  | { status: 'aborted' };

export type CompletionItem = {
  text: string;
  /** TypeScript's kind, for example `method`, or `table`, `namespace` and `column` of a catalog. */
  kind: string;
  signature?: string;
};

/** Replies; `parent` is the id of the request. Each request except the replies of clients gets exactly one reply. */
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
  /** The image in base64; null if the kernel no longer has it. */
  | { type: 'picture_reply'; parent: string; content: { image: string | null } }
  /** Null if the kernel no longer has the table. */
  | { type: 'table_reply'; parent: string; content: { table: OutputTable | null } }
  /** An Arrow stream in base64; null if the kernel no longer has the rows. */
  | { type: 'rows_reply'; parent: string; content: { rows: string | null } }
  | { type: 'debug_reply'; parent: string; content: DebugResponse }
  | { type: 'shutdown_reply'; parent: string; content: { status: 'ok' } }
  | { type: 'error_reply'; parent: string; content: { message: string } };

/** A value in several forms. `table` identifies its table in a `table_request`; it is not part of a saved notebook. */
export type ShownOutput = { data: MimeBundle; metadata: Record<string, unknown>; table?: string };

/** Output of a cell, while the cell runs and later. For output of a timer, `parent` is the cell that set the timer. */
export type KernelOutput =
  | { type: 'status'; parent: string; content: { executionState: 'busy' | 'idle' } }
  | { type: 'execute_input'; parent: string; content: { code: string; executionCount: number } }
  | { type: 'stream'; parent: string; content: { name: 'stdout' | 'stderr'; text: string } }
  | {
      type: 'display_data';
      parent: string;
      content: ShownOutput & { displayId?: string };
    }
  | {
      type: 'update_display_data';
      parent: string;
      content: ShownOutput & { displayId: string };
    }
  | {
      type: 'execute_result';
      parent: string;
      content: ShownOutput & { executionCount: number };
    }
  | { type: 'error'; parent: string; content: { ename: string; evalue: string; traceback: string[] } }
  | { type: 'clear_output'; parent: string; content: { wait: boolean } };

/** The running cell waits for input; the reply is an `input_reply` with this `id`. */
export type KernelInputRequest = {
  type: 'input_request';
  parent: string;
  content: { id: string; prompt: string; password: boolean };
};

/**
 * A query names a connection, or an error needs the names of all (null). The answer is a `connection_reply` with this
 * `id`.
 */
export type KernelConnectionRequest = {
  type: 'connection_request';
  parent: string;
  content: { id: string; name: string | null };
};

/** A cell opens a table in the panel. The answer is a `view_reply` with this `id`. */
export type KernelViewRequest = { type: 'view_request'; parent: string; content: { id: string } & KernelView };

/** A debugger event. It belongs to no request, so `parent` is empty. */
type KernelDebugEvent = { type: 'debug_event'; parent: string; content: DebugEvent };

export type KernelMessage =
  KernelReply | KernelOutput | KernelInputRequest | KernelConnectionRequest | KernelViewRequest | KernelDebugEvent;

type OutputContent<T extends KernelOutput['type']> = Extract<KernelOutput, { type: T }>['content'];

const bundle = { data: isRecord, metadata: isRecord, table: optional(isString) };

/** Checks of an output's content, so that code that shows the output does not fail. */
const outputChecks: { readonly [T in KernelOutput['type']]: Check<OutputContent<T>> } = {
  status: shape({ executionState: oneOf('busy', 'idle') }),
  execute_input: shape({ code: isString, executionCount: isInteger }),
  stream: shape({ name: oneOf('stdout', 'stderr'), text: isString }),
  display_data: shapeFor<OutputContent<'display_data'>>({ ...bundle, displayId: optional(isString) }),
  update_display_data: shapeFor<OutputContent<'update_display_data'>>({ ...bundle, displayId: isString }),
  execute_result: shapeFor<OutputContent<'execute_result'>>({ ...bundle, executionCount: isInteger }),
  error: shape({ ename: isString, evalue: isString, traceback: listOf(isString) }),
  clear_output: shape({ wait: isBoolean }),
};

const isInputContent = shapeFor<KernelInputRequest['content']>({ id: isString, prompt: isString, password: isBoolean });

const isConnectionContent = shapeFor<KernelConnectionRequest['content']>({ id: isString, name: nullable(isString) });

const hasId = shape({ id: isString });

const isOutputType = (type: string): type is KernelOutput['type'] => Object.hasOwn(outputChecks, type);

export const isKernelOutput = (message: KernelMessage): message is KernelOutput => isOutputType(message.type);

/** Whether a value from the pipe has the shape of a message. Contents of replies are not checked. */
export function isKernelMessage(value: unknown): value is KernelMessage {
  if (!isRecord(value)) return false;
  const { type, parent, content } = value;
  if (typeof type !== 'string' || typeof parent !== 'string' || !isRecord(content)) return false;
  if (type === 'input_request') return isInputContent(content);
  if (type === 'connection_request') return isConnectionContent(content);
  if (type === 'view_request') return hasId(content) && isKernelView(content);
  if (type === 'debug_event') return isDebugEvent(content);
  return !isOutputType(type) || outputChecks[type](content);
}
