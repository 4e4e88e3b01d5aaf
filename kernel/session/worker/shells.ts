import { randomUUID } from 'node:crypto';

/** A running cell and its execution count. */
type Running = { readonly cell: CellRequest; readonly count: number };

/** Cells that run one at a time, in order of arrival. */
export type Shell = { readonly waiting: CellRequest[]; running: Running | undefined };

/**
 * The main shell of a kernel and its subshells (Jupyter Enhancement Proposal 91): while a cell of one shell awaits,
 * cells of the other shells run, in the same thread and with the same variables.
 */
export class Shells {
  readonly #main: Shell = emptyShell();
  readonly #subshells = new Map<string, Shell>();
  /** Subshells closed while a cell ran in them. */
  readonly #closed = new Set<Shell>();

  /** The ids of the open subshells. */
  get ids(): string[] {
    return [...this.#subshells.keys()];
  }

  open(): string {
    const id = randomUUID();
    this.#subshells.set(id, emptyShell());
    return id;
  }

  /** Closes a subshell; a running cell of the subshell finishes. Returns `undefined` if the subshell does not exist. */
  close(id: string): Shell | undefined {
    const shell = this.#subshells.get(id);
    this.#subshells.delete(id);
    if (shell?.running) this.#closed.add(shell);
    return shell;
  }

  /** Returns the main shell if no id is given. */
  get(id?: string): Shell | undefined {
    return id === undefined ? this.#main : this.#subshells.get(id);
  }

  all(): Shell[] {
    return [this.#main, ...this.#subshells.values(), ...this.#closed];
  }

  /** The running cells, with the cell of the main shell first. */
  running(): Running[] {
    return this.all().flatMap(({ running }) => running ?? []);
  }

  find(id: string): { shell: Shell; running: Running } | undefined {
    for (const shell of this.all()) if (shell.running?.cell.id === id) return { shell, running: shell.running };
    return undefined;
  }

  /** Marks a cell as finished. Returns the cell with its shell, or `undefined` if the cell does not run. */
  end(id: string): { shell: Shell; running: Running } | undefined {
    const found = this.find(id);
    if (!found) return undefined;
    found.shell.running = undefined;
    this.#closed.delete(found.shell);
    return found;
  }
}

const emptyShell = (): Shell => ({ waiting: [], running: undefined });

export type CellRequest = {
  id: string;
  code: string;
  silent: boolean;
  storeHistory: boolean;
  stopOnError: boolean;
  /** Whether the client can prompt the user for input. */
  allowInput: boolean;
  expressions: Record<string, string>;
  /** The client's id of the notebook cell. The id stays the same when the cell runs again. */
  cell?: string;
  /** The subshell to run in, one of `subshells`; default: the main shell. */
  subshell?: string;
};
