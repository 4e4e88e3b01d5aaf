/**
 * Why Arrow IPC bytes can't be read: they end too early (`cut`), are something else (`malformed`), contradict
 * themselves (`invalid`), use a part of the format that is not supported (`unsupported`), or have more rows than
 * requested (`surplus`).
 */
type IpcProblem = 'cut' | 'malformed' | 'invalid' | 'unsupported' | 'surplus';

/** Arrow IPC bytes that can't be read. The message is a full sentence. */
export class IpcError extends Error {
  readonly problem: IpcProblem;
  /** The next step, for `unsupported` data. */
  readonly hint: string | undefined;

  constructor(problem: IpcProblem, message: string, { cause, hint }: { cause?: unknown; hint?: string } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'IpcError';
    this.problem = problem;
    this.hint = hint;
  }
}

/** Returns the error for a part of the Arrow format that is not supported. */
export const unsupported = (what: string, hint: string): IpcError => new IpcError('unsupported', what, { hint });
