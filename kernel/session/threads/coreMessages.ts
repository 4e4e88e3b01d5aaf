import type { CommMessage } from '#session/comms/commTypes.ts';
import type { InputAnswer } from '#session/input/gate.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { messageOf } from '#shared/errors.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import type {
  CompletionItem,
  ExecuteReply,
  KernelOutput,
  KernelReply,
  MimeBundle,
  NamedConnection,
  ShownOutput,
  TypeCheck,
  VariableList,
} from '#shared/protocol/kernelMessages.ts';
import type {
  KernelView,
  OutputRowsRequest,
  OutputTable,
  OutputTableRequest,
  ViewAnswer,
} from '#shared/protocol/outputTables.ts';
import type { PicturePlace } from '#shared/protocol/pictureMessages.ts';
import type { RingPosition } from './textRing.ts';

// Messages between the two threads of a kernel process. The worker thread owns the protocol: the queue, the execution
// counts, the history, the origin of requests. The main thread runs cells. It may be terminated at any instruction, so
// it holds no state that must survive a termination.

type WithoutParent<M> = M extends { parent: string } ? Omit<M, 'parent'> : never;

/** An output, before the client protocol adds its parent request. */
export type CellOutput = WithoutParent<KernelOutput>;
/** A reply, before the client protocol adds its parent request. */
export type Answer = WithoutParent<KernelReply>;

/** A request about code or variables, which is answered between cells. */
export type Question =
  | { kind: 'complete'; code: string; cursor: number }
  /** `detail` 1 requests everything known; 0 requests a short form to show next to the code. */
  | { kind: 'inspect'; code: string; cursor: number; detail: 0 | 1 }
  | { kind: 'isComplete'; code: string }
  | { kind: 'variables' }
  | { kind: 'picture'; place: PicturePlace }
  | { kind: 'table'; request: OutputTableRequest }
  | { kind: 'rows'; request: OutputRowsRequest };

/** A question about code that the user is typing. */
export type CodeQuestion = Exclude<Question, { kind: 'variables' | 'picture' | 'table' | 'rows' }>;

export type QuestionAnswer =
  | { kind: 'complete'; matches: CompletionItem[]; start: number; end: number }
  | { kind: 'inspect'; data: MimeBundle | null }
  | { kind: 'isComplete'; status: 'complete' | 'incomplete' | 'invalid'; indent: string }
  | { kind: 'variables'; list: VariableList }
  | { kind: 'picture'; image: string | null }
  | { kind: 'table'; table: OutputTable | null }
  | { kind: 'rows'; rows: string | null }
  | { kind: 'failed'; message: string };

export type CellError = { ename: string; evalue: string; traceback: string[] };

export type ExpressionValue =
  { status: 'ok'; data: MimeBundle; metadata: Record<string, unknown> } | ({ status: 'error' } & CellError);

export type CellResult = {
  /** The value of the last expression, if there is one to show. */
  value: ShownOutput | null;
  error: CellError | null;
  expressions: Record<string, ExpressionValue>;
};

export type ToCore =
  /** `hasPanels`: the client can show tables of outputs in a panel. */
  | { type: 'start'; catalog: CatalogConfig | null; hasPanels: boolean }
  /** Mode of the type check and language of the cells that run from now on. */
  | { type: 'settings'; typeCheck?: TypeCheck; language?: NotebookLanguage }
  /** `cell` is the client's id of the notebook cell, if it has one. The id stays the same when the cell runs again. */
  | { type: 'execute'; id: string; code: string; count: number; expressions: Record<string, string>; cell?: string }
  | { type: 'ask'; id: string; question: Question }
  /** The user interrupts the cells with these ids. The message is repeated until the cells have ended. */
  | { type: 'interrupt'; ids: readonly string[] }
  /** The main thread answers with `pong` as soon as no code runs. */
  | { type: 'ping'; count: number }
  | { type: 'inputReply'; id: string; answer: InputAnswer }
  | { type: 'connectionReply'; id: string; answer: NamedConnection }
  | { type: 'viewReply'; id: string; answer: ViewAnswer }
  | { type: 'comm'; id: string; message: CommMessage }
  | { type: 'exit'; code: number };

/** A message and its position in the printed text; null only signals that text was printed. */
export type OrderedFromCore = { message: FromCore; place: RingPosition } | null;

export type FromCore =
  /** Cells can run from now on. Messages that were sent earlier are handled after this. */
  | { type: 'ready'; typescript: string }
  | { type: 'output'; parent: string | null; output: CellOutput }
  /** `names` are the notebook's variables, if they have changed since the previous cell. */
  | { type: 'done'; id: string; result: CellResult; names?: string[] }
  | { type: 'pong'; count: number }
  | { type: 'answer'; id: string; answer: QuestionAnswer }
  /**
   * A cell prompts the user. With a `gate` the main thread blocks on that memory until the reply arrives. Without a
   * `gate`, the main thread receives `inputReply`.
   */
  | { type: 'input'; id: string; parent: string | null; prompt: string; password: boolean; gate?: SharedArrayBuffer }
  /** A query needs the connection with this name, or the names of all. The main thread receives `connectionReply`. */
  | { type: 'connection'; id: string; name: string | null }
  /** A cell opens a table in the panel. The main thread receives `viewReply`. */
  | { type: 'view'; id: string; view: KernelView }
  | { type: 'comm'; parent: string | null; message: CommMessage }
  /** The handlers of the comm message `id` have run. */
  | { type: 'commDone'; id: string }
  /** Code called `process.exit`. The main thread waits at `gate` until the worker has informed all clients. */
  | { type: 'exiting'; code: number; gate: SharedArrayBuffer };

type JupyterFront = {
  kind: 'jupyter';
  connectionFile: string;
  /** Path where a relay waits for this kernel. The relay already listens for clients, see jupyter/relay/relay.ts. */
  relay?: string;
  catalog: CatalogConfig | null;
  /** Whether cells are kept in the history for later kernels. */
  keepsHistory: boolean;
  typeCheck?: TypeCheck;
  language?: NotebookLanguage;
};

export type Front = { kind: 'pipe' } | JupyterFront;

export type WorkerStart = {
  front: Front;
  canTerminate: boolean;
  typescript: string;
  version: string;
  engineProblem: string | null;
  /** Text that cells print, see textRing.ts. */
  ring: SharedArrayBuffer;
  /** Limit for outputs that cells show, see outputLimit.ts. */
  room: SharedArrayBuffer;
  /** Memory of the lock against termination while a part loads, see loadLock.ts. */
  loads: SharedArrayBuffer;
  /** Maximum heap size of the main thread in bytes. */
  heapLimit: number;
};

/** A reply to an execution, and the values of Jupyter's `user_expressions`. */
export type Executed = { reply: ExecuteReply; expressions: Record<string, ExpressionValue> };

/** Returns the error shown instead of an output that can't be sent: too large, or not JSON. */
export function unsendableOutputError(what: string, cause: unknown): CellError {
  const evalue = `Can't send the ${what} of this cell: ${messageOf(cause)}`;
  return { ename: 'UnsendableOutput', evalue, traceback: [evalue] };
}

/** The open connections to clients. */
export type Wire = {
  /** Sends pending messages, then closes the connections. */
  close(): Promise<void>;
  /** Bytes accepted and not yet sent. */
  backlog(): number;
};
