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
  TypeCheck,
  VariableList,
} from '#shared/protocol/kernelMessages.ts';
import type { RingPlace } from './textRing.ts';

// What passes between the two threads of a kernel process. The worker owns the protocol: queue, counts, history, who asked
// what. The main thread runs cells and may be stopped at any instruction, so it owns nothing that must survive that.

type WithoutParent<M> = M extends { parent: string } ? Omit<M, 'parent'> : never;

/** One output of a cell, before a front says whose it is. */
export type CellOutput = WithoutParent<KernelOutput>;
/** One answer, before a front says whose it is. */
export type Answer = WithoutParent<KernelReply>;

/** Something that a person wants to know about code, answered between cells. */
export type Question =
  | { kind: 'complete'; code: string; cursor: number }
  /** `detail` 1 wants all that is known, 0 what fits beside the code. */
  | { kind: 'inspect'; code: string; cursor: number; detail: 0 | 1 }
  | { kind: 'isComplete'; code: string }
  | { kind: 'variables' };

export type QuestionAnswer =
  | { kind: 'complete'; matches: CompletionItem[]; start: number; end: number }
  | { kind: 'inspect'; data: MimeBundle | null }
  | { kind: 'isComplete'; status: 'complete' | 'incomplete' | 'invalid'; indent: string }
  | { kind: 'variables'; list: VariableList }
  | { kind: 'failed'; message: string };

export type CellError = { ename: string; evalue: string; traceback: string[] };

/** Value of one of Jupyter's `user_expressions`. */
export type ExpressionValue =
  { status: 'ok'; data: MimeBundle; metadata: Record<string, unknown> } | ({ status: 'error' } & CellError);

export type CellResult = {
  /** The last expression, when there is one to show. */
  value: { data: MimeBundle; metadata: Record<string, unknown> } | null;
  error: CellError | null;
  expressions: Record<string, ExpressionValue>;
};

export type ToCore =
  | { type: 'start'; catalog: CatalogConfig | null }
  /** What a type error does to the cells from here on, and what they are written in. */
  | { type: 'settings'; typeCheck?: TypeCheck; language?: NotebookLanguage }
  /** `cell` is the front's name for the cell of the notebook, where it has one: the same when that is run again. */
  | { type: 'execute'; id: string; code: string; count: number; expressions: Record<string, string>; cell?: string }
  | { type: 'ask'; id: string; question: Question }
  /** The person wants the cells of these ids to end. Sent until they did. */
  | { type: 'interrupt'; ids: readonly string[] }
  /** Answered by `pong` as soon as no code runs. */
  | { type: 'ping'; count: number }
  /** What a person answered to `input`. */
  | { type: 'inputReply'; id: string; answer: InputAnswer }
  /** The front says something over a comm. */
  | { type: 'comm'; id: string; message: CommMessage }
  | { type: 'exit'; code: number };

/** A message and its place in what is printed; without either, a sign that something was printed. */
export type PlacedFromCore = { message: FromCore; place: RingPlace } | null;

export type FromCore =
  /** Cells can run from here on; what was sent before is done then. */
  | { type: 'ready'; typescript: string }
  | { type: 'output'; parent: string | null; output: CellOutput }
  /** `names` are those of the notebook's variables, when they are not what they were after the cell before. */
  | { type: 'done'; id: string; result: CellResult; names?: string[] }
  | { type: 'pong'; count: number }
  | { type: 'answer'; id: string; answer: QuestionAnswer }
  /** A cell asks the person. With a `gate` the main thread sleeps there until it is answered, else `inputReply` is sent. */
  | { type: 'input'; id: string; parent: string | null; prompt: string; password: boolean; gate?: SharedArrayBuffer }
  /** The notebook says something over a comm. */
  | { type: 'comm'; parent: string | null; message: CommMessage }
  /** Handlers have run for the comm message `id`. */
  | { type: 'commDone'; id: string }
  /** Code called `process.exit`. The main thread waits at `gate` until the worker has told everyone. */
  | { type: 'exiting'; code: number; gate: SharedArrayBuffer };

type JupyterFront = {
  kind: 'jupyter';
  connectionFile: string;
  /** Where a process that listens in place of this one waits for it, see jupyter/relay/relay.ts. */
  relay?: string;
  catalog: CatalogConfig | null;
  /** Whether cells are remembered for later kernels. */
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
  /** What cells print, see textRing.ts. */
  ring: SharedArrayBuffer;
  /** What they show, see outputLimit.ts. */
  room: SharedArrayBuffer;
  /** See loadLock.ts. */
  loads: SharedArrayBuffer;
  /** The most bytes that the objects of the main thread may take. */
  heapLimit: number;
};

/** What a reply to an execution holds besides Jupyter's `user_expressions`. */
export type Executed = { reply: ExecuteReply; expressions: Record<string, ExpressionValue> };

/** What a person sees in place of something that can't be written as a message: too large, or not for JSON. */
export function unsendable(what: string, cause: unknown): CellError {
  const evalue = `The ${what} of this cell can't be sent: ${messageOf(cause)}`;
  return { ename: 'UnsendableOutput', evalue, traceback: [evalue] };
}

/** A front's open connections. */
export type Wire = {
  /** Sends what is still to be sent, then lets go. */
  close(): Promise<void>;
  /** Bytes accepted and not yet sent. */
  backlog(): number;
};
